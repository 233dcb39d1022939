"""On which day a graded question comes back, seen as a person would see it: by their calendar, wherever they are."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from store import Store
from store.days import day_of
from store.scheduling import RATINGS, due_day, is_card, review

BERLIN, ANGELES, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Los_Angeles"), ZoneInfo("Asia/Tokyo")
ZONES = [BERLIN, ANGELES, TOKYO, ZoneInfo("UTC"), ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")]


def clock(text: str, zone: ZoneInfo) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def graded(store: Store, moment: datetime, zone: ZoneInfo, grade="good", item="item"):
    answer = store.recall.add_answer("lesson", item, "words", "hash")
    return store.recall.grade(answer.id, grade, moment, zone=zone)


def is_due(store: Store, moment: datetime, zone: ZoneInfo) -> bool:
    return bool(store.recall.due(moment, zone=zone))


@pytest.mark.parametrize("at", ["2026-11-30T04:00", "2026-11-30T12:00", "2026-11-30T23:59", "2026-12-01T03:59"])
def test_one_day_of_learning_has_one_due_day_and_it_is_due_from_its_beginning(store, at):
    answer = graded(store, clock(at, BERLIN), BERLIN)
    assert answer.due_on == date(2026, 12, 2), "FSRS lets a first good answer wait two days"
    assert answer.due_at == clock("2026-12-02T04:00", BERLIN)
    assert not is_due(store, clock("2026-12-02T03:59", BERLIN), BERLIN)
    assert is_due(store, clock("2026-12-02T04:00", BERLIN), BERLIN)
    assert is_due(store, clock("2026-12-09T01:00", BERLIN), BERLIN)


@pytest.mark.parametrize(
    ("at", "due"),
    [("2026-03-27T22:00", "2026-03-29"), ("2026-03-28T22:00", "2026-03-30"), ("2026-10-23T22:00", "2026-10-25")],
    ids=["due on the day the clocks go forward", "over the change", "due on the day the clocks go back"],
)
def test_a_clock_change_moves_nothing_by_an_hour(store, at, due):
    graded(store, clock(at, BERLIN), BERLIN)
    assert not is_due(store, clock(f"{due}T03:59", BERLIN), BERLIN)
    assert is_due(store, clock(f"{due}T04:00", BERLIN), BERLIN)


def test_after_a_journey_it_is_due_on_its_date_where_the_person_is(store):
    graded(store, clock("2026-11-30T21:00", BERLIN), BERLIN)
    for zone in (TOKYO, ANGELES):
        assert not is_due(store, clock("2026-12-02T03:59", zone), zone)
        assert is_due(store, clock("2026-12-02T04:00", zone), zone)


def test_flying_west_over_the_date_line_is_no_step_back(store):
    first = graded(store, clock("2026-12-01T08:00", TOKYO), TOKYO)
    again = graded(store, clock("2026-11-30T20:00", ANGELES), ANGELES)
    assert again.graded_at > first.graded_at
    assert again.due_on >= first.due_on
    (due,) = store.recall.schedule()
    assert due.due_on == again.due_on


def test_evening_and_morning_are_the_days_between_them_and_not_the_hours(store):
    """35 hours from Monday evening to Wednesday morning: two days, as the calendar says."""
    graded(store, clock("2026-11-30T21:00", BERLIN), BERLIN, item="early")
    graded(store, clock("2026-11-30T07:00", BERLIN), BERLIN, item="late")
    early = graded(store, clock("2026-12-02T08:00", BERLIN), BERLIN, item="early")
    late = graded(store, clock("2026-12-02T23:00", BERLIN), BERLIN, item="late")
    assert early.due_on == late.due_on


def test_a_clock_that_was_set_back_loses_no_answer_and_no_grade(store, monkeypatch):
    graded(store, datetime(2026, 11, 30, 12, tzinfo=UTC), BERLIN)
    later = graded(store, datetime(2026, 11, 28, 12, tzinfo=UTC), BERLIN, grade="easy")
    assert later.graded_at == datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert store.recall.schedule()[0].due_on == later.due_on
    store.recall.undo_grade(later.id)
    assert store.recall.schedule()[0].due_on == date(2026, 12, 2)


def test_the_history_of_an_item_has_the_grades_taken_back_too(store):
    first = graded(store, datetime(2026, 11, 30, 12, tzinfo=UTC), BERLIN)
    second = graded(store, datetime(2026, 12, 2, 12, tzinfo=UTC), BERLIN, grade="again")
    store.recall.undo_grade(second.id)
    newest, oldest = store.recall.grades("lesson", "item")
    assert (newest.grade, newest.undone_at is None) == ("again", False)
    assert (oldest.grade, oldest.undone_at, oldest.due_on) == ("good", None, first.due_on)


def test_lapses_are_counted_and_one_that_was_taken_back_is_not(store):
    for day in range(1, 4):
        last = graded(store, datetime(2026, 12, day, 12, tzinfo=UTC), BERLIN, grade="again")
    graded(store, datetime(2026, 12, 1, tzinfo=UTC), BERLIN, item="known")
    assert store.recall.lapses("lesson") == {"item": 3}
    store.recall.undo_grade(last.id)
    assert store.recall.lapses("lesson") == {"item": 2}


moments = st.datetimes(datetime(2020, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))


@given(
    moment=moments,
    steps=st.lists(
        st.tuples(st.sampled_from(list(RATINGS)), st.integers(0, 60 * 24 * 90), st.sampled_from(ZONES)),
        min_size=1,
        max_size=6,
    ),
)
@example(  # graded again after a flight west over midnight: the second answer counted for the first one's day
    moment=datetime(2020, 1, 1, tzinfo=UTC),
    steps=[("again", 0, ZoneInfo("Asia/Tokyo")), *[("again", 0, ZoneInfo("Europe/Berlin"))] * 2],
)
@settings(deadline=None, max_examples=60)
def test_wherever_and_whenever_it_is_graded_it_comes_back_on_a_later_day(moment, steps):
    before, latest = None, None
    for grade, minutes, zone in steps:
        moment += timedelta(minutes=minutes)
        offset = moment.astimezone(zone).utcoffset()
        reviewed = review(before, grade, moment, int(offset.total_seconds()))
        day, due = day_of(moment, zone), due_day(moment, reviewed.utc_offset_s, reviewed.due_at)
        latest = day if latest is None else max(day, latest)
        assert due > latest >= day
        assert is_card(reviewed.card)
        before = reviewed


@given(
    moment=moments, minutes=st.integers(0, 60 * 24), zone=st.sampled_from(ZONES), grade=st.sampled_from(list(RATINGS))
)
@settings(deadline=None, max_examples=60)
def test_the_hour_within_a_day_changes_nothing(moment, minutes, zone, grade):
    other = moment + timedelta(minutes=minutes)
    if day_of(moment, zone) != day_of(other, zone):
        return

    def day(at):
        offset = int(at.astimezone(zone).utcoffset().total_seconds())
        return due_day(at, offset, review(None, grade, at, offset).due_at)

    assert day(moment) == day(other)


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", '{"card_id": 1}', '{"card_id": 0, "state": 9, "step": null}'])
def test_what_is_no_state_of_fsrs_is_seen(text):
    assert not is_card(text)
