"""What shows the structure of a line: a number, a time, a bullet, quotation marks, the end of a sentence."""

from __future__ import annotations

import re
import unicodedata

from lessons.times import parse_clock

NUMBER = re.compile(r"#?(?P<number>\d{1,3})[.)]?")
TIME = r"(?:\d{1,4}:)?\d{1,3}:\d{2}"
TIME_ALONE = re.compile(rf"[\[(]?(?P<time>{TIME})[\])]?")
TIME_INSIDE = re.compile(rf"(?<![\d:.]){TIME}(?![\d:])")
TIME_FIRST = re.compile(rf"[\[(]?(?P<time>{TIME})[\])]?(?P<rest>(?:\W.*)?)")
BULLET = re.compile(r"[-*+•·‣▪–—]\s+(?P<text>.*)")
NUMBERED = re.compile(r"(?P<number>\d{1,3})[.)]\s+(?P<text>.*)")
OPENING = "“\"«„‟『「‘‹”'"
CLOSING = "”\"»“‟』」’›'"
SENTENCE_ENDS = ".!?…。！？｡؟۔।;:"
AFTER_SENTENCE_END = CLOSING + ")]）］"


def number_of(text: str) -> int | None:
    """12 of a line that is only "12", "12." or "12)"."""
    match = NUMBER.fullmatch(unicodedata.normalize("NFKC", text))
    return int(match["number"]) if match else None


def time_of(text: str) -> float | None:
    """Seconds of a line that is only a time."""
    match = TIME_ALONE.fullmatch(unicodedata.normalize("NFKC", text))
    return _seconds(match["time"]) if match else None


def leading_time(text: str) -> tuple[float, str] | None:
    """Seconds and the rest of a line that begins with a time."""
    match = TIME_FIRST.fullmatch(text) or TIME_FIRST.fullmatch(unicodedata.normalize("NFKC", text))
    seconds = _seconds(match["time"]) if match else None
    return None if match is None or seconds is None else (seconds, match["rest"].strip())


def times_inside(text: str) -> list[float]:
    found = (_seconds(match) for match in TIME_INSIDE.findall(unicodedata.normalize("NFKC", text)))
    return [seconds for seconds in found if seconds is not None]


def bullet(text: str) -> str | None:
    match = BULLET.fullmatch(text)
    return match["text"].strip() if match else None


def numbered(text: str) -> tuple[int, str] | None:
    match = NUMBERED.fullmatch(text)
    return (int(match["number"]), match["text"].strip()) if match else None


def quotation(text: str) -> str | None:
    """What stands between the quotation marks at both ends of a text; None where they are not there."""
    if len(text) > 2 and text[0] in OPENING and text[-1] in CLOSING:
        return text[1:-1].strip() or None
    return None


def ends_sentence(text: str) -> bool:
    return text.rstrip(AFTER_SENTENCE_END)[-1:] in SENTENCE_ENDS if text.rstrip(AFTER_SENTENCE_END) else False


def _seconds(text: str) -> float | None:
    try:
        return parse_clock(text)
    except ValueError:
        return None
