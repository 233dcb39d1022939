"""A measured number beside the public claims that mean the same, and why the other claims do not.

What is practice stays apart from every claim (design promise 3); so does a run that is not valid, one of weights that
are random, and one of another model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from exercises.records import NotMeasurable, Run
from exercises.speed import format_rate, format_seconds
from exercises.trial import Spread, Trial
from labtui.serving.checkpoints import checkpoints
from lessons.claims import DEFINITIONS, Claim, claims_of
from lessons.errors import LessonError
from lessons.model import Lesson

OURS = {
    "end_to_end": "end_to_end_tps",
    "after_first_canvas": "after_first_canvas_tps",
    "first_canvas": "first_canvas_s",
    "steps_per_canvas": "steps_per_canvas",
}
"""Definitions of the ledger that labtui measures, with the key of a speed that has them."""

WHY_APART = {
    "without_prefill": "it leaves the prefill out and may still count the first canvas's tokens; labtui times the "
    "whole request, or counts only what comes after the first canvas",
    "per_forward": "it is computed from tokens and time of a forward pass; no request was timed",
    "canvas_positions": "it counts canvas positions in every pass, not delivered tokens",
    "tokens_per_forward": "it counts tokens of a forward pass, which is no speed",
    "forward_time": "it is the time of one forward pass, which a stream does not show",
    "wall": "the time of a whole request depends on how long its answer is",
    "speedup": "it is a ratio of two speeds; compare two runs instead",
    "crossover": "it is a number of requests at once, not a speed",
    "memory": "it is memory, not speed",
    "quality": "it is a benchmark score; labtui does not run that benchmark",
    "not_stated": "its source does not say what was divided by what",
}


@dataclass(frozen=True, slots=True)
class Beside:
    """A claim of the same definition. ratio: yours ÷ the claim. differences: what was not the same, in words."""

    claim: Claim
    yours: float
    runs: int
    ratio: float
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Apart:
    claim: Claim
    reason: str


@dataclass(frozen=True, slots=True)
class ClaimsBeside:
    """reason: why no claim at all is set beside this, None where some could be. Then both lists are empty.

    comparable: what could be set beside claims in its place, in words.
    """

    beside: tuple[Beside, ...] = ()
    apart: tuple[Apart, ...] = ()
    reason: str | None = None
    comparable: str | None = None


def claims_and_faults(lessons: Iterable[Lesson]) -> tuple[tuple[Claim, ...], tuple[LessonError, ...]]:
    """The claims of all these lessons, and the faults of the ledgers that had to be left out."""
    claims: list[Claim] = []
    faults: list[LessonError] = []
    for lesson in lessons:
        try:
            claims += claims_of(lesson)
        except LessonError as fault:
            faults.append(fault)
    return tuple(claims), tuple(faults)


def claims_beside_run(run: Run, claims: Sequence[Claim]) -> ClaimsBeside:
    return _claims_beside(run, {key: _one(getattr(run.speed, key)) for key in OURS.values()}, claims)


def claims_beside_trial(trial: Trial, claims: Sequence[Claim]) -> ClaimsBeside:
    """The medians of the runs that count beside the claims."""
    counted = [run for run in trial.runs if run.valid and not run.warmup]
    if not counted:
        return ClaimsBeside(reason="no run of this trial counts")
    medians = {
        key: (value.median, value.n) if isinstance(value, Spread) else value
        for key, value in trial.summary.values.items()
        if key in OURS.values()
    }
    return _claims_beside(counted[0], medians, claims)


def claims_to_json(result: ClaimsBeside) -> dict[str, Any]:
    return {
        "reason": result.reason,
        "beside": [
            {
                **_claim(one.claim),
                "yours": one.yours,
                "runs": one.runs,
                "ratio": one.ratio,
                "differences": list(one.differences),
            }
            for one in result.beside
        ],
        "apart": [{**_claim(one.claim), "reason": one.reason} for one in result.apart],
    }


def format_value(claim: Claim, value: float) -> str:
    """Your value in the form in which its claim is given."""
    if claim.unit == "tok/s":
        return format_rate(value)
    return format_seconds(value) if claim.unit == "s" else f"{value:.3g} {claim.unit}"


def _one(value: float | NotMeasurable) -> tuple[float, int] | NotMeasurable:
    return value if isinstance(value, NotMeasurable) else (float(value), 1)


def _claims_beside(
    run: Run, yours: dict[str, tuple[float, int] | NotMeasurable], claims: Sequence[Claim]
) -> ClaimsBeside:
    reason = _why_none(run)
    if reason is not None:
        return ClaimsBeside(reason=reason, comparable=_comparable(run))
    model = model_of(run, {claim.model for claim in claims})
    if model is None:
        return ClaimsBeside(reason=f"no claim is about {run.evidence.get('model') or run.checkpoint}")
    beside: list[Beside] = []
    apart: list[Apart] = []
    for claim in claims:
        why = _why_apart(claim, run, model)
        value = yours[OURS[claim.definition]] if why is None else None
        if isinstance(value, NotMeasurable):
            why = f"yours is not measurable: {value.reason}"
        if why is not None or value is None or isinstance(value, NotMeasurable):
            apart.append(Apart(claim, why or ""))
        else:
            beside.append(Beside(claim, value[0], value[1], value[0] / claim.value, _differences(claim, run)))
    return ClaimsBeside(tuple(beside), tuple(apart))


def _comparable(run: Run) -> str:
    real = [one.id for one in checkpoints().values() if one.diffusion and not one.practice]
    return f"a valid run of {run.task} on real weights: {', '.join(real[:-1])} or {real[-1]}"


def _why_none(run: Run) -> str | None:
    if run.practice:
        return "a number of the practice checkpoint says nothing about the model that the claims are about"
    if not run.valid:
        return f"the run is not valid: {run.invalid_reason}"
    if _flag(run, "--load-format") == "dummy":
        return "the server was started with random weights"
    return None


def _why_apart(claim: Claim, run: Run, model: str) -> str | None:
    if claim.definition not in OURS:
        return WHY_APART[claim.definition]
    if claim.model != model:
        return f"it is about another model: {claim.model}"
    if claim.differs:
        return claim.differs
    streams = run.evidence.get("streams", 1)
    if claim.batch is not None and claim.batch != streams:
        return f"it is of {_requests(claim.batch)} at once, yours of {_requests(streams)}"
    return None


def _differences(claim: Claim, run: Run) -> tuple[str, ...]:
    said: list[str] = []
    ours = " and ".join(run.evidence.get("hardware") or ()) or "not recorded"
    if not claim.hardware or not _words(claim.hardware) <= _words(ours):
        said.append(f"hardware {claim.hardware or 'not stated'}, yours {ours}")
    checkpoint = checkpoints().get(run.checkpoint)
    precision = "not known" if checkpoint is None else checkpoint.precision
    if claim.precision != precision:
        said.append(f"precision {claim.precision or 'not stated'}, yours {precision}")
    if claim.batch is None:
        said.append("requests at once not stated")
    if claim.engine != "vLLM":
        said.append(f"engine {claim.engine or 'not stated'}, yours vLLM")
    if claim.settings:
        said.append(f"settings: {claim.settings}")
    said.append(f"prompts {claim.prompts or 'not stated'}, yours the task {run.task}")
    return tuple(said)


def model_of(run: Run, known: set[str]) -> str | None:
    """Which of the models that claims are about this run is of, told by the names it was served under."""
    checkpoint = checkpoints().get(run.checkpoint)
    names = [run.checkpoint, run.evidence.get("model"), run.evidence.get("weights")]
    names += [] if checkpoint is None else [checkpoint.model]
    text = " ".join(str(name).lower() for name in names if name)
    return next((model for model in sorted(known) if model in text), None)


def _flag(run: Run, name: str) -> str | None:
    command = [str(part) for part in run.evidence.get("command") or ()]
    for at, part in enumerate(command):
        if part == name and at + 1 < len(command):
            return command[at + 1]
        if part.startswith(f"{name}="):
            return part.partition("=")[2]
    return None


def _requests(count: int) -> str:
    return "one request" if count == 1 else f"{count} requests"


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "id": claim.id,
        "claim": claim.text,
        "value": claim.value,
        "unit": claim.unit,
        "bound": claim.bound,
        "definition": claim.definition,
        "definition_text": DEFINITIONS[claim.definition],
        "model": claim.model,
        "source": claim.source.title,
        "url": claim.source.url,
        "second_hand": claim.source.second_hand,
        "note": claim.note,
    }
