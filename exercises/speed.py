"""The arithmetic of tokens per second for models that deliver whole canvases of tokens. Pure: no I/O, no clock.

Every rate is a positive, finite number or NotMeasurable with its reason; no timeline makes this module raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exercises.records import Chunk, CounterWindow, NotMeasurable, Speed, Timeline

ARRIVAL_RESOLUTION_S = 0.005
"""Arrivals closer than this are one arrival: that is how exactly a busy program can time them."""

MOST_TOGETHER = Fraction(1, 3)
"""Largest share of the counted tokens that may have arrived together with the first chunk.

The after-first-canvas rate starts its clock at the first chunk. Tokens that come in the same instant are counted while
the time that they took is not, which makes the rate too high by 1 / (1 − share): at most half as much again here.
"""

_WORTH_A_NOTE = Fraction(1, 20)

DEFINITIONS: dict[str, str] = {
    "prompt_tokens": "Tokens of the request as the server counts them, pictures included.",
    "completion_tokens": "Tokens that the server says it delivered, reasoning included; not the canvas positions.",
    "wall_s": "Seconds from the request being sent to the last content byte.",
    "first_canvas_s": "Seconds from the request being sent to the first content chunk: prefill and all denoising "
    "steps of the first canvas.",
    "canvases": "Content chunks that arrived; a block-diffusion model sends one for each canvas.",
    "end_to_end_tps": "Completion tokens ÷ (last content byte − request sent).",
    "after_first_canvas_tps": "(Completion tokens − tokens of the first chunk) ÷ (last chunk − first chunk); needs two "
    "canvases or more.",
    "after_first_canvas_gaps": "Gaps between canvases that the after-first-canvas rate rests on: canvases − 1.",
    "steps_per_canvas": "Canvas positions ÷ committed tokens − 1: denoising passes of a canvas, its commit pass left "
    "out, from the server's counters over a window that starts and ends idle.",
    "canvas_fill": "Delivered tokens ÷ committed tokens, from the server's counters over the same window.",
}

TRIAL_DEFINITIONS: dict[str, str] = {
    "median": "The middle one of the valid measured runs, of an even number the mean of the middle two; warm-ups are "
    "left out.",
    "spread": "The lowest and the highest of the same runs.",
    "interval": "Between two of the ordered values, so chosen that it holds the true median in at least 95 % of the "
    "cases; how often exactly stands with it. None from fewer than 6 runs.",
}
"""What the runs of a trial say together, for each of their values."""

LABELS: dict[str, str] = {
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "completion tokens",
    "wall_s": "wall time",
    "first_canvas_s": "time to first canvas",
    "canvases": "canvases",
    "end_to_end_tps": "end to end",
    "after_first_canvas_tps": "after the first canvas",
    "after_first_canvas_gaps": "gaps between canvases",
    "steps_per_canvas": "steps per canvas",
    "canvas_fill": "canvas fill",
}

COUNTS = frozenset({"prompt_tokens", "completion_tokens", "canvases", "after_first_canvas_gaps"})

REASON_KEYS: dict[str, str] = {
    "prompt_tokens": "prompt_tokens_reason",
    "completion_tokens": "completion_tokens_reason",
    "wall_s": "wall_s_reason",
    "first_canvas_s": "first_canvas_s_reason",
    "end_to_end_tps": "end_to_end_tps_reason",
    "after_first_canvas_tps": "after_first_canvas_reason",
    "steps_per_canvas": "steps_per_canvas_reason",
    "canvas_fill": "canvas_fill_reason",
}
"""For each key of a speed that can be null, the key that says why."""


@dataclass(frozen=True, slots=True)
class SpeedLine:
    """One value as every screen, command and export shows it."""

    key: str
    label: str
    value: str
    definition: str


def speed_of(timeline: Timeline) -> Speed:
    wall = _arrival(timeline.chunks, -1)
    completion = _token_count(timeline.completion_tokens, "the server did not say how many tokens it delivered")
    after_first, note = _after_first_canvas(timeline, completion, wall)
    return Speed(
        prompt_tokens=_token_count(timeline.prompt_tokens, "the server did not say how long the prompt is"),
        completion_tokens=completion,
        wall_s=wall,
        first_canvas_s=_arrival(timeline.chunks, 0),
        canvases=len(timeline.chunks),
        end_to_end_tps=_end_to_end(timeline, completion, wall),
        after_first_canvas_tps=after_first,
        steps_per_canvas=_steps_per_canvas(timeline.counters),
        canvas_fill=_canvas_fill(timeline.counters),
        after_first_canvas_note=note,
    )


def gaps(speed: Speed) -> int:
    return max(speed.canvases - 1, 0)


def speed_to_json(speed: Speed) -> dict[str, Any]:
    """The SPEED object: null where a value is not measurable, with the reason in the key that REASON_KEYS names."""
    out: dict[str, Any] = {}
    for key in DEFINITIONS:
        value: Any = gaps(speed) if key == "after_first_canvas_gaps" else getattr(speed, key)
        reason = value.reason if isinstance(value, NotMeasurable) else None
        out[key] = value if reason is None else None
        if key in REASON_KEYS:
            out[REASON_KEYS[key]] = reason
    out["after_first_canvas_note"] = speed.after_first_canvas_note
    return out


def speed_from_json(data: Mapping[str, Any]) -> Speed:
    """The inverse of speed_to_json. Raises KeyError or TypeError on another shape."""

    def value(key: str) -> Any:
        return NotMeasurable(str(data[REASON_KEYS[key]])) if data[key] is None else data[key]

    return Speed(
        canvases=data["canvases"],
        after_first_canvas_note=data["after_first_canvas_note"],
        **{key: value(key) for key in REASON_KEYS},
    )


def speed_lines(speed: Speed) -> tuple[SpeedLine, ...]:
    """All values of a speed in the order in which they are shown, the headline first."""
    after_first = format_rate(speed.after_first_canvas_tps)
    if not isinstance(speed.after_first_canvas_tps, NotMeasurable):
        after_first += f" ({gaps(speed)} {'gap' if gaps(speed) == 1 else 'gaps'})"
        if speed.after_first_canvas_note:
            after_first += f"; {speed.after_first_canvas_note}"
    shown = {
        "end_to_end_tps": format_rate(speed.end_to_end_tps),
        "first_canvas_s": format_seconds(speed.first_canvas_s),
        "after_first_canvas_tps": after_first,
        "steps_per_canvas": format_value("steps_per_canvas", speed.steps_per_canvas),
        "canvas_fill": _or_reason(
            speed.canvas_fill, lambda fill: f"{format_value('canvas_fill', fill)} ({fill * 100:.3g} %)"
        ),
        "canvases": format_value("canvases", speed.canvases),
        "completion_tokens": format_value("completion_tokens", speed.completion_tokens),
        "prompt_tokens": format_value("prompt_tokens", speed.prompt_tokens),
        "wall_s": format_seconds(speed.wall_s),
    }
    return tuple(SpeedLine(key, LABELS[key], text, DEFINITIONS[key]) for key, text in shown.items())


def format_value(key: str, value: float | NotMeasurable) -> str:
    """A value of a speed, or a median of several, in the form in which it is shown everywhere. key: of DEFINITIONS."""
    if key.endswith("_tps"):
        return format_rate(value)
    if key.endswith("_s"):
        return format_seconds(value)
    if key in COUNTS:
        return _or_reason(value, lambda count: f"{int(count):,}" if count == int(count) else f"{count:,.1f}")
    return _or_reason(value, lambda number: f"{number:.3g}")


def format_rate(rate: float | NotMeasurable) -> str:
    """ "512 tok/s", or "not measurable: one canvas"."""
    return _or_reason(rate, lambda value: f"{_three_digits(value)} tok/s")


def format_seconds(seconds: float | NotMeasurable) -> str:
    return _or_reason(seconds, lambda value: f"{_three_digits(value)} s")


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _or_reason(value: Any, show: Callable[[Any], str]) -> str:
    return f"not measurable: {value.reason}" if isinstance(value, NotMeasurable) else show(value)


def _token_count(tokens: int | None, unsaid: str) -> int | NotMeasurable:
    if tokens is None:
        return NotMeasurable(unsaid)
    if tokens < 1:
        return NotMeasurable("the server counted no tokens" if tokens == 0 else f"the server counted {tokens} tokens")
    return tokens


def _arrival(chunks: tuple[Chunk, ...], which: int) -> float | NotMeasurable:
    if not chunks:
        return NotMeasurable("no content arrived")
    before = 0.0
    for chunk in chunks:
        if not math.isfinite(chunk.at_s):
            return NotMeasurable("an arrival time is not a number")
        if chunk.at_s <= 0:
            return NotMeasurable("content arrived before the request was sent")
        if chunk.at_s < before:
            return NotMeasurable("the arrival times run backwards")
        before = chunk.at_s
    return chunks[which].at_s


def _contradiction(timeline: Timeline) -> NotMeasurable | None:
    told = [chunk.tokens for chunk in timeline.chunks if chunk.tokens is not None]
    if any(tokens < 0 for tokens in told):
        return NotMeasurable("the server's token count ran backwards")
    if timeline.completion_tokens is not None and sum(told) > timeline.completion_tokens:
        return NotMeasurable("the chunks hold more tokens than the server says it delivered")
    return None


def _end_to_end(
    timeline: Timeline, completion: int | NotMeasurable, wall: float | NotMeasurable
) -> float | NotMeasurable:
    for missing in (wall, completion, _contradiction(timeline)):
        if isinstance(missing, NotMeasurable):
            return missing
    assert isinstance(completion, int) and not isinstance(wall, NotMeasurable)
    return _rate(completion, wall)


def _after_first_canvas(
    timeline: Timeline, completion: int | NotMeasurable, wall: float | NotMeasurable
) -> tuple[float | NotMeasurable, str | None]:
    chunks = timeline.chunks
    if isinstance(wall, NotMeasurable):
        return wall, None
    if len(chunks) == 1:
        return NotMeasurable("one canvas"), None
    for missing in (completion, _contradiction(timeline)):
        if isinstance(missing, NotMeasurable):
            return missing, None
    assert isinstance(completion, int)
    first = chunks[0]
    if first.tokens is None:
        return NotMeasurable("the server did not say how many tokens the first canvas brought"), None
    if first.tokens == 0:
        return NotMeasurable("the server counted no tokens for the first canvas"), None
    counted = completion - first.tokens
    if counted == 0:
        return NotMeasurable("the server counted no tokens after the first canvas"), None
    window = wall - first.at_s
    if window < ARRIVAL_RESOLUTION_S:
        return NotMeasurable(f"all {len(chunks)} chunks arrived within {ARRIVAL_RESOLUTION_S * 1000:.0f} ms"), None

    companions = [chunk for chunk in chunks[1:] if chunk.at_s - first.at_s < ARRIVAL_RESOLUTION_S]
    early = sum(chunk.tokens or 0 for chunk in companions)
    if early > counted * MOST_TOGETHER:
        return NotMeasurable(
            f"{len(companions) + 1} of {len(chunks)} chunks arrived together at the start, "
            f"with {early} of the {counted} tokens that would be counted"
        ), None
    note = None
    if early > counted * _WORTH_A_NOTE:
        without = _rate(counted - early, window)
        note = (
            f"{len(companions) + 1} canvases arrived together at the start; "
            f"with the clock started after them all: {format_rate(without)}"
        )
    return _rate(counted, window), note


def _steps_per_canvas(counters: CounterWindow | NotMeasurable) -> float | NotMeasurable:
    if isinstance(counters, NotMeasurable):
        return counters
    passes = _ratio(counters.canvas_positions, counters.committed_tokens)
    if isinstance(passes, NotMeasurable):
        return passes
    if passes <= 1:
        return NotMeasurable("the counters show no denoising pass before the commit")
    return passes - 1


def _canvas_fill(counters: CounterWindow | NotMeasurable) -> float | NotMeasurable:
    if isinstance(counters, NotMeasurable):
        return counters
    fill = _ratio(counters.generation_tokens, counters.committed_tokens)
    if isinstance(fill, NotMeasurable):
        return fill
    if fill > 1:
        return NotMeasurable("the counters show more delivered than committed tokens")
    return fill


def _ratio(part: float, whole: float) -> float | NotMeasurable:
    if not (math.isfinite(part) and math.isfinite(whole)) or part < 0 or whole < 0:
        return NotMeasurable("the counters are not what counters can be")
    if whole == 0:
        return NotMeasurable("the counters show no committed canvas")
    if part == 0:
        return NotMeasurable("the counters did not move")
    return _positive(part / whole)


def _rate(tokens: int, seconds: float) -> float | NotMeasurable:
    try:
        return _positive(tokens / seconds)
    except (OverflowError, ZeroDivisionError):
        return NotMeasurable("the counts are beyond any real server")


def _positive(value: float) -> float | NotMeasurable:
    if value > 0 and math.isfinite(value):
        return value
    return NotMeasurable("the counts are beyond any real server")
