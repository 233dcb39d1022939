"""The speed of several streams at once, each measured by the arrivals of its own chunks. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from exercises.records import CounterWindow, NotMeasurable, Run, Timeline
from exercises.speed import speed_of

DEFINITIONS: dict[str, str] = {
    "aggregate_tps": "Completion tokens of all streams ÷ (last content byte of any of them − first request sent).",
    "per_stream_tps": "Completion tokens of one stream ÷ (its last content byte − its request sent).",
    "steps_per_canvas": "Canvas positions ÷ committed tokens − 1 over all streams together, in a window that starts "
    "and ends idle.",
}


@dataclass(frozen=True, slots=True)
class TimedStream:
    """sent_s: when its request was sent, on a clock that all streams share."""

    sent_s: float
    timeline: Timeline


@dataclass(frozen=True, slots=True)
class AggregateSpeed:
    """wall_s: from the first request sent to the last content byte of any stream."""

    streams: int
    completion_tokens: int | NotMeasurable
    wall_s: float | NotMeasurable
    aggregate_tps: float | NotMeasurable
    per_stream_tps: tuple[float | NotMeasurable, ...]
    steps_per_canvas: float | NotMeasurable


def aggregate_speed(streams: Sequence[TimedStream], counters: CounterWindow | NotMeasurable) -> AggregateSpeed:
    """counters: those of all streams together. Every rate is positive and finite, or not measurable with its reason."""
    speeds = [speed_of(stream.timeline) for stream in streams]
    together = speed_of(Timeline((), None, None, counters))
    unknown = next(
        (
            NotMeasurable(f"stream {number}: {speed.end_to_end_tps.reason}")
            for number, speed in enumerate(speeds, 1)
            if isinstance(speed.end_to_end_tps, NotMeasurable)
        ),
        None,
    )
    tokens = unknown or sum(count for speed in speeds if isinstance(count := speed.completion_tokens, int))
    wall = unknown or _wall(streams, [wall for speed in speeds if isinstance(wall := speed.wall_s, int | float)])
    rate: float | NotMeasurable
    if isinstance(tokens, NotMeasurable):
        rate = tokens
    elif isinstance(wall, NotMeasurable):
        rate = wall
    else:
        rate = _positive(tokens / wall)
    return AggregateSpeed(
        streams=len(streams),
        completion_tokens=tokens,
        wall_s=wall,
        aggregate_tps=rate,
        per_stream_tps=tuple(speed.end_to_end_tps for speed in speeds),
        steps_per_canvas=together.steps_per_canvas,
    )


def aggregate_of_runs(runs: Sequence[Run], counters: CounterWindow | NotMeasurable) -> AggregateSpeed:
    """The streams of one round, from what is kept with their runs."""
    sent = [run.evidence.get("sent_at_monotonic_s") for run in runs]
    streams = [
        TimedStream(at if isinstance(at, int | float) else math.nan, run.timeline)
        for at, run in zip(sent, runs, strict=True)
    ]
    result = aggregate_speed(streams, counters)
    invalid = sum(not run.valid for run in runs)
    if invalid:
        reason = NotMeasurable(f"{invalid} of {len(runs)} streams are not valid")
        return AggregateSpeed(
            result.streams, reason, result.wall_s, reason, result.per_stream_tps, result.steps_per_canvas
        )
    return result


def aggregate_to_json(speed: AggregateSpeed) -> dict[str, Any]:
    """null where a value is not measurable, with the reason in the key that ends in _reason."""
    out: dict[str, Any] = {"streams": speed.streams}
    for key in ("completion_tokens", "wall_s", "aggregate_tps", "steps_per_canvas"):
        value = getattr(speed, key)
        out[key] = None if isinstance(value, NotMeasurable) else value
        out[f"{key}_reason"] = value.reason if isinstance(value, NotMeasurable) else None
    out["per_stream_tps"] = [None if isinstance(rate, NotMeasurable) else rate for rate in speed.per_stream_tps]
    return out


def _wall(streams: Sequence[TimedStream], walls: Sequence[float]) -> float | NotMeasurable:
    if not streams:
        return NotMeasurable("there is no stream")
    if len(walls) != len(streams) or not all(math.isfinite(stream.sent_s) for stream in streams):
        return NotMeasurable("when a request was sent is not known")
    ends = [stream.sent_s + wall for stream, wall in zip(streams, walls, strict=True)]
    return _positive(max(ends) - min(stream.sent_s for stream in streams))


def _positive(value: float) -> float | NotMeasurable:
    if value > 0 and math.isfinite(value):
        return value
    return NotMeasurable("the times are beyond any real server")
