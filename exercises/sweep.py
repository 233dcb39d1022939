"""Sweeps: one thing varied, the rest kept. By kind of prompt, by requests at once, by cap on denoising steps.

A point is a trial: warm-ups, then measured rounds. A round is one request, or several that start together.
"""

from __future__ import annotations

import secrets
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from exercises.aggregate_speed import DEFINITIONS, AggregateSpeed, aggregate_of_runs, aggregate_to_json
from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.intervals import Interval
from exercises.records import NotMeasurable, Run
from exercises.run_ids import new_id
from exercises.running import Event
from exercises.sweep_points import Point, requests_of, runs_together
from exercises.sweep_round import run_round
from exercises.trial import Spread, Summary, spread_of, summarise, summary_to_json, warmup_seeds

Axis = Literal["kinds", "concurrency", "steps"]
AXES: tuple[str, ...] = get_args(Axis)


@dataclass(frozen=True, slots=True)
class PointResult:
    """runs: all that came to an end, warm-ups (marked so) among them. summary: of the single streams.

    rounds: what the streams of each measured round made together, empty for points of one stream.
    """

    point: Point
    trial: str
    runs: tuple[Run, ...]
    summary: Summary
    rounds: tuple[AggregateSpeed, ...] = ()

    @property
    def aggregate(self) -> Spread | NotMeasurable:
        """The aggregate rate over the rounds; of a single stream it is its end-to-end rate."""
        if self.point.streams == 1:
            return self.summary.values["end_to_end_tps"]
        return spread_of([one.aggregate_tps for one in self.rounds])

    @property
    def steps(self) -> Spread | NotMeasurable:
        if self.point.streams == 1:
            return self.summary.values["steps_per_canvas"]
        return spread_of([one.steps_per_canvas for one in self.rounds])


@dataclass(frozen=True, slots=True)
class Sweep:
    """points: those that have a finished run. asked: points that were asked for. error: what stopped it.

    runs_together: requests that the server computes together; at more of them at once some wait. None: not known.
    labels, warmup and seed: what is needed to run the rest of it later.
    """

    id: str
    axis: Axis
    checkpoint: str
    practice: bool
    started_at: str
    points: tuple[PointResult, ...]
    asked: int
    rounds: int
    cancelled: bool = False
    error: ExerciseError | None = None
    runs_together: int | None = None
    labels: tuple[str, ...] = ()
    warmup: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PointStarted:
    """number and of: which point of how many."""

    sweep: str
    point: Point
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """done and of: requests, warm-ups included. left_s: estimate of the time that remains, None before there is one."""

    sweep: str
    done: int
    of: int
    left_s: float | None


@dataclass(frozen=True, slots=True)
class PointFinished:
    """The point has all its runs, or all that it will get. so_far: the sweep up to here; keep it now."""

    result: PointResult
    so_far: Sweep


SweepEvent = Event | PointStarted | SweepProgress | PointFinished
OnSweepEvent = Callable[[SweepEvent], None]


def run_sweep(
    axis: Axis,
    points: Sequence[Point],
    endpoint: Endpoint,
    *,
    rounds: int = 3,
    warmup: int = 1,
    seed: int | None = None,
    sweep_id: str | None = None,
    usual_s: float | None = None,
    on_event: OnSweepEvent | None = None,
    cancel: threading.Event | None = None,
    run_code: bool = True,
) -> Sweep:
    """Runs every point in turn. Blocks; events come in the calling thread. A cancel or a fault keeps what finished.

    All points use the same seeds, so that prompts differ within a point and are the same at every point of one task.
    sweep_id: of the sweep that these points belong to, a new one without it.
    usual_s: what a request is known to take, for the estimate before there is one of this sweep.

    Raises ExerciseError where the first run could not be made at all, and for rounds < 1, warmup < 0 or no points.
    """
    if rounds < 1 or warmup < 0 or not points:
        raise ExerciseError(
            "A sweep needs points and rounds",
            f"asked for {len(points)} points with {rounds} rounds and {warmup} warm-ups",
            "Ask for one point and one round at least.",
            2,
        )
    cancel = cancel or threading.Event()
    tell: OnSweepEvent = on_event or (lambda event: None)
    seed = secrets.randbelow(2**31) if seed is None else seed
    sweep = Sweep(
        sweep_id or new_id("s"),
        axis,
        endpoint.checkpoint,
        endpoint.practice,
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        (),
        len(points),
        rounds,
        runs_together=runs_together(endpoint),
        labels=tuple(point.label for point in points),
        warmup=warmup,
        seed=seed,
    )
    clock = _Clock(sweep.id, requests_of(points, rounds, warmup), usual_s, tell)
    for number, point in enumerate(points, 1):
        if cancel.is_set():
            break
        tell(PointStarted(sweep.id, point, number, len(points)))
        result, fault = _run_point(point, endpoint, sweep, rounds, warmup, seed, clock, cancel, run_code)
        if fault is not None and not result.runs and not sweep.points:
            raise fault
        kept = (*sweep.points, result) if result.runs else sweep.points
        sweep = replace(sweep, points=kept, cancelled=cancel.is_set(), error=fault)
        if result.runs:
            tell(PointFinished(result, sweep))
        if fault is not None:
            break
    return replace(sweep, cancelled=cancel.is_set())


