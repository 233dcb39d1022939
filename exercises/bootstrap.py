"""How far a median, or the ratio of two medians, may be off: the percentile bootstrap (Efron 1979).

The values are drawn again with replacement, RESAMPLES times, and the middle 95 % of what they give is the interval.
The draws come from a fixed seed, so that the same values give the same interval on every machine and on every day. With
fewer than about ten values the interval is a rough one, and never wider than the values themselves.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exercises.records import NotMeasurable

LEVEL = 0.95
RESAMPLES = 2000
SEED = 20261130
METHOD = f"percentile bootstrap of the median, {RESAMPLES} resamples, seed {SEED}, {LEVEL:.0%} interval"


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """value: median of the second values ÷ median of the first."""

    value: float
    interval: Interval


def median_interval(values: Sequence[float]) -> Interval | NotMeasurable:
    """The same whatever the order of the values. Not measurable from fewer than two."""
    numbers = sorted(values)
    if not all(map(math.isfinite, numbers)):
        return NotMeasurable("a value is not a number")
    if len(numbers) < 2:
        return NotMeasurable("one value has no spread" if numbers else "there is no value")
    rng = random.Random(SEED)
    return _middle(lambda: statistics.median(rng.choices(numbers, k=len(numbers))))


def median_ratio(first: Sequence[float], second: Sequence[float]) -> Ratio | NotMeasurable:
    """Median of second ÷ median of first with its interval; both are drawn again, each from its own values."""
    ones, twos = sorted(first), sorted(second)
    if not all(map(math.isfinite, (*ones, *twos))) or (ones and ones[0] <= 0) or (twos and twos[0] <= 0):
        return NotMeasurable("a value is not a positive number")
    if len(ones) < 2 or len(twos) < 2:
        return NotMeasurable("it needs two values or more on each side")
    rng = random.Random(SEED)

    def draw() -> float:
        of_one, of_two = (statistics.median(rng.choices(side, k=len(side))) for side in (ones, twos))
        return of_two / of_one

    return Ratio(statistics.median(twos) / statistics.median(ones), _middle(draw))


def _middle(draw: Callable[[], float]) -> Interval:
    drawn = sorted(draw() for _ in range(RESAMPLES))
    outside = (1 - LEVEL) / 2
    return Interval(drawn[math.floor(outside * RESAMPLES)], drawn[math.ceil((1 - outside) * RESAMPLES) - 1])
