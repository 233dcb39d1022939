"""What is kept with a run so that somebody can repeat it or doubt it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from exercises import conditions
from exercises.client import request_body
from exercises.endpoint import Endpoint
from exercises.metrics import Counters
from exercises.records import NotMeasurable
from exercises.stream import StreamOutcome
from exercises.tasks import PreparedTask, Task

Reading = Counters | NotMeasurable


def run_evidence(
    task: Task,
    endpoint: Endpoint,
    prepared: PreparedTask,
    outcome: StreamOutcome,
    version: str | None,
    before: Reading,
    after: Reading,
    *,
    streams: int,
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    """JSON-ready, without the API key. What the launcher knows (endpoint.evidence) comes first and is not replaced by
    less: weights is the model as the server loaded it, model the name that requests carry."""
    request = request_body(endpoint.model, (), task.max_tokens, extra=extra)
    del request["messages"]
    evidence: dict[str, Any] = {
        **endpoint.evidence,
        "model": endpoint.model,
        "weights": endpoint.evidence.get("model"),
        "prompt": prepared.prompt_text,
        "images": [{"sha256": hashlib.sha256(png).hexdigest(), "bytes": len(png)} for png in prepared.images],
        "seed": prepared.seed,
        "prepared": dict(prepared.facts),
        "max_tokens": task.max_tokens,
        "request": request,
        "streams": streams,
        "sent_at_monotonic_s": outcome.sent_at,
        "server": {"url": endpoint.public_root, "vllm_version": version, **outcome.server},
        "finish_reason": outcome.finish_reason,
        "ended": outcome.ended,
        "error": outcome.error,
        "counters": {"before": _reading(before), "after": _reading(after)},
        "prefix_cache": conditions.prefix_cache(before, after, outcome.timeline.prompt_tokens),
        "traffic": conditions.traffic(before, after, outcome.timeline.completion_tokens),
        "thinking": conditions.thinking(endpoint.evidence, request, len(outcome.reasoning)),
        "step_cap": conditions.step_cap(endpoint.evidence, request),
        "raw": {"lines": [raw_line(at_s, data) for at_s, data in outcome.raw], "cut": outcome.raw_cut},
    }
    cleaned: dict[str, Any] = without_key(endpoint.api_key, evidence)
    return cleaned


def raw_line(at_s: float, data: str) -> str:
    """An event as exercises/trace.py reads it; a line break within JSON is as good as a blank."""
    return f"[{at_s!r}] data: {' '.join(data.splitlines())}"


def without_key(key: str | None, value: Any) -> Any:
    """The value with the key taken out of every text in it: a server may repeat a key in its error message."""
    if not key:
        return value
    if isinstance(value, str):
        return value.replace(key, "[api key]")
    if isinstance(value, dict):
        return {name: without_key(key, item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_key(key, item) for item in value]
    return value


def _reading(reading: Reading) -> dict[str, Any]:
    return {"reason": reading.reason} if isinstance(reading, NotMeasurable) else dict(reading.to_json())
