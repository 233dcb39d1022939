"""Points in time: always UTC, in one width, so that they sort as text."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)


def to_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_text(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def from_text_or_none(text: str | None) -> datetime | None:
    return None if text is None else from_text(text)


def not_before(moment: datetime, newest: str | None) -> datetime:
    """The moment, or that of the newest row where the clock was set back since: a later row is never an older one."""
    return moment.astimezone(UTC) if newest is None else max(moment.astimezone(UTC), from_text(newest))
