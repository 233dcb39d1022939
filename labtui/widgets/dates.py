from __future__ import annotations

from datetime import datetime


def span(seconds: float) -> str:
    """0:07, 1:12, 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def day_words(moment: datetime, now: datetime) -> str:
    """When something happened, or will: now, 5 min ago, today 10:31, yesterday, 3 days ago, in 4 days, 2026-03-01."""
    moment, now = moment.astimezone(), now.astimezone()
    days = (moment.date() - now.date()).days
    if days == 0:
        ago = (now - moment).total_seconds()
        if 0 <= ago < 60:
            return "just now"
        if 60 <= ago < 3600:
            return f"{int(ago // 60)} min ago"
        return f"today {moment:%H:%M}"
    if days == -1:
        return "yesterday"
    if days == 1:
        return "tomorrow"
    if -14 <= days < 0:
        return f"{-days} days ago"
    if 0 < days <= 60:
        return f"in {days} days"
    return f"{moment:%Y-%m-%d}"
