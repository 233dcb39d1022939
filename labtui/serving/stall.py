"""Does a running request still get tokens? Pure, from one look at the metrics page to the next.

The counters are the server's: while one request gets tokens, another that gets none is not seen. On an H200 the first
two requests at once got none for 38 s and nothing was logged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

MUCH_LONGER = 4.0
"""So many times its last canvas: steps of a canvas differ by about as much (9 to 27 of 48 in published runs)."""
LEAST_S = 5.0
UNKNOWN_S = 10.0
"""How long nothing may come before any canvas was timed: first kernels are compiled, prompts are read."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What one look shows. at_s: monotonic clock; a value that the page does not have is None.

    canvases, canvas_seconds: later canvases and how long they took together (vllm:inter_token_latency_seconds, which
    times chunks and not tokens for this model). first_canvases, first_seconds: the same for first ones.
    """

    at_s: float
    running: float | None
    tokens: float | None
    forwards: float | None = None
    canvases: float | None = None
    canvas_seconds: float | None = None
    first_canvases: float | None = None
    first_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """sign: the last look. quiet_since_s: since when nothing has come for what runs; None where nothing runs.

    canvas_s: how long the last canvases took, None until one was seen.
    """

    sign: Sign
    quiet_since_s: float | None = None
    canvas_s: float | None = None

    def stalled_s(self) -> float | None:
        """How long the running requests have got nothing, where that is much longer than a canvas took."""
        if self.quiet_since_s is None:
            return None
        quiet = self.sign.at_s - self.quiet_since_s
        limit = UNKNOWN_S if self.canvas_s is None else max(LEAST_S, MUCH_LONGER * self.canvas_s)
        return quiet if quiet > limit else None


def progressed(before: Progress | None, sign: Sign) -> Progress:
    """With the next look. Tokens count as progress, and so do passes of the model: a long canvas is no stall."""
    busy = sign.running is not None and sign.running > 0 and sign.tokens is not None
    if before is None or _restarted(before.sign, sign):
        return Progress(sign, sign.at_s if busy else None, _canvas(None, sign))
    canvas_s = _canvas(before.sign, sign) or before.canvas_s
    if not busy:
        return Progress(sign, None, canvas_s)
    moved = (
        before.quiet_since_s is None
        or sign.tokens != before.sign.tokens
        or sign.forwards != before.sign.forwards
        or (sign.running or 0) > (before.sign.running or 0)
    )
    return replace(before, sign=sign, canvas_s=canvas_s, quiet_since_s=sign.at_s if moved else before.quiet_since_s)


def _canvas(before: Sign | None, now: Sign) -> float | None:
    """Later canvases say it best; a first one has its prompt and its wait in it."""
    old = before or Sign(now.at_s, None, None)
    later = _mean(old.canvases, now.canvases, old.canvas_seconds, now.canvas_seconds)
    first = _mean(old.first_canvases, now.first_canvases, old.first_seconds, now.first_seconds)
    return later if later is not None else first


def _mean(
    count_before: float | None, count: float | None, sum_before: float | None, total: float | None
) -> float | None:
    if count is None or total is None:
        return None
    more = count - (count_before or 0.0)
    return (total - (sum_before or 0.0)) / more if more > 0 else None


def _restarted(before: Sign, now: Sign) -> bool:
    return before.tokens is not None and now.tokens is not None and now.tokens < before.tokens
