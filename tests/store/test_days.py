"""Days as a person counts them: around midnight, over clock changes, on journeys."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.days import ROLLOVER_HOUR, beginning_of, day_of

BERLIN, ANGELES, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Los_Angeles"), ZoneInfo("Asia/Tokyo")
ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "America/Sao_Paulo",
        "Australia/Lord_Howe",  # half an hour of summer time
        "Asia/Kathmandu",
        "Pacific/Apia",  # no 30 December 2011
        "Pacific/Kiritimati",
        "Africa/Casablanca",
    )
]


@pytest.mark.parametrize(
    ("clock", "day"),
    [("2026-11-30T03:59", 29), ("2026-11-30T04:00", 30), ("2026-11-30T23:59", 30), ("2026-12-01T00:01", 30)],
)
def test_a_day_begins_at_four(clock, day):
    moment = datetime.fromisoformat(clock).replace(tzinfo=BERLIN)
    assert day_of(moment, BERLIN) == day_of(moment.astimezone(UTC), BERLIN) == date(2026, 11, day)


def test_the_zone_of_the_moment_is_not_the_zone_of_the_person():
    assert day_of(datetime(2026, 11, 30, 2, tzinfo=UTC), TOKYO) == date(2026, 11, 30)
    assert day_of(datetime(2026, 11, 30, 2, tzinfo=UTC), ANGELES) == date(2026, 11, 29)


@pytest.mark.parametrize(
    ("day", "hours"),
    [(date(2026, 3, 28), 23), (date(2026, 10, 24), 25), (date(2026, 6, 1), 24)],
    ids=["clocks go forward", "clocks go back", "an ordinary day"],
)
def test_a_day_has_as_many_hours_as_it_has(day, hours):
    begins, ends = beginning_of(day, BERLIN), beginning_of(day + timedelta(days=1), BERLIN)
    assert ends - begins == timedelta(hours=hours)
    assert day_of(begins, BERLIN) == day_of(ends - timedelta(seconds=1), BERLIN) == day
    assert begins.astimezone(BERLIN).hour == ROLLOVER_HOUR


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the system's zone cannot be set for a test")
def test_without_a_zone_it_is_the_systems_and_a_journey_is_noticed(in_zone, monkeypatch):
    # in_zone comes first, so that it puts the zone back after monkeypatch has restored TZ.
    moment = datetime(2026, 11, 30, 2, tzinfo=UTC)
    for name, day in (("Asia/Tokyo", 30), ("America/Los_Angeles", 29), ("Asia/Tokyo", 30)):
        monkeypatch.setenv("TZ", name)
        assert day_of(moment) == date(2026, 11, day)
        assert beginning_of(date(2026, 11, day)) == beginning_of(date(2026, 11, day), ZoneInfo(name))


@given(
    zone=st.sampled_from(ZONES),
    moment=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),
    later=st.timedeltas(timedelta(0), timedelta(days=400)),
)
def test_every_moment_lies_in_its_day_and_days_never_run_backwards(zone, moment, later):
    day = day_of(moment, zone)
    assert beginning_of(day, zone) <= moment < beginning_of(day + timedelta(days=1), zone)
    assert day_of(moment + later, zone) >= day