def sweep_to_json(sweep: Sweep) -> dict[str, Any]:
    """Runs stand in it by their ids; each is kept by itself. Values that are not measurable are null with a reason."""
    return {
        "id": sweep.id,
        "axis": sweep.axis,
        "checkpoint": sweep.checkpoint,
        "practice": sweep.practice,
        "started_at": sweep.started_at,
        "asked": sweep.asked,
        "rounds": sweep.rounds,
        "warmup": sweep.warmup,
        "seed": sweep.seed,
        "labels": list(sweep.labels),
        "runs_together": sweep.runs_together,
        "cancelled": sweep.cancelled,
        "error": None if sweep.error is None else f"{sweep.error.title}: {sweep.error.cause}",
        "points": [_point_to_json(result) for result in sweep.points],
        "definitions": dict(DEFINITIONS),
    }


def _point_to_json(result: PointResult) -> dict[str, Any]:
    out: dict[str, Any] = {
        "label": result.point.label,
        "task": result.point.task.id,
        "task_set": result.point.task.set_id,
        "kind": result.point.task.kind,
        "streams": result.point.streams,
        "request": dict(result.point.extra),
        "trial": result.trial,
        "runs": [run.id for run in result.runs if not run.warmup],
        "warmups": [run.id for run in result.runs if run.warmup],
        "summary": summary_to_json(result.summary),
        "each_round": [aggregate_to_json(one) for one in result.rounds],
    }
    for key, spread in (("aggregate_tps", result.aggregate), ("steps_per_canvas", result.steps)):
        known = not isinstance(spread, NotMeasurable)
        out[key] = spread.median if isinstance(spread, Spread) else None
        out[f"{key}_interval"] = (
            [spread.interval.low, spread.interval.high]
            if isinstance(spread, Spread) and isinstance(spread.interval, Interval)
            else None
        )
        out[f"{key}_reason"] = None if known else spread.reason if isinstance(spread, NotMeasurable) else None
    return out


class _Clock:
    """Counts finished requests and tells how long the rest may take, from the rounds of this sweep."""

    def __init__(self, sweep: str, total: int, usual_s: float | None, tell: OnSweepEvent) -> None:
        self._sweep, self._total, self._usual_s, self.tell = sweep, total, usual_s, tell
        self._done = 0
        self._took: list[float] = []

    def begin(self) -> None:
        self._say()

    def finished(self, requests: int, seconds: float) -> None:
        self._done += requests
        self._took += [seconds / requests] * requests
        self._say()

    def _say(self) -> None:
        each = statistics.fmean(self._took) if self._took else self._usual_s
        left = None if each is None else each * (self._total - self._done)
        self.tell(SweepProgress(self._sweep, self._done, self._total, left))


def _run_point(
    point: Point,
    endpoint: Endpoint,
    sweep: Sweep,
    rounds: int,
    warmup: int,
    seed: int,
    clock: _Clock,
    cancel: threading.Event,
    run_code: bool,
) -> tuple[PointResult, ExerciseError | None]:
    trial = new_id("t")
    known = {"sweep": {"id": sweep.id, "axis": sweep.axis, "point": point.label}}
    endpoint = replace(endpoint, evidence={**endpoint.evidence, **known})
    runs: list[Run] = []
    together: list[AggregateSpeed] = []
    fault: ExerciseError | None = None
    warm_seeds = warmup_seeds(seed + rounds * point.streams, warmup, point.streams)
    plan = [(warm_seed, n, warmup, True) for n, warm_seed in enumerate(warm_seeds, 1)]
    plan += [(seed + n * point.streams, n + 1, rounds, False) for n in range(rounds)]
    clock.begin()
    for first_seed, number, of, is_warmup in plan:
        if cancel.is_set():
            break
        began = time.monotonic()
        got, window, fault = run_round(
            point, endpoint, trial, first_seed, is_warmup, number, of, clock.tell, cancel, run_code
        )
        runs += got
        if got:
            clock.finished(len(got), time.monotonic() - began)
        if len(got) == point.streams > 1 and not is_warmup:
            together.append(aggregate_of_runs(got, window))
        if fault is not None:
            break
    return PointResult(point, trial, tuple(runs), summarise(runs), tuple(together)), fault
