from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exercises.intervals import FEWEST, LEVEL, Interval, Ratio, median_interval, median_ratio
from exercises.records import NotMeasurable

NUMBERS = st.lists(st.floats(0.001, 1e6), min_size=FEWEST, max_size=30)


@given(NUMBERS)
def test_the_interval_holds_the_median_and_lies_within_the_values(values):
    interval = median_interval(values)
    assert isinstance(interval, Interval)
    assert min(values) <= interval.low <= statistics.median(values) <= interval.high <= max(values)
    assert LEVEL <= interval.coverage < 1


@given(NUMBERS, st.randoms(use_true_random=False))
def test_the_same_values_give_the_same_interval_in_whatever_order(values, rng):
    other = list(values)
    rng.shuffle(other)
    assert median_interval(values) == median_interval(other)


@given(st.lists(st.floats(0.001, 1e6), max_size=FEWEST - 1))
def test_too_few_values_have_no_interval_and_say_so(values):
    said = median_interval(values)
    assert said == NotMeasurable(f"too few runs for an interval: {len(values)}, it needs 6")


def test_a_value_that_is_no_number_has_no_interval():
    assert isinstance(median_interval([*range(6), math.nan]), NotMeasurable)


@pytest.mark.parametrize(
    ("n", "low", "high", "coverage"),
    # The tables of the sign test: n = 6 to 8 the lowest and highest, 9 to 11 the second, 12 the third, 20 the sixth.
    [(6, 1, 6, 0.96875), (8, 1, 8, 0.9921875), (9, 2, 8, 0.9609375), (12, 3, 10, 0.961426), (20, 6, 15, 0.958611)],
)
def test_the_ranks_are_those_of_the_binomial_table(n, low, high, coverage):
    interval = median_interval(range(1, n + 1))
    assert (interval.low, interval.high) == (low, high)
    assert interval.coverage == pytest.approx(coverage, abs=1e-6)


@pytest.mark.parametrize("n", [6, 7, 9, 15])
def test_it_holds_the_true_median_as_often_as_it_says(n):
    """Skewed times as a server gives them; the true median of this distribution is 1."""
    rng = random.Random(n)
    rounds = 4000
    intervals = [median_interval([rng.lognormvariate(0, 0.5) for _ in range(n)]) for _ in range(rounds)]
    held = sum(one.low <= 1 <= one.high for one in intervals) / rounds
    # Three standard errors of a share near 0.95 from 4,000 rounds are 0.01.
    assert held == pytest.approx(intervals[0].coverage, abs=0.011)


@pytest.mark.parametrize(("ones", "twos"), [(6, 6), (6, 12), (10, 10)])
def test_the_interval_of_a_ratio_holds_the_true_ratio_at_least_as_often_as_it_says(ones, twos):
    rng = random.Random(ones * twos)
    rounds = 2000
    ratios = [
        median_ratio(
            [rng.lognormvariate(0, 0.5) for _ in range(ones)], [2 * rng.lognormvariate(0, 0.5) for _ in range(twos)]
        )
        for _ in range(rounds)
    ]
    held = sum(one.interval.low <= 2 <= one.interval.high for one in ratios) / rounds
    assert held >= ratios[0].interval.coverage >= 0.9374


def test_a_ratio_of_few_values_has_no_interval():
    ratio = median_ratio([100.0, 101.0, 99.0], [200.0, 202.0, 198.0])
    assert isinstance(ratio, Ratio)
    assert ratio.value == 2.0
    assert ratio.interval == NotMeasurable("too few runs for an interval: 3, it needs 6")


def test_a_ratio_is_not_made_from_what_cannot_give_one():
    assert isinstance(median_ratio([], [1.0, 2.0]), NotMeasurable)
    assert isinstance(median_ratio([0.0, 1.0], [1.0, 2.0]), NotMeasurable)


@settings(max_examples=50)
@given(NUMBERS, NUMBERS)
def test_a_ratio_is_positive_and_within_its_interval(first, second):
    ratio = median_ratio(first, second)
    assert 0 < ratio.interval.low <= ratio.value <= ratio.interval.high
