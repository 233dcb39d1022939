"""A trial: repeated runs of one task on one launch, and what they say together."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from exercises.errors import ExerciseError
from exercises.intervals import LEVEL, METHOD, Interval, median_interval
from exercises.records import NotMeasurable, Run
from exercises.speed import DEFINITIONS, TRIAL_DEFINITIONS

SUMMARISED = (
    "end_to_end_tps",
    "first_canvas_s",
    "after_first_canvas_tps",
    "steps_per_canvas",
    "canvas_fill",
    "canvases",
    "completion_tokens",
    "wall_s",
)


@dataclass(frozen=True, slots=True)
class Spread:
    """n: values that could be measured. median, lowest and highest of them.

    interval: where the true median may lie (exercises/intervals.py).
    """

    n: int
    median: float
    lowest: float
    highest: float
    interval: Interval | NotMeasurable


@dataclass(frozen=True, slots=True)
class Summary:
    """Over the valid runs of a trial, warm-ups left out.

    counted: runs it rests on. invalid: runs left out because they are. passed: how many of the counted ones passed
    their check. values: for each key of SUMMARISED its spread.
    """

    counted: int
    invalid: int
    passed: int
    values: Mapping[str, Spread | NotMeasurable]


@dataclass(frozen=True, slots=True)
class Trial:
    """runs: all that came to an end, warm-ups (marked so) and invalid ones among them, in their order.

    asked: runs that were asked for, without warm-ups. cancelled: the person stopped it. error: what stopped it.
    """

    id: str
    runs: tuple[Run, ...]
    summary: Summary
    asked: int
    cancelled: bool = False
    error: ExerciseError | None = None


def warmup_seeds(first: int, warmups: int, each: int = 1) -> list[int]:
    """The last of several warm-ups has the first one's seed, so the same prompt: it finds it in the prefix cache.

    On an H200 the first request that did so took 2.2 s longer, once in a launch (docs/measurements.md); this way it is
    a warm-up and no measured run. each: requests of a warm-up, which have that many seeds.
    """
    seeds = [first + number * each for number in range(warmups)]
    return [*seeds[:-1], first] if warmups > 1 else seeds


def summarise(runs: Sequence[Run]) -> Summary:
    measured = [run for run in runs if not run.warmup]
    counted = [run for run in measured if run.valid]
    return Summary(
        counted=len(counted),
        invalid=len(measured) - len(counted),
        passed=sum(run.check.passed for run in counted),
        values={key: spread_of([getattr(run.speed, key) for run in counted]) for key in SUMMARISED},
    )


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """A value that no run could measure is null, with its reason in the key named ..._reason."""
    values: dict[str, Any] = {}
    for key, spread in summary.values.items():
        values[key] = None if isinstance(spread, NotMeasurable) else _spread_to_json(spread)
        values[f"{key}_reason"] = spread.reason if isinstance(spread, NotMeasurable) else None
    return {
        "counted": summary.counted,
        "invalid": summary.invalid,
        "passed": summary.passed,
        "values": values,
        "definitions": {key: DEFINITIONS[key] for key in SUMMARISED} | TRIAL_DEFINITIONS,
        "interval": {"level": LEVEL, "method": METHOD},
    }


def _spread_to_json(spread: Spread) -> dict[str, Any]:
    interval = spread.interval
    return {
        "n": spread.n,
        "median": spread.median,
        "lowest": spread.lowest,
        "highest": spread.highest,
        "interval": asdict(interval) if isinstance(interval, Interval) else None,
        "interval_reason": interval.reason if isinstance(interval, NotMeasurable) else None,
    }


def spread_of(values: Sequence[float | NotMeasurable]) -> Spread | NotMeasurable:
    numbers = [float(value) for value in values if not isinstance(value, NotMeasurable)]
    if not numbers:
        reasons = sorted({value.reason for value in values if isinstance(value, NotMeasurable)})
        return NotMeasurable("; ".join(reasons) or "no valid run")
    return Spread(
        len(numbers),
        statistics.median(numbers),
        min(numbers),
        max(numbers),
        median_interval(numbers),
    )
