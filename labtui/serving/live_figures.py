"""What a running server is doing right now, from its metrics page."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import dataclass, replace

import httpx

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.metrics import Counters, parse_metrics
from labtui.serving.stall import Progress, Sign, progressed

PAGE_TIMEOUT_S = 2.0
WINDOW_S = 5.0

_SAMPLE = re.compile(
    r"^vllm:(kv_cache_usage_perc|num_preemptions_total|(?:time_to_first_token|inter_token_latency)_seconds_(?:sum|count))"
    r"(?:\{.*\})? ([0-9.eE+-]+)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at the page. at_s: monotonic clock. kv_share: 0 to 1, the fullest engine's.

    first_canvases, first_canvas_seconds: answers that have begun, and how long their beginnings took together.
    """

    at_s: float
    counters: Counters
    kv_share: float | None = None
    preemptions: float | None = None
    first_canvases: float | None = None
    first_canvas_seconds: float | None = None
    later_canvases: float | None = None
    later_canvas_seconds: float | None = None

    @property
    def sign(self) -> Sign:
        counted = self.counters
        return Sign(
            self.at_s,
            counted.running,
            counted.generation_tokens,
            counted.forwards,
            self.later_canvases,
            self.later_canvas_seconds,
            self.first_canvases,
            self.first_canvas_seconds,
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """None where the page does not have it, or nothing shows it yet.

    delivered_tps: tokens that all requests received per second, over the last WINDOW_S seconds at most.
    steps_per_canvas: as the design defines it, over the last window that started and ended idle, whoever's canvases
    they were. canvas_fill: delivered ÷ committed tokens over that window.
    first_canvas_s: request sent to first content, the mean of the answers that began last.
    prefix_cache_share: of the prompt tokens since the server started, those that were in the cache.
    preemptions: requests that lost their KV cache to others since the server started.
    stalled_s: how long the running requests have got nothing, where that is much longer than their last canvas took.
    """

    running: int | None = None
    waiting: int | None = None
    kv_share: float | None = None
    delivered_tps: float | None = None
    steps_per_canvas: float | None = None
    canvas_fill: float | None = None
    first_canvas_s: float | None = None
    prefix_cache_share: float | None = None
    preemptions: int | None = None
    stalled_s: float | None = None


@dataclass(frozen=True, slots=True)
class Canvases:
    """Of a window that started and ended idle."""

    steps: float | None = None
    fill: float | None = None


class FigureReader:
    """Reads one server's page again and again. Used from one thread at a time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = endpoint.http_client(httpx.Timeout(PAGE_TIMEOUT_S))
        self._url = endpoint.url("/metrics")
        self._readings: deque[Reading] = deque()
        self._idle: Counters | None = None
        self._canvases = Canvases()
        self._first_canvas_s: float | None = None
        self._progress: Progress | None = None

    def look(self) -> Figures:
        """All None where the page cannot be read; never raises for what the server does."""
        reading = self._read()
        if reading is None:
            self._readings.clear()
            self._idle, self._canvases, self._first_canvas_s, self._progress = None, Canvases(), None, None
            return Figures()
        return self.take(reading)

    def take(self, reading: Reading) -> Figures:
        """The figures with one more reading."""
        if self._readings:
            self._first_canvas_s = _first_canvas(self._readings[-1], reading) or self._first_canvas_s
        self._readings.append(reading)
        while reading.at_s - self._readings[0].at_s > WINDOW_S:
            self._readings.popleft()
        if reading.counters.running is not None and not reading.counters.busy:
            if self._idle is not None:
                self._canvases = canvases_between(self._idle, reading.counters) or self._canvases
            self._idle = reading.counters
        self._progress = progressed(self._progress, reading.sign)
        seen = figures(self._readings[0], reading, self._canvases.steps)
        return replace(
            seen,
            canvas_fill=self._canvases.fill,
            first_canvas_s=self._first_canvas_s,
            stalled_s=self._progress.stalled_s(),
        )

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
    found: dict[str, list[float]] = {}
    for name, value in _SAMPLE.findall(text):
        found.setdefault(name, []).append(float(value))

    def total(name: str) -> float | None:
        return sum(found[name]) if name in found else None

    return Reading(
        at_s,
        parse_metrics(text),
        max(found["kv_cache_usage_perc"]) if "kv_cache_usage_perc" in found else None,
        total("num_preemptions_total"),
        total("time_to_first_token_seconds_count"),
        total("time_to_first_token_seconds_sum"),
        total("inter_token_latency_seconds_count"),
        total("inter_token_latency_seconds_sum"),
    )


def look_once(url: str, timeout_s: float = PAGE_TIMEOUT_S) -> Reading | None:
    """One look at a server of this machine, None where its page cannot be read. vLLM wants no key for it."""
    try:
        answer = httpx.get(f"{url}/metrics", timeout=timeout_s, trust_env=False, verify=url.startswith("https:"))
        return read_page(answer.text, time.monotonic()) if answer.status_code == httpx.codes.OK else None
    except (httpx.HTTPError, httpx.InvalidURL, ExerciseError):
        return None


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
        prefix_cache_share=_share(now.counters.prefix_cache_hits, now.counters.prefix_cache_queries),
        preemptions=_whole(now.preemptions),
    )


def canvases_between(before: Counters, after: Counters) -> Canvases | None:
    """None where no canvas was committed in between."""
    steps = steps_between(before, after)
    fill = _share(
        _gained(before.generation_tokens, after.generation_tokens),
        _gained(before.committed_tokens, after.committed_tokens),
    )
    return None if steps is None and fill is None else Canvases(steps, fill)


def steps_between(before: Counters, after: Counters) -> float | None:
    """Canvas positions ÷ committed tokens − 1 between two idle readings; None where no canvas was committed."""
    positions = _gained(before.canvas_positions, after.canvas_positions)
    committed = _gained(before.committed_tokens, after.committed_tokens)
    steps = positions / committed - 1 if positions and committed else None
    return steps if steps is not None and steps > 0 else None


def _first_canvas(before: Reading, now: Reading) -> float | None:
    return _share(
        _gained(before.first_canvas_seconds, now.first_canvas_seconds),
        _gained(before.first_canvases, now.first_canvases),
    )


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _gained(before: float | None, now: float | None) -> float | None:
    """None where a value is missing, or where the server was restarted in between."""
    return None if before is None or now is None or now < before else now - before


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
