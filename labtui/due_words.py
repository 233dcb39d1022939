from __future__ import annotations

from datetime import date, datetime, tzinfo

from store.days import ROLLOVER_HOUR, day_of, local_time

FURTHEST_IN_DAYS = 60


def due_words(due_on: date, now: datetime, zone: tzinfo | None = None) -> str:
    """When a question comes back: 3 days ago, yesterday, today, today at 4:00, tomorrow, in 4 days, 2026-03-01.

    What has come is told by the person's days, what is to come by the calendar: before four in the morning the day that
    has not begun yet is no tomorrow. zone: where the person is, None for the system's time zone.
    """
    days = (due_on - day_of(now, zone)).days
    if days <= 0:
        return {0: "today", -1: "yesterday"}.get(days, f"{-days} days ago")
    days = (due_on - local_time(now, zone).date()).days
    if days <= 1:
        return "tomorrow" if days else f"today at {ROLLOVER_HOUR}:00"
    return f"in {days} days" if days <= FURTHEST_IN_DAYS else f"{due_on}"
