"""On which day a recall item comes back: FSRS (https://github.com/open-spaced-repetition), through the fsrs package.

FSRS counts whole days. It is given the noon of the person's day for each review, so that an answer in the evening and
one two mornings later lie two days apart, not one and a half.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from datetime import time as time_of_day
from typing import Literal

from fsrs import Card, Rating, Scheduler

from store.days import day_of

Grade = Literal["again", "hard", "good", "easy"]
RATINGS: dict[str, Rating] = {
    "again": Rating.Again,
    "hard": Rating.Hard,
    "good": Rating.Good,
    "easy": Rating.Easy,
}

# No steps of minutes: an answer comes back on another day. No random shift: the day can be computed again.
SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)

_ONE_DAY = timedelta(days=1)
_ANY_CARD = 0
"""Cards of the fsrs package carry a number of their own; here the item says which card it is."""


@dataclass(frozen=True, slots=True)
class Review:
    """One graded answer as the schedule sees it.

    due_at: graded_at plus the whole number of days that FSRS gave; due_day() makes the person's day of it.
    card: the state of FSRS after this review, as JSON.
    """

    graded_at: datetime
    utc_offset_s: int
    due_at: datetime
    card: str


def review(before: Review | None, grade: Grade, graded_at: datetime, utc_offset_s: int) -> Review:
    """before: the review that counts before this one, None for an item that was never graded."""
    day = _day(graded_at, utc_offset_s)
    card = Card(card_id=_ANY_CARD)
    if before is not None:
        card = Card.from_dict(json.loads(before.card))
        last_day = _counted_day(before, card)
        # Who flew west over the date line may grade on a day before the last one.
        day = max(day, last_day)
        card.last_review = _noon(last_day)
    reviewed, _ = SCHEDULER.review_card(card, RATINGS[grade], _noon(day))
    waits = (reviewed.due - _noon(day)) // _ONE_DAY
    due = day + waits * _ONE_DAY
    days_from_grading = (due - _day(graded_at, utc_offset_s)) // _ONE_DAY
    return Review(graded_at, utc_offset_s, graded_at + days_from_grading * _ONE_DAY, json.dumps(reviewed.to_dict()))


def due_day(graded_at: datetime, utc_offset_s: int, due_at: datetime) -> date:
    """The person's day on which an item comes back that was graded then, on a clock with that offset."""
    return _day(graded_at, utc_offset_s) + round((due_at - graded_at) / _ONE_DAY) * _ONE_DAY


def _counted_day(before: Review, card: Card) -> date:
    """The day that FSRS was given for a review: its own, or the later one before it where somebody flew west."""
    day = _day(before.graded_at, before.utc_offset_s)
    given = card.last_review.astimezone(UTC).date() if card.last_review is not None else day
    return given if day <= given <= day + 2 * _ONE_DAY else day


def is_card(text: str) -> bool:
    """Whether FSRS can go on from this state."""
    try:
        card = Card.from_dict(json.loads(text))
        reviewed, _ = SCHEDULER.review_card(card, Rating.Good, _noon(date(2100, 1, 1)))
        return reviewed.stability is not None
    except Exception:
        # It may be any JSON, and fsrs checks nothing itself: it fails in whatever way the value leads to.
        return False


def _day(moment: datetime, utc_offset_s: int) -> date:
    return day_of(moment, timezone(timedelta(seconds=utc_offset_s)))


def _noon(day: date) -> datetime:
    return datetime.combine(day, time_of_day(12), tzinfo=UTC)
