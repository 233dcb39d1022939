"""Everything that an export says, collected once: Markdown and JSON are two renderings of the same artifact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from exercises.errors import ExerciseError
from exercises.predictions import PredictionExercise
from exercises.records import Run
from labtui.artifacts.harness_map import MapRow, harness_map
from labtui.artifacts.made_pieces import MadePieces, WeakestLink, made_pieces
from labtui.claims import claims_and_faults
from labtui.judging import BlindCount, blind_counts
from labtui.made import missing_at_gates
from labtui.predicting import Predicted, exercise_of, made_predictions
from labtui.trial_comparison import BaselineStanding, baseline_standing
from labtui.version import version
from lessons.model import Anchor, Gate, Lesson, Misconception, Prediction, RecallItem
from lessons.times import anchor_url, clock
from lessons.walk import steps
from store.moments import now as current_moment
from store.opening import Store
from store.progress import GateEvidence, Guess, Note
from store.recall import Answer, item_hash
from store.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """One row of the source-check table. confidence: the person's note on the anchor, or what their evidence map says;
    None before there is either."""

    anchor: Anchor
    timestamp: str
    url: str
    confidence: str | None


@dataclass(frozen=True, slots=True)
class Recalled:
    """changed_since: the item was reworded after it was answered.

    due_on: the person's day on which it comes back. due_at: when that day begins on the clock by which it was graded.
    """

    item: RecallItem
    answer: Answer | None
    changed_since: bool
    due_on: date | None
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class GateStanding:
    """missing: what still keeps it open, as sentences; a text alone does not meet a gate."""

    gate: Gate
    evidence: GateEvidence | None
    missing: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True)
class Believed:
    """guess: what the person said before they were told, None where they were not asked yet."""

    misconception: Misconception
    guess: Guess | None


@dataclass(frozen=True, slots=True)
class PredictedInLesson:
    """predicted: None before there is a number. exercise: None where it is not here, so that nothing judges it."""

    prediction: Prediction
    predicted: Predicted | None
    exercise: PredictionExercise | None


@dataclass(frozen=True, slots=True)
class StepNote:
    title: str
    note: Note


@dataclass(frozen=True, slots=True)
class Artifact:
    """runs: those of the lesson's tasks and those that the verdict cites, newest first, practice and others together.

    Use practice_runs and other_runs to show them: the two never stand in one table.
    sweeps: as exercises.sweep.sweep_to_json, newest first; none for a lesson without tasks of the lab.
    """

    lesson: Lesson
    made_at: datetime
    made_by: str
    harness_map: tuple[MapRow, ...]
    weakest: WeakestLink | None
    source_check: tuple[SourceCheck, ...]
    verdict: Verdict | None
    blind: tuple[BlindCount, ...]
    runs: tuple[Run, ...]
    recall: tuple[Recalled, ...]
    gates: tuple[GateStanding, ...]
    misconceptions: tuple[Believed, ...]
    predictions: tuple[PredictedInLesson, ...]
    notes: tuple[StepNote, ...]
    sweeps: tuple[Mapping[str, Any], ...] = ()
    baseline: BaselineStanding | None = None

    @property
    def sweeps_shown(self) -> tuple[Mapping[str, Any], ...]:
        """The newest of each thing that was varied, on each checkpoint and task."""
        newest: dict[tuple[object, ...], Mapping[str, Any]] = {}
        for document in self.sweeps:
            task = None if document["axis"] == "kinds" else next((one["task"] for one in document["points"]), None)
            newest.setdefault((document["axis"], document["checkpoint"], task), document)
        return tuple(newest.values())

    @property
    def has_lab(self) -> bool:
        """Whether there is something to run or to judge; without it nothing about runs is missing."""
        return bool(self.lesson.lab_tasks or self.runs or self.verdict)

    @property
    def practice_runs(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.practice)

    @property
    def has_practice(self) -> bool:
        """Whether any of its numbers is from the practice checkpoint."""
        return bool(self.practice_runs) or any(document["practice"] for document in self.sweeps)

    @property
    def other_runs(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if not run.practice)

    @property
    def cited_runs(self) -> tuple[Run, ...]:
        by_id = {run.id: run for run in self.runs}
        return () if self.verdict is None else tuple(by_id[one] for one in self.verdict.runs if one in by_id)

    @property
    def cited_ids(self) -> frozenset[str]:
        return frozenset(run.id for run in self.cited_runs)

    @property
    def answers_shown(self) -> tuple[Run, ...]:
        """The runs whose answers are shown: the cited ones, or else the newest valid run of each task."""
        if self.cited_runs:
            return self.cited_runs
        newest = {run.task: run for run in reversed(self.runs) if run.valid and not run.warmup}
        return tuple(newest.values())

    @property
    def other_notes(self) -> tuple[StepNote, ...]:
        """Those that stand nowhere else in the artifact, as at a stage, an anchor or a practice piece."""
        elsewhere = ("card/", "anchor/", "practice/", "predict/")
        return tuple(noted for noted in self.notes if not noted.note.step.startswith(elsewhere))

    @property
    def gates_met(self) -> int:
        return sum(standing.met for standing in self.gates)


def collect(lesson: Lesson, store: Store, now: datetime | None = None) -> Artifact:
    """Raises StoreError where the store cannot be read."""
    verdict = store.verdicts.latest(lesson.id)
    runs = _runs(lesson, store, verdict)
    notes = store.progress.notes(lesson.id)
    evidence = store.progress.gates(lesson.id)
    guesses = {guess.misconception: guess for guess in store.progress.guess_history(lesson.id)}
    missing = missing_at_gates(lesson, store)
    gates = tuple(GateStanding(gate, evidence.get(gate.id), missing[gate.id]) for gate in lesson.gates)
    made = made_pieces(lesson, notes)
    noted = {card.id: notes[f"card/{card.id}"].text for card in lesson.cards if f"card/{card.id}" in notes}
    words = noted | dict(made.stages)
    return Artifact(
        lesson=lesson,
        made_at=now or current_moment(),
        made_by=f"labtui {version()}",
        harness_map=harness_map(lesson, runs, verdict, sum(gate.met for gate in gates), words),
        weakest=made.weakest,
        source_check=tuple(_source_check(lesson, anchor, notes, made) for anchor in lesson.anchors),
        verdict=verdict,
        blind=blind_counts(store, (task.task for task in lesson.lab_tasks)),
        runs=runs,
        recall=_recall(lesson, store),
        gates=gates,
        misconceptions=tuple(Believed(one, guesses.get(one.id)) for one in lesson.misconceptions),
        predictions=_predictions(lesson, notes),
        notes=tuple(
            StepNote(step.title, notes[step.id])
            for step in steps(lesson)
            if step.id in notes and step.kind != "predict"
        ),
        sweeps=tuple(one.document for one in store.sweeps.list()) if lesson.lab_tasks else (),
        baseline=baseline_standing(runs, claims_and_faults([lesson])[0]),
    )


def _predictions(lesson: Lesson, notes: dict[str, Note]) -> tuple[PredictedInLesson, ...]:
    made = made_predictions(lesson, {step: note.text for step, note in notes.items()})
    return tuple(PredictedInLesson(one, made.get(one.id), _exercise(lesson, one)) for one in lesson.predictions)


def _exercise(lesson: Lesson, prediction: Prediction) -> PredictionExercise | None:
    try:
        return exercise_of(lesson, prediction)
    except ExerciseError:
        return None


def _runs(lesson: Lesson, store: Store, verdict: Verdict | None) -> tuple[Run, ...]:
    tasks = dict.fromkeys(task.task for task in lesson.lab_tasks)
    found = {run.id: run for task in tasks for run in store.runs.list(task=task)}
    for run in () if verdict is None else store.runs.readable(verdict.runs):
        found.setdefault(run.id, run)
    return tuple(sorted(found.values(), key=lambda run: (run.started_at, run.id), reverse=True))


def _source_check(lesson: Lesson, anchor: Anchor, notes: dict[str, Note], made: MadePieces) -> SourceCheck:
    note = notes.get(f"anchor/{anchor.id}")
    return SourceCheck(
        anchor=anchor,
        timestamp=clock(anchor.start_s),
        url=anchor_url(lesson.video.url, anchor.start_s),
        confidence=made.confidence.get(anchor.id) if note is None else note.text,
    )


def _recall(lesson: Lesson, store: Store) -> tuple[Recalled, ...]:
    answers = store.recall.latest(lesson.id)
    due = {scheduled.item: scheduled for scheduled in store.recall.schedule(lesson.id)}
    return tuple(
        Recalled(
            item=item,
            answer=(answer := answers.get(item.id)),
            changed_since=answer is not None and answer.item_hash != item_hash(item),
            due_on=due[item.id].due_on if item.id in due else None,
            due_at=due[item.id].due_at if item.id in due else None,
        )
        for item in lesson.recall
    )
