from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.records import Chunk, CounterWindow, NotMeasurable, Speed, Timeline
from exercises.speed import (
    DEFINITIONS,
    REASON_KEYS,
    format_rate,
    format_seconds,
    gaps,
    speed_from_json,
    speed_lines,
    speed_of,
    speed_to_json,
)

RATES = ("wall_s", "first_canvas_s", "end_to_end_tps", "after_first_canvas_tps", "steps_per_canvas", "canvas_fill")


def timeline(*chunks: tuple[float, int | None], completion: int | None = None, **more) -> Timeline:
    told = [tokens for _, tokens in chunks]
    total = sum(tokens or 0 for tokens in told) if completion is None and None not in told else completion
    return Timeline(tuple(Chunk(at_s, tokens, 10) for at_s, tokens in chunks), 20, total, **more)


CASE_A = timeline((0.9, 180))
CASE_B = timeline((1.0, 256), (1.5, 256), (2.0, 188))


def test_one_canvas_has_an_end_to_end_rate_and_no_rate_after_it():
    speed = speed_of(CASE_A)
    assert speed.end_to_end_tps == pytest.approx(200)
    assert speed.first_canvas_s == speed.wall_s == 0.9
    assert speed.after_first_canvas_tps == NotMeasurable("one canvas")
    assert (speed.canvases, gaps(speed)) == (1, 0)
    assert format_rate(speed.after_first_canvas_tps) == "not measurable: one canvas"


def test_three_canvases_leave_the_tokens_of_the_first_out():
    speed = speed_of(CASE_B)
    assert speed.end_to_end_tps == pytest.approx(350)
    assert speed.after_first_canvas_tps == pytest.approx(444)
    assert (speed.first_canvas_s, speed.wall_s, gaps(speed)) == (1.0, 2.0, 2)
    assert speed.after_first_canvas_note is None


def test_the_counters_give_steps_without_the_commit_pass_and_the_fill():
    # 4 canvases of 256 with 17 passes each, 1,000 of 1,024 committed tokens delivered
    window = CounterWindow(forwards=68, canvas_positions=68 * 256, committed_tokens=1024, generation_tokens=1000)
    speed = speed_of(timeline((1.0, 1000), counters=window))
    assert speed.steps_per_canvas == 16
    assert speed.canvas_fill == 1000 / 1024


@pytest.mark.parametrize(
    ("case", "rate", "reason"),
    [
        (timeline(), "end_to_end_tps", "no content arrived"),
        (timeline((0.5, None), (0.9, None)), "end_to_end_tps", "did not say how many tokens it delivered"),
        (timeline((0.5, None), (0.9, None), completion=64), "after_first_canvas_tps", "the first canvas brought"),
        (timeline((0.5, 0), (0.9, 64)), "after_first_canvas_tps", "no tokens for the first canvas"),
        (timeline((0.5, 64), (0.9, 0)), "after_first_canvas_tps", "no tokens after the first canvas"),
        (timeline((0.0, 64)), "end_to_end_tps", "before the request was sent"),
        (timeline((-1.0, 64)), "first_canvas_s", "before the request was sent"),
        (timeline((0.9, 64), (0.5, 64)), "end_to_end_tps", "run backwards"),
        (timeline((math.nan, 64)), "wall_s", "not a number"),
        (timeline((math.inf, 64)), "end_to_end_tps", "not a number"),
        (timeline((0.5, 64), (0.9, -4)), "end_to_end_tps", "ran backwards"),
        (timeline((0.5, 64), (0.9, 64), completion=100), "after_first_canvas_tps", "more tokens than"),
        (timeline((0.5, 0), completion=0), "end_to_end_tps", "counted no tokens"),
        (timeline((0.5, 10**400), completion=10**400), "end_to_end_tps", "beyond any real server"),
        (timeline((5e-324, 64)), "end_to_end_tps", "beyond any real server"),
    ],
)
def test_what_cannot_be_measured_says_why(case, rate, reason):
    value = getattr(speed_of(case), rate)
    assert isinstance(value, NotMeasurable)
    assert reason in value.reason


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        (CounterWindow(0, 0, 0, 0), "no committed canvas"),
        (CounterWindow(17, 4352, 0, 0), "no committed canvas"),
        (CounterWindow(1, 256, 256, 256), "no denoising pass"),
        (CounterWindow(1, 100, 256, 256), "no denoising pass"),
        (CounterWindow(-1, -256, -256, -256), "not what counters can be"),
        (CounterWindow(1, math.nan, 256, 256), "not what counters can be"),
        (NotMeasurable("other traffic"), "other traffic"),
    ],
)
def test_counters_that_make_no_sense_give_no_steps(window, reason):
    value = speed_of(timeline((1.0, 64), counters=window)).steps_per_canvas
    assert isinstance(value, NotMeasurable)
    assert reason in value.reason


