"""How far a median, or the ratio of two medians, may be off: intervals between two of the ordered values.

Of n independent values, each is below the true median with probability 1/2, whatever their distribution. The true
median therefore lies between the k-th lowest and the k-th highest value with probability 1 − 2·P(B < k), B binomial
with n trials of 1/2 (Thompson 1936; with equal values, at least so often). Below six values even the lowest and the
highest hold it in less than 95 % of the cases, and there is no interval.

A percentile bootstrap, which was used here before, claims 95 % for fewer values and holds the median in 50 % of the
cases with two of them, in 75 % with three, and in 87 % with seven.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from exercises.records import NotMeasurable

LEVEL = 0.95
FEWEST = 6
"""Values below which the lowest and the highest hold the median in less than LEVEL of the cases."""

METHOD = (
    f"between two of the ordered values, the narrowest such pair that holds the true median in at least {LEVEL:.0%} of "
    f"the cases (binomial); none from fewer than {FEWEST} values"
)


@dataclass(frozen=True, slots=True)
class Interval:
    """coverage: how often such an interval holds the true value, at least; between 0 and 1."""

    low: float
    high: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """value: median of the second values ÷ median of the first."""

    value: float
    interval: Interval | NotMeasurable


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval | NotMeasurable:
    """The same whatever the order of the values. Where no two values reach the level, the lowest and the highest."""
    numbers = sorted(values)
    if not all(map(math.isfinite, numbers)):
        return NotMeasurable("a value is not a number")
    if len(numbers) < FEWEST:
        return _too_few(len(numbers))
    rank = max((k for k in range(1, len(numbers) // 2 + 1) if _coverage(len(numbers), k) >= level), default=1)
    return Interval(numbers[rank - 1], numbers[-rank], _coverage(len(numbers), rank))


def median_ratio(first: Sequence[float], second: Sequence[float]) -> Ratio | NotMeasurable:
    """Median of second ÷ median of first; its interval from those of both sides, each missed half as often.

    Both sides' intervals hold at once in at least 1 − (miss of one + miss of the other) of the cases (Bonferroni).
    """
    if not first or not second:
        return NotMeasurable("one side has no value")
    if not all(math.isfinite(value) and value > 0 for value in (*first, *second)):
        return NotMeasurable("a value is not a positive number")
    value = statistics.median(second) / statistics.median(first)
    if not 0 < value < math.inf:
        return NotMeasurable("the values are beyond any real server")
    of_one, of_two = (median_interval(side, (1 + LEVEL) / 2) for side in (first, second))
    for side in (of_one, of_two):
        if isinstance(side, NotMeasurable):
            return Ratio(value, side)
    assert isinstance(of_one, Interval) and isinstance(of_two, Interval)
    coverage = of_one.coverage + of_two.coverage - 1
    return Ratio(value, Interval(of_two.low / of_one.high, of_two.high / of_one.low, coverage))


def _too_few(n: int) -> NotMeasurable:
    return NotMeasurable(f"too few runs for an interval: {n}, it needs {FEWEST}")


def _coverage(n: int, rank: int) -> float:
    return float(1 - sum(math.comb(n, k) for k in range(rank)) / 2 ** (n - 1))
