"""What a person expects of the day on which a question comes back, as a table; and that undo brings all of it back.

A day begins at 4:00 on the person's clock. FSRS lets a first "good" wait two days and a first "again" one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from store import Store
from store.days import day_of

BERLIN, TOKYO, ANGELES = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo"), ZoneInfo("America/Los_Angeles")


@dataclass(frozen=True)
class Expected:
    """graded, not_yet and due are on clocks: of `zone`, and of `there` once the person has travelled."""

    why: str
    graded: str
    grade: str
    on: str
    not_yet: str
    due: str
    zone: ZoneInfo = BERLIN
    there: ZoneInfo | None = None
    fold: int = 0


TABLE = (
    # Around midnight: Monday is 30 November 2026.
    Expected("Monday 23:59", "2026-11-30T23:59", "good", "2026-12-02", "2026-12-02T03:59", "2026-12-02T04:00"),
    Expected("00:30 is Monday still", "2026-12-01T00:30", "good", "2026-12-02", "2026-12-02T03:59", "2026-12-02T04:00"),
    Expected("03:59 is Monday still", "2026-12-01T03:59", "good", "2026-12-02", "2026-12-02T03:59", "2026-12-02T04:00"),
    Expected("04:01 is Tuesday", "2026-12-01T04:01", "good", "2026-12-03", "2026-12-03T03:59", "2026-12-03T04:01"),
    Expected("missed at 23:59", "2026-11-30T23:59", "again", "2026-12-01", "2026-12-01T03:59", "2026-12-01T04:00"),
    Expected("missed at 00:30", "2026-12-01T00:30", "again", "2026-12-01", "2026-12-01T03:59", "2026-12-01T04:00"),
    Expected("missed at 04:01", "2026-12-01T04:01", "again", "2026-12-02", "2026-12-02T03:59", "2026-12-02T04:00"),
    # The clocks go forward on 29 March 2026 at 2:00, and back on 25 October 2026 at 3:00.
    Expected("before a short night", "2026-03-28T23:59", "again", "2026-03-29", "2026-03-29T03:59", "2026-03-29T04:00"),
    Expected("in a short night", "2026-03-29T03:30", "good", "2026-03-30", "2026-03-30T03:59", "2026-03-30T04:00"),
    Expected("over a short night", "2026-03-28T12:00", "good", "2026-03-30", "2026-03-30T03:59", "2026-03-30T04:00"),
    Expected("before a long night", "2026-10-24T23:59", "again", "2026-10-25", "2026-10-25T03:59", "2026-10-25T04:00"),
    Expected(
        "02:30 for the first time", "2026-10-25T02:30", "good", "2026-10-26", "2026-10-26T03:59", "2026-10-26T04:00"
    ),
    Expected(
        "02:30 for the second", "2026-10-25T02:30", "good", "2026-10-26", "2026-10-26T03:59", "2026-10-26T04:00", fold=1
    ),
    # A journey: the date counts where the person is by then, not the hours that have gone by.
    Expected(
        "Tokyo to Los Angeles, a morning",
        "2026-12-01T08:00",
        "good",
        "2026-12-03",
        "2026-12-02T23:00",
        "2026-12-03T04:00",
        TOKYO,
        ANGELES,
    ),
    Expected(
        "Tokyo to Los Angeles, half past midnight",
        "2026-12-01T00:30",
        "good",
        "2026-12-02",
        "2026-12-02T03:59",
        "2026-12-02T04:00",
        TOKYO,
        ANGELES,
    ),
    Expected(
        "Los Angeles to Tokyo, an evening",
        "2026-11-30T20:00",
        "good",
        "2026-12-02",
        "2026-12-02T03:59",
        "2026-12-02T04:00",
        ANGELES,
        TOKYO,
    ),
    Expected(
        "Berlin to Los Angeles, over the change that only Berlin has made",
        "2026-10-25T12:00",
        "again",
        "2026-10-26",
        "2026-10-26T03:59",
        "2026-10-26T04:00",
        BERLIN,
        ANGELES,
    ),
)


def at(text: str, zone: ZoneInfo, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def grade(store: Store, expected: Expected, moment: datetime, answer_id: int | None = None):
    if answer_id is None:
        answer_id = store.recall.add_answer("lesson", "item", "words", "hash").id
    return store.recall.grade(answer_id, expected.grade, moment, zone=expected.zone)


@pytest.mark.parametrize("expected", TABLE, ids=lambda expected: expected.why)
def test_it_comes_back_on_the_day_that_a_person_expects(store, expected) -> None:
    graded = grade(store, expected, at(expected.graded, expected.zone, expected.fold))
    there = expected.there or expected.zone
    assert graded.due_on == date.fromisoformat(expected.on)
    assert not store.recall.due(at(expected.not_yet, there), zone=there)
    (due,) = store.recall.due(at(expected.due, there), zone=there)
    assert due.due_on == graded.due_on


@pytest.mark.parametrize("expected", TABLE, ids=lambda expected: expected.why)
def test_undo_restores_the_schedule_and_grading_again_gives_the_same_day(store, expected) -> None:
    """An earlier answer, of the first of March, stands; the one of the table is graded, undone and graded again."""
    moment = at(expected.graded, expected.zone, expected.fold)
    earlier = store.recall.add_answer("lesson", "item", "words", "hash")
    store.recall.grade(earlier.id, "good", datetime(2026, 3, 1, 12, tzinfo=UTC), zone=expected.zone)
    before, was_due = store.recall.schedule(), store.recall.due(moment, zone=expected.zone)
    first = grade(store, expected, moment)
    assert store.recall.schedule() != before
    store.recall.undo_grade(first.id)
    assert store.recall.schedule() == before
    assert store.recall.due(moment, zone=expected.zone) == was_due
    again = grade(store, expected, moment, first.id)
    assert (again.due_on, again.due_at) == (first.due_on, first.due_at)


def test_on_the_way_west_what_is_due_today_stays_due_and_nothing_comes_back_on_the_same_day(store) -> None:
    """Answered on Tuesday morning in Tokyo; the evening in Los Angeles is a Monday, and Tuesday comes once more."""
    first = store.recall.add_answer("lesson", "item", "words", "hash")
    store.recall.grade(first.id, "again", at("2026-12-01T08:00", TOKYO), zone=TOKYO)
    arrived = at("2026-11-30T20:00", ANGELES)
    assert day_of(arrived, ANGELES) < date(2026, 12, 1)
    assert not store.recall.due(arrived, zone=ANGELES)
    assert not store.recall.due(at("2026-12-02T03:59", ANGELES), zone=ANGELES)
    assert store.recall.due(at("2026-12-02T04:00", ANGELES), zone=ANGELES)