def test_more_delivered_than_committed_tokens_are_no_fill():
    window = CounterWindow(17, 17 * 256, 256, 300)
    assert isinstance(speed_of(timeline((1.0, 300), counters=window)).canvas_fill, NotMeasurable)


class TestEventsThatArriveTogether:
    def test_a_split_canvas_is_no_rate(self):
        speed = speed_of(timeline((0.9, 64), (0.9, 64), (0.9, 64), (0.9, 64)))
        assert speed.after_first_canvas_tps == NotMeasurable("all 4 chunks arrived within 5 ms")
        assert speed.end_to_end_tps == pytest.approx(256 / 0.9)

    def test_a_few_tenths_of_a_millisecond_are_no_time(self):
        value = speed_of(timeline((0.9, 64), (0.9003, 64), (0.9006, 64), (0.9012, 64))).after_first_canvas_tps
        assert isinstance(value, NotMeasurable)

    def test_split_canvases_would_count_what_came_before_the_clock_started(self):
        # two canvases of 256 in four events each: 512 tok/s in truth, 896 by the bare formula
        value = speed_of(timeline(*[(1.0, 64)] * 4, *[(1.5, 64)] * 4)).after_first_canvas_tps
        assert isinstance(value, NotMeasurable)
        assert "4 of 8 chunks arrived together" in value.reason

    def test_two_canvases_in_one_read_are_told_beside_the_rate(self):
        speed = speed_of(timeline((0.269, 64), (0.269, 64), (0.376, 64), (0.599, 64), (0.709, 32)))
        assert speed.after_first_canvas_tps == pytest.approx(224 / 0.44)
        assert speed.after_first_canvas_note == (
            "2 canvases arrived together at the start; with the clock started after them all: 364 tok/s"
        )

    def test_a_model_that_sends_token_by_token_is_measured_as_usual(self):
        speed = speed_of(timeline(*[(0.05 + 0.002 * n, 1) for n in range(1001)]))
        assert speed.after_first_canvas_tps == pytest.approx(500)
        assert speed.after_first_canvas_note is None


anything = st.floats(allow_nan=True, allow_infinity=True)
sensible_times = st.floats(min_value=0.001, max_value=1000)
token_counts = st.one_of(st.none(), st.integers(-10, 300), st.integers())
counters = st.one_of(
    st.builds(CounterWindow, anything, anything, anything, anything),
    st.builds(CounterWindow, *[st.integers(0, 10**6).map(float)] * 4),
    st.builds(NotMeasurable, st.text()),
)
timelines = st.builds(
    Timeline,
    st.lists(st.builds(Chunk, st.one_of(anything, sensible_times), token_counts, st.integers(0, 100)), max_size=8).map(
        tuple
    ),
    token_counts,
    token_counts,
    counters,
)
orderly_timelines = st.builds(
    lambda steps, counted: timeline(
        *[(sum(step for step, _ in steps[: n + 1]), tokens) for n, (_, tokens) in enumerate(steps)], counters=counted
    ),
    st.lists(st.tuples(st.floats(0.001, 10), st.integers(1, 256)), min_size=1, max_size=8),
    counters,
)


