from __future__ import annotations

from datetime import date, timedelta

import pytest

from labtui.due_words import due_words

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("days", "words"),
    [(-3, "3 days ago"), (-1, "yesterday"), (0, "today"), (1, "tomorrow"), (2, "in 2 days"), (90, "2027-02-28")],
)
def test_a_day_in_words(days, words):
    assert due_words(TODAY + timedelta(days=days), TODAY) == words
