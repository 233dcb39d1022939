"""labtui's client as `labtui run` uses it, and the least that one could write with httpx instead."""

from __future__ import annotations

import json
import time

import httpx

from exercises.endpoint import Endpoint
from exercises.records import NotMeasurable
from exercises.running import run_task
from exercises.tasks import Task, Variant

Rate = float


def labtui_client(endpoint: Endpoint, prompt: str, max_tokens: int) -> Rate:
    """End-to-end tok/s of one request, with everything around it that a run does."""
    task = Task(
        id="compare",
        set_id="benchmarks",
        kind="prose",
        title="Compare clients",
        body="One prompt.",
        max_tokens=max_tokens,
        practice=endpoint.practice,
        checker_type="text",
        variants=(Variant(prompt, {}),),
    )
    run = run_task(task, endpoint, seed=0)
    rate = run.speed.end_to_end_tps
    if isinstance(rate, NotMeasurable):
        raise SystemExit(f"labtui could not measure {prompt!r}: {rate.reason}")
    return rate


class BareLoop:
    """One httpx client for all requests, so that its clock, which starts before the sending, holds no connecting."""

    def __init__(self, endpoint: Endpoint) -> None:
        headers = {} if endpoint.api_key is None else {"Authorization": f"Bearer {endpoint.api_key}"}
        self._client = httpx.Client(headers=headers, timeout=300, trust_env=False)

    def __call__(self, endpoint: Endpoint, prompt: str, max_tokens: int) -> Rate:
        body = {
            "model": endpoint.model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        tokens, last = 0, 0.0
        began = time.perf_counter()
        with self._client.stream("POST", endpoint.url("/v1/chat/completions"), json=body) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                now = time.perf_counter()
                if not line.startswith("data: {"):
                    continue
                event = json.loads(line.removeprefix("data: "))
                if any(choice["delta"].get("content") for choice in event["choices"]):
                    last = now
                if event.get("usage"):
                    tokens = event["usage"]["completion_tokens"]
        return tokens / (last - began)
