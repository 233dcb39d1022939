"""vLLM's counters: read from a metrics page, and what they say about one request."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, fields

from prometheus_client.parser import text_string_to_metric_families

from exercises.errors import ExerciseError
from exercises.records import CounterWindow, NotMeasurable

WANTED_SAMPLES = {
    "vllm:diffusion_num_denoising_steps_total": "forwards",
    "vllm:diffusion_num_canvas_positions_total": "canvas_positions",
    "vllm:diffusion_num_committed_tokens_total": "committed_tokens",
    "vllm:generation_tokens_total": "generation_tokens",
    "vllm:prompt_tokens_total": "prompt_tokens",
    "vllm:prefix_cache_queries_total": "prefix_cache_queries",
    "vllm:prefix_cache_hits_total": "prefix_cache_hits",
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
}
"""Names in vLLM 0.24 to 0.33 (vllm/v1/metrics/loggers.py, vllm/v1/spec_decode/metrics.py)."""

_WANTED = re.compile(rf"^(?:{'|'.join(WANTED_SAMPLES)})[ \t{{].*$", re.MULTILINE)
_STRANGE = re.compile(
    r"^(?!\r?$|#|[A-Za-z_:][\w:]*(?:\{.*\})?[ \t]+[+-]?(?:\d[\d.]*(?:[eE][+-]?\d+)?|Inf|NaN)(?:[ \t]+-?\d+)?\r?$)",
    re.MULTILINE,
)
"""A line that is neither empty nor a comment nor the plain form of a sample."""


@dataclass(frozen=True, slots=True)
class Counters:
    """One reading, each value summed over engines and models; None where the page does not have it.

    forwards counts denoising and commit passes together.
    """

    forwards: float | None = None
    canvas_positions: float | None = None
    committed_tokens: float | None = None
    generation_tokens: float | None = None
    prompt_tokens: float | None = None
    prefix_cache_queries: float | None = None
    prefix_cache_hits: float | None = None
    running: float | None = None
    waiting: float | None = None

    @property
    def busy(self) -> int:
        """Requests that run or wait; 0 where the page does not say."""
        return int((self.running or 0) + (self.waiting or 0))

    @property
    def diffusion(self) -> bool:
        return None not in (self.forwards, self.canvas_positions, self.committed_tokens)

    def to_json(self) -> dict[str, float | None]:
        return asdict(self)


def parse_metrics(text: str) -> Counters:
    """Raises ExerciseError where the text is no metrics page.

    A page has some 600 samples, of which nine are wanted: only their lines go through the parser, unless a line
    somewhere on the page is not in the plain form.
    """
    sums: dict[str, float] = {}
    wanted = text if _STRANGE.search(text) else "\n".join(_WANTED.findall(text)) + "\n"
    try:
        for family in text_string_to_metric_families(wanted):
            for sample in family.samples:
                name = WANTED_SAMPLES.get(sample.name)
                if name is not None and math.isfinite(sample.value):
                    sums[name] = sums.get(name, 0.0) + sample.value
    except Exception as fault:
        # The parser of prometheus_client raises whatever its string handling stumbles over.
        raise ExerciseError(
            "The metrics page cannot be read",
            f"it is not in the Prometheus text format ({fault})",
            "Check that the address is the one of a vLLM server.",
        ) from fault
    return Counters(**sums)


def counter_window(
    before: Counters, after: Counters, own_completion_tokens: int | None
) -> CounterWindow | NotMeasurable:
    """What the counters gained between two readings, where all of it is the work of one own request.

    Not measurable, with its reason: no diffusion counters, a window that does not start and end idle, tokens of other
    requests in it, or a server that was restarted within it.
    """
    if not (before.diffusion and after.diffusion):
        return NotMeasurable("this server's metrics page has no diffusion counters")
    if own_completion_tokens is None:
        edge = _busy_edge(before, after)
        unsaid = "the server did not say how many tokens are ours, so other traffic cannot be ruled out"
        return NotMeasurable(f"other traffic: {edge}" if edge else unsaid)
    others = other_traffic(before, after, own_completion_tokens)
    if isinstance(others, NotMeasurable):
        return others
    if others is not None:
        return NotMeasurable(f"other traffic: {others}")
    counted = gained(before, after)
    if counted["committed_tokens"] == 0:
        return NotMeasurable("the counters show no committed canvas")
    return CounterWindow(**{field.name: counted[field.name] for field in fields(CounterWindow)})


def other_traffic(before: Counters, after: Counters, own_completion_tokens: int) -> str | NotMeasurable | None:
    """What other requests did within the window, None where there were none.

    Not measurable where the page does not count tokens, the server was restarted, or the counters lag behind.
    """
    if before.generation_tokens is None or after.generation_tokens is None:
        return NotMeasurable("this server's metrics page does not count generated tokens")
    edge = _busy_edge(before, after)
    if edge is not None:
        return edge
    counted = gained(before, after)
    if min(counted.values()) < 0:
        return NotMeasurable("the counters ran backwards: the server was restarted within the window")
    tokens = counted["generation_tokens"]
    if tokens > own_completion_tokens:
        return f"the server delivered {tokens:.0f} tokens in the window, {own_completion_tokens} of them for this run"
    if tokens < own_completion_tokens:
        return NotMeasurable(f"the counters show {tokens:.0f} tokens where this run received {own_completion_tokens}")
    return None


def prefix_cache_hits(before: Counters, after: Counters) -> tuple[float, float] | None:
    """Prompt tokens looked up in the prefix cache within the window, and those found there; None where not counted."""
    counted = gained(before, after)
    if "prefix_cache_queries" not in counted or "prefix_cache_hits" not in counted:
        return None
    return counted["prefix_cache_queries"], counted["prefix_cache_hits"]


def gained(before: Counters, after: Counters) -> dict[str, float]:
    """What each counter gained, by its name in Counters; those that the page does not have are left out."""
    old, new = before.to_json(), after.to_json()
    gains = {}
    for name in set(old) - {"running", "waiting"}:
        was, now = old[name], new[name]
        if was is not None and now is not None:
            gains[name] = now - was
    return gains


def _busy_edge(before: Counters, after: Counters) -> str | None:
    for edge, reading in (("began", before), ("ended", after)):
        if reading.busy:
            return f"{_requests(reading)} when the window {edge}"
    return None


def _requests(reading: Counters) -> str:
    return f"{reading.running or 0:.0f} running and {reading.waiting or 0:.0f} waiting requests"
