from __future__ import annotations

import pytest

from exercises.conditions import prefix_cache, step_cap, thinking, traffic
from exercises.metrics import Counters
from exercises.records import NotMeasurable

BEFORE = Counters(0, 0, 0, 100, 40, 40, 0, 0, 0)


def after(generation=200, prompt=60, queries=60, hits=0, running=0):
    return Counters(17, 17 * 256, 256, generation, prompt, queries, hits, running, 0)


@pytest.mark.parametrize(
    ("reading", "own_prompt", "state"),
    [
        (after(), 20, "cold"),
        (after(hits=16), 20, "warm"),
        (after(queries=40), 20, "off"),
        (after(prompt=80, queries=80, hits=16), 20, "unknown"),
        (after(), None, "unknown"),
        (Counters(generation_tokens=200), 20, "unknown"),
        (NotMeasurable("no page"), 20, "unknown"),
    ],
)
def test_the_prefix_cache_is_proved_by_what_the_counters_gained(reading, own_prompt, state):
    found = prefix_cache(BEFORE, reading, own_prompt)
    assert found["state"] == state
    assert bool(found["reason"]) == (state in ("unknown", "off"))


def test_the_proof_is_kept():
    assert prefix_cache(BEFORE, after(hits=16), 20) == {
        "state": "warm",
        "queried_tokens": 20,
        "hit_tokens": 16,
        "reason": None,
    }


@pytest.mark.parametrize(
    ("reading", "own", "state", "reason"),
    [
        (after(), 100, "alone", None),
        (after(generation=260), 100, "shared", "delivered 160 tokens in the window, 100 of them for this run"),
        (after(running=1), 100, "shared", "1 running and 0 waiting requests when the window ended"),
        (after(generation=150), 100, "unknown", "counters show 50 tokens"),
        (after(), None, "unknown", "how many tokens are ours"),
        (NotMeasurable("no page"), 100, "unknown", "no page"),
    ],
)
def test_other_traffic_is_said(reading, own, state, reason):
    found = traffic(BEFORE, reading, own)
    assert found["state"] == state
    assert found["reason"] is None if reason is None else reason in found["reason"]


def test_traffic_is_known_on_a_server_without_diffusion_counters():
    before, later = Counters(generation_tokens=5, running=0), Counters(generation_tokens=25, running=0)
    assert traffic(before, later, 20)["state"] == "alone"


LAUNCHED = {"command": ["vllm", "serve", "m"]}
THINKS = {"command": ["vllm", "serve", "m", "--default-chat-template-kwargs", '{"enable_thinking": true}']}


@pytest.mark.parametrize(
    ("evidence", "request_body", "reasoning", "state"),
    [
        (LAUNCHED, {}, 0, "off"),
        (THINKS, {}, 0, "on"),
        (THINKS, {"chat_template_kwargs": {"enable_thinking": False}}, 0, "off"),
        (LAUNCHED, {}, 12, "on"),
        ({}, {}, 0, "unknown"),
        ({"command": ["--default-chat-template-kwargs", "{broken"]}, {}, 0, "off"),
    ],
)
def test_thinking_on_or_off(evidence, request_body, reasoning, state):
    assert thinking(evidence, request_body, reasoning)["state"] == state


def test_the_cap_in_force_is_that_of_the_request_before_that_of_the_server():
    known = {"max_denoising_steps": {"steps": 48, "source": "generation_config.json"}}
    assert step_cap(known, {}) == {"steps": 48, "source": "generation_config.json"}
    assert step_cap(known, {"vllm_xargs": {"diffusion_max_steps": 8}})["steps"] == 8
    assert step_cap({}, {})["steps"] is None
