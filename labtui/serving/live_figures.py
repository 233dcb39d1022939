"""What a running server is doing right now, from its metrics page."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import dataclass

import httpx

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.metrics import Counters, parse_metrics

PAGE_TIMEOUT_S = 2.0
WINDOW_S = 5.0

_KV_SHARE = re.compile(r"^vllm:kv_cache_usage_perc(?:\{.*\})? ([0-9.eE+-]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at the page. at_s: monotonic clock. kv_share: 0 to 1, the fullest engine's."""

    at_s: float
    counters: Counters
    kv_share: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """None where the page does not have it, or nothing shows it yet.

    delivered_tps: tokens that all requests received per second, over the last WINDOW_S seconds at most.
    steps_per_canvas: as the design defines it, over the last window that started and ended idle, whoever's canvases
    they were.
    """

    running: int | None = None
    waiting: int | None = None
    kv_share: float | None = None
    delivered_tps: float | None = None
    steps_per_canvas: float | None = None


class FigureReader:
    """Reads one server's page again and again. Used from one thread at a time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = endpoint.http_client(httpx.Timeout(PAGE_TIMEOUT_S))
        self._url = endpoint.url("/metrics")
        self._readings: deque[Reading] = deque()
        self._idle: Counters | None = None
        self._steps: float | None = None

    def look(self) -> Figures:
        """All None where the page cannot be read; never raises for what the server does."""
        reading = self._read()
        if reading is None:
            self._readings.clear()
            self._idle = self._steps = None
            return Figures()
        self._readings.append(reading)
        while reading.at_s - self._readings[0].at_s > WINDOW_S:
            self._readings.popleft()
        if reading.counters.running is not None and not reading.counters.busy:
            if self._idle is not None:
                self._steps = steps_between(self._idle, reading.counters) or self._steps
            self._idle = reading.counters
        return figures(self._readings[0], reading, self._steps)

    def close(self) -> None:
        self._client.close()

    def _read(self) -> Reading | None:
        try:
            answer = self._client.get(self._url)
            if answer.status_code != httpx.codes.OK:
                return None
            return read_page(answer.text, time.monotonic())
        except (httpx.HTTPError, ExerciseError):
            return None


def read_page(text: str, at_s: float) -> Reading:
    """Raises ExerciseError where the text is no metrics page."""
    shares = [float(value) for value in _KV_SHARE.findall(text)]
    return Reading(at_s, parse_metrics(text), max(shares) if shares else None)


def figures(before: Reading, now: Reading, steps_per_canvas: float | None = None) -> Figures:
    """before may be the same reading as now: then there is no rate yet."""
    seconds = now.at_s - before.at_s
    tokens = _gained(before.counters.generation_tokens, now.counters.generation_tokens)
    return Figures(
        running=_whole(now.counters.running),
        waiting=_whole(now.counters.waiting),
        kv_share=now.kv_share,
        delivered_tps=tokens / seconds if tokens is not None and seconds > 0 else None,
        steps_per_canvas=steps_per_canvas,
    )


def steps_between(before: Counters, after: Counters) -> float | None:
    """Canvas positions ÷ committed tokens − 1 between two idle readings; None where no canvas was committed."""
    positions = _gained(before.canvas_positions, after.canvas_positions)
    committed = _gained(before.committed_tokens, after.committed_tokens)
    steps = positions / committed - 1 if positions and committed else None
    return steps if steps is not None and steps > 0 else None


def _gained(before: float | None, now: float | None) -> float | None:
    """None where a value is missing, or where the server was restarted in between."""
    return None if before is None or now is None or now < before else now - before


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
