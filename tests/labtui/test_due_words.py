from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from labtui.due_words import due_words

BERLIN = ZoneInfo("Europe/Berlin")
TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("days", "words"),
    [(-3, "3 days ago"), (-1, "yesterday"), (0, "today"), (1, "tomorrow"), (2, "in 2 days"), (90, "2027-02-28")],
)
def test_a_day_in_words(days, words):
    assert due_words(TODAY + timedelta(days=days), datetime(2026, 11, 30, 12, tzinfo=BERLIN), BERLIN) == words


@pytest.mark.parametrize(
    ("clock", "due", "words"),
    [
        ("2026-11-30T23:59", "2026-12-01", "tomorrow"),
        ("2026-12-01T00:30", "2026-12-01", "today at 4:00"),
        ("2026-12-01T03:59", "2026-12-01", "today at 4:00"),
        ("2026-12-01T04:00", "2026-12-01", "today"),
        ("2026-12-01T00:30", "2026-12-02", "tomorrow"),
        ("2026-12-01T00:30", "2026-12-03", "in 2 days"),
        ("2026-12-01T00:30", "2026-11-30", "today"),
    ],
)
def test_after_midnight_the_words_go_with_the_calendar(clock, due, words):
    """An answer at half past midnight "comes back on 2026-12-02 (tomorrow)": the date and the word agree."""
    now = datetime.fromisoformat(clock).replace(tzinfo=BERLIN)
    assert due_words(date.fromisoformat(due), now, BERLIN) == words
