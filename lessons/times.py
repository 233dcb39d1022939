"""Times of a source: the clock that people read and the address that opens there."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from lessons.messages import quoted

CLOCK = re.compile(r"(?:(?P<hours>[0-9]{1,4}):)?(?P<minutes>[0-9]{1,5}):(?P<seconds>[0-9]{2}(?:\.[0-9]{1,6})?)")
YOUTUBE = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "youtu.be"})


def clock(seconds: float) -> str:
    """ "4:15" or "1:02:03"; fractions of a second are cut off. ValueError for a negative or infinite time."""
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"not a time: {seconds}")
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def parse_clock(text: str) -> float:
    """Seconds of "m:ss" or "h:mm:ss", where seconds may have decimals; minutes may pass 59 only without hours."""
    match = CLOCK.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'{quoted(text)} is not a time; write minutes and seconds such as "4:15", or "1:02:03"')
    hours, minutes, seconds = match["hours"], int(match["minutes"]), float(match["seconds"])
    if seconds >= 60 or (hours is not None and minutes >= 60):
        raise ValueError(f"{quoted(text)} is not a time: minutes and seconds after a colon go up to 59")
    return int(hours or 0) * 3600 + minutes * 60 + seconds


def anchor_url(video_url: str, seconds: float) -> str:
    """The address that opens the video at that second.

    YouTube takes t in the query; elsewhere a media fragment is added (https://www.w3.org/TR/media-frags/),
    which browsers follow for plain media files and other sites ignore.
    """
    try:
        parts = urlsplit(video_url)
        host = parts.hostname
    except ValueError:
        return video_url
    if not host:
        return video_url
    whole = int(seconds)
    if host not in YOUTUBE:
        return urlunsplit(parts._replace(fragment=f"t={whole}"))
    query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key not in ("t", "start")]
    return urlunsplit(parts._replace(query=urlencode([*query, ("t", f"{whole}s")])))
