from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.widgets.dates import day_words, span

NOW = datetime(2026, 3, 2, 10, 30).astimezone()


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (NOW, "just now"),
        (NOW - timedelta(minutes=5), "5 min ago"),
        (NOW - timedelta(hours=3), "today 07:30"),
        (NOW + timedelta(hours=2), "today 12:30"),
        (NOW - timedelta(days=1), "yesterday"),
        (NOW + timedelta(days=1), "tomorrow"),
        (NOW - timedelta(days=3), "3 days ago"),
        (NOW + timedelta(days=4), "in 4 days"),
        (NOW - timedelta(days=40), "2026-01-21"),
    ],
)
def test_when_in_words(moment: datetime, words: str) -> None:
    assert day_words(moment, NOW) == words


@pytest.mark.parametrize(("seconds", "words"), [(0, "0:00"), (7.9, "0:07"), (72, "1:12"), (3723, "1:02:03")])
def test_a_span_of_time(seconds: float, words: str) -> None:
    assert span(seconds) == words


@given(st.timedeltas(timedelta(days=-4000), timedelta(days=4000)))
def test_every_moment_has_words(away: timedelta) -> None:
    assert day_words(NOW + away, NOW)