@given(st.one_of(timelines, orderly_timelines))
def test_no_timeline_raises_or_gives_zero_negative_or_infinite_rates(case):
    speed = speed_of(case)
    for key in (*RATES, "prompt_tokens", "completion_tokens"):
        value = getattr(speed, key)
        if isinstance(value, NotMeasurable):
            assert isinstance(value.reason, str)
        else:
            assert value > 0
            assert not isinstance(value, float) or math.isfinite(value)
    for line in speed_lines(speed):
        assert line.key == "canvases" or not line.value.startswith(("0 ", "inf", "nan", "-"))


@given(orderly_timelines)
def test_the_rates_are_the_definitions(case):
    speed = speed_of(case)
    first, last = case.chunks[0], case.chunks[-1]
    assert speed.end_to_end_tps == pytest.approx(case.completion_tokens / last.at_s)
    assert speed.first_canvas_s == first.at_s
    if not isinstance(speed.after_first_canvas_tps, NotMeasurable):
        bare = (case.completion_tokens - first.tokens) / (last.at_s - first.at_s)
        assert speed.after_first_canvas_tps == pytest.approx(bare)
        # never more than half as much again as what arrived after the first instant
        later = sum(chunk.tokens for chunk in case.chunks if chunk.at_s - first.at_s >= 0.005)
        assert bare <= later / (last.at_s - first.at_s) * 1.5 + 1e-6


@given(st.one_of(timelines, orderly_timelines))
def test_json_keeps_every_value_and_every_reason(case):
    speed = speed_of(case)
    data = speed_to_json(speed)
    assert speed_from_json(data) == speed
    for key, reason_key in REASON_KEYS.items():
        assert (data[key] is None) == (data[reason_key] is not None)


def test_json_has_the_documented_keys():
    assert set(speed_to_json(speed_of(CASE_A))) >= {
        "prompt_tokens", "completion_tokens", "wall_s", "first_canvas_s", "canvases", "end_to_end_tps",
        "after_first_canvas_tps", "after_first_canvas_reason", "after_first_canvas_gaps", "steps_per_canvas",
        "steps_per_canvas_reason", "canvas_fill",
    }  # fmt: skip
    assert speed_to_json(speed_of(CASE_A))["after_first_canvas_reason"] == "one canvas"


def test_every_line_on_screen_has_its_definition():
    assert set(DEFINITIONS) == {line.key for line in speed_lines(speed_of(CASE_B))} | {"after_first_canvas_gaps"}
    shown = {line.key: line.value for line in speed_lines(speed_of(CASE_B))}
    assert shown["end_to_end_tps"] == "350 tok/s"
    assert shown["after_first_canvas_tps"] == "444 tok/s (2 gaps)"
    assert shown["steps_per_canvas"] == "not measurable: no metrics page was read"


def test_the_definitions_are_the_formulas():
    """Words against arithmetic: the help text computes what speed_of computes, on recorded arrivals."""
    chunks, completion = CASE_B.chunks, CASE_B.completion_tokens
    assert "Completion tokens ÷ (last content byte − request sent)" in DEFINITIONS["end_to_end_tps"]
    assert speed_of(CASE_B).end_to_end_tps == completion / (chunks[-1].at_s - 0)
    assert (
        "(Completion tokens − tokens of the first chunk) ÷ (last chunk − first chunk)"
        in (DEFINITIONS["after_first_canvas_tps"])
    )
    by_hand = Fraction(completion - chunks[0].tokens) / Fraction(chunks[-1].at_s - chunks[0].at_s)
    assert speed_of(CASE_B).after_first_canvas_tps == float(by_hand)


@pytest.mark.parametrize(
    ("rate", "shown"),
    [(1144.0, "1,144 tok/s"), (512.4, "512 tok/s"), (99.84, "99.8 tok/s"), (0.00123, "0.00123 tok/s")],
)
def test_rates_are_shown_with_three_digits_and_never_as_zero(rate, shown):
    assert format_rate(rate) == shown


def test_seconds_are_shown_alike():
    assert format_seconds(0.2744) == "0.274 s"
    assert format_seconds(NotMeasurable("no content arrived")) == "not measurable: no content arrived"


def test_a_speed_is_plain_data():
    assert isinstance(speed_of(CASE_A), Speed)
