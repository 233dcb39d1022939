"""The person's days. A day begins at 4:00 on their clock, so that whoever learns past midnight is still in the same
day. What is due on a day is due from then on, wherever the person is when they look: dates are compared, so neither a
clock change nor a journey moves a question by hours.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as time_of_day

ROLLOVER_HOUR = 4


def local_time(moment: datetime, zone: tzinfo | None = None) -> datetime:
    """The moment on the person's clock. zone: None for the zone that the system has now."""
    if zone is None:
        # A program that stays open while the machine travels must notice.
        time.tzset()
    return moment.astimezone(zone)


def day_of(moment: datetime, zone: tzinfo | None = None) -> date:
    """The day that a moment belongs to: 3:59 is still the day before."""
    clock = local_time(moment, zone).replace(tzinfo=None)
    return (clock - timedelta(hours=ROLLOVER_HOUR)).date()


def beginning_of(day: date, zone: tzinfo | None = None) -> datetime:
    """The moment at which a day begins, in UTC."""
    clock = datetime.combine(day, time_of_day(ROLLOVER_HOUR))
    return (clock.astimezone() if zone is None else clock.replace(tzinfo=zone)).astimezone(UTC)
