from __future__ import annotations

from datetime import date

FURTHEST_IN_DAYS = 60


def due_words(due_on: date, today: date) -> str:
    """When a question comes back: 3 days ago, yesterday, today, tomorrow, in 4 days, 2026-03-01."""
    days = (due_on - today).days
    named = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    if days in named:
        return named[days]
    if days < 0:
        return f"{-days} days ago"
    return f"in {days} days" if days <= FURTHEST_IN_DAYS else f"{due_on}"
