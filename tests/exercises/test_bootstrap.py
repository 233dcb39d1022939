from __future__ import annotations

import statistics

from hypothesis import given, settings
from hypothesis import strategies as st

from exercises.bootstrap import Interval, Ratio, median_interval, median_ratio
from exercises.records import NotMeasurable

NUMBERS = st.lists(st.floats(0.001, 1e6), min_size=2, max_size=8)


@settings(max_examples=25, deadline=None)
@given(NUMBERS)
def test_the_interval_holds_the_median_and_lies_within_the_values(values):
    interval = median_interval(values)
    assert isinstance(interval, Interval)
    assert min(values) <= interval.low <= statistics.median(values) <= interval.high <= max(values)


@settings(max_examples=10, deadline=None)
@given(NUMBERS, st.randoms(use_true_random=False))
def test_the_same_values_give_the_same_interval_in_whatever_order(values, rng):
    other = list(values)
    rng.shuffle(other)
    assert median_interval(values) == median_interval(other)


def test_more_values_make_it_narrower():
    few = median_interval([90.0, 95.0, 100.0, 105.0, 110.0])
    many = median_interval([90.0 + number / 10 for number in range(201)])
    assert few.high - few.low > 2 * (many.high - many.low)
    # Five equal steps around 100: the median of a draw is the lowest value in 1 of 17 draws.
    assert (few.low, few.high) == (90.0, 110.0)
    assert 96 < many.low < 100 < many.high < 104


def test_one_value_has_no_interval():
    assert median_interval([3.0]) == NotMeasurable("one value has no spread")
    assert median_interval([]) == NotMeasurable("there is no value")
    assert isinstance(median_interval([1.0, float("nan")]), NotMeasurable)


def test_the_ratio_of_two_medians_has_its_interval():
    ratio = median_ratio([100.0, 101.0, 99.0, 100.0], [200.0, 202.0, 198.0, 200.0])
    assert isinstance(ratio, Ratio)
    assert ratio.value == 2.0
    assert 1.95 < ratio.interval.low <= 2.0 <= ratio.interval.high < 2.05


def test_a_ratio_is_not_made_from_what_cannot_give_one():
    assert isinstance(median_ratio([1.0], [1.0, 2.0]), NotMeasurable)
    assert isinstance(median_ratio([0.0, 1.0], [1.0, 2.0]), NotMeasurable)


@settings(max_examples=15, deadline=None)
@given(NUMBERS, NUMBERS)
def test_a_ratio_is_positive_and_within_what_the_values_allow(first, second):
    ratio = median_ratio(first, second)
    assert 0 < min(second) / max(first) * 0.999999 <= ratio.interval.low <= ratio.interval.high
    assert ratio.interval.high <= max(second) / min(first) * 1.000001
