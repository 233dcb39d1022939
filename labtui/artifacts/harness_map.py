"""The one-page agent harness map: each stage with its tool boundary and its proof signal, from what was really done."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from exercises.records import Run
from lessons.model import Card, Lesson
from lessons.walk import first_sentence
from store.verdicts import Verdict

PRACTICE_LABEL = "practice"


@dataclass(frozen=True, slots=True)
class MapRow:
    """here: what the stage is in this lab. boundary: what its tool may and may not do. proof: the signal that it did.

    open: nothing proves the stage yet; proof then says what would. note: the person's words on the stage.
    All plain text.
    """

    card: str
    stage: str
    here: str
    boundary: str
    proof: str
    open: bool
    note: str | None


@dataclass(frozen=True, slots=True)
class _Evidence:
    lesson: Lesson
    runs: tuple[Run, ...]
    verdict: Verdict | None
    gates_met: int

    @property
    def counted(self) -> list[Run]:
        return [run for run in self.runs if run.valid and not run.warmup]

    @property
    def command(self) -> str | None:
        return next((command for run in self.runs if (command := command_line(run))), None)


def harness_map(
    lesson: Lesson, runs: tuple[Run, ...], verdict: Verdict | None, gates_met: int, words: Mapping[str, str]
) -> tuple[MapRow, ...]:
    """One row for each card of the lesson's diagram. A stage that this program does not know stays with its words.

    words: the person's own on a stage, by the id of its card.
    """
    evidence = _Evidence(lesson, runs, verdict, gates_met)
    return tuple(_row(card, evidence, words.get(card.id)) for card in lesson.cards)


def map_title(lesson: Lesson) -> str:
    """What the page is a map of: the agent's harness where the lesson's diagram has its stages."""
    is_harness = any(card.stage.casefold() in STAGES for card in lesson.cards)
    return "Agent harness map" if is_harness else "Lesson map"


def label(run: Run) -> str:
    """How a run's checkpoint is named wherever one of its numbers stands."""
    if not run.practice:
        return run.checkpoint
    return PRACTICE_LABEL if run.checkpoint == PRACTICE_LABEL else f"{PRACTICE_LABEL} ({run.checkpoint})"


def vllm_version(run: Run) -> str | None:
    server = run.evidence.get("server")
    version = server.get("vllm_version") if isinstance(server, Mapping) else None
    return None if version is None else str(version)


def command_line(run: Run) -> str | None:
    """The command that started the server, as a person would type it; None where it was not recorded."""
    command = run.evidence.get("command")
    if isinstance(command, str):
        return command or None
    if isinstance(command, Sequence) and command:
        return shlex.join(map(str, command))
    return None


def _row(card: Card, evidence: _Evidence, words: str | None) -> MapRow:
    describe = STAGES.get(card.stage.casefold()) if evidence.lesson.lab_tasks else None
    here, boundary, proof, is_open = _own_stage(card, words) if describe is None else describe(evidence)
    return MapRow(card.id, card.stage, here, boundary, proof, is_open, words)


_Described = tuple[str, str, str, bool]


def _intent(evidence: _Evidence) -> _Described:
    verdict = evidence.verdict
    return (
        evidence.lesson.frame.lab_question,
        "Answered for one's own work and hardware, from one's own runs. Figures of others are claims.",
        "Open: no verdict yet"
        if verdict is None
        else f"Verdict of {verdict.saved_at:%Y-%m-%d}, citing {_count(len(verdict.runs), 'run')}",
        verdict is None,
    )


def _model(evidence: _Evidence) -> _Described:
    counted = evidence.counted
    served = _unique(
        label(run) + (f" on vLLM {version}" if (version := vllm_version(run)) else "") for run in evidence.runs
    )
    limit = "One checkpoint at a time, at the precision named with each run."
    if any(run.practice for run in evidence.runs):
        limit += " Practice numbers say nothing about the model that the lesson is about."
    return (
        "; ".join(served) or "No model was run yet",
        limit,
        "; ".join(f"{label_}: {_count(number, 'valid run')}" for label_, number in _per_label(counted))
        or "Open: no valid run yet",
        not counted,
    )


def _harness(evidence: _Evidence) -> _Described:
    counted = evidence.counted
    return (
        evidence.command or "The server's command was not recorded",
        "The same task, warm-ups kept apart, a clock that starts when the request is sent. "
        "The API key is in no record of it.",
        f"Every chunk's arrival is kept: labtui show {counted[0].id} --recompute gives the same numbers"
        if counted
        else "Open: no valid run yet",
        not counted,
    )


def _tools(evidence: _Evidence) -> _Described:
    tasks = evidence.lesson.lab_tasks
    newest = {task.task: next((run for run in evidence.counted if run.task == task.task), None) for task in tasks}
    return (
        "; ".join(task.title for task in tasks) or "No lab task",
        "Answers are data: a drawing is parsed without entities, network or scripts; "
        "code runs only when allowed, in a limited child process.",
        "; ".join(
            f"{task}: {f'{run.id}, {label(run)}' if run else 'open, not run yet'}" for task, run in newest.items()
        )
        or "Open: no lab task",
        any(run is None for run in newest.values()) or not newest,
    )


def _verifier(evidence: _Evidence) -> _Described:
    counted = evidence.counted
    facts = _unique(fact.name for run in counted for fact in run.check.facts)
    return (
        f"Checkers look for: {', '.join(facts)}" if facts else "Checkers find facts in each answer",
        "Facts, never taste. Speed is read from the stream and the server's counters, never from the answer.",
        "; ".join(
            f"{name}: {sum(run.check.passed for run in of_label)} of {_count(len(of_label), 'answer')} passed"
            for name in _unique(label(run) for run in counted)
            if (of_label := [run for run in counted if label(run) == name])
        )
        or "Open: no answer was checked yet",
        not counted,
    )


def _artifact(evidence: _Evidence) -> _Described:
    gates = len(evidence.lesson.gates)
    return (
        "This page",
        "Holds what the lesson says and what was really run and written. Nothing is filled in.",
        f"{evidence.gates_met} of {_count(gates, 'gate')} met" if gates else "The lesson has no gates",
        evidence.gates_met < gates,
    )


def _own_stage(card: Card, words: str | None) -> _Described:
    """A stage that nothing in a run proves, as in a lesson without a lab: the person's words on it do."""
    return (
        first_sentence(card.body),
        "",
        "In my words, below" if words else "Open: not in my words yet",
        not words,
    )


STAGES: Mapping[str, Callable[[_Evidence], _Described]] = {
    "intent": _intent,
    "model": _model,
    "harness": _harness,
    "tools": _tools,
    "verifier": _verifier,
    "artifact": _artifact,
}


def _per_label(runs: Sequence[Run]) -> list[tuple[str, int]]:
    return [(name, sum(label(run) == name for run in runs)) for name in _unique(label(run) for run in runs)]


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
