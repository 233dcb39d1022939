"""Whether one value of a lesson file is what its key asks for."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from lessons.messages import nearest, quoted
from lessons.schema import LENGTH_LIMITS, LIST_LIMIT, NEEDS, PIECES, Kind
from lessons.times import parse_clock

KEBAB_CASE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
RETIRED_ID = re.compile(rf"(?:[a-z]+/)?{KEBAB_CASE.pattern}")
EXERCISE = re.compile(rf"{KEBAB_CASE.pattern}/{KEBAB_CASE.pattern}")
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
RELEASE = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,3}")
# They turn the text around them over, so that a line shows something other than what it says.
BIDI_OVERRIDES = frozenset("\u202d\u202e")
COUNT_LIMIT = 10_000_000

Complaint = tuple[int | None, str]
"""Which entry of a list is meant (None: the value itself), and what is wrong with it."""


def complaints(kind: Kind, value: Any) -> Iterator[Complaint]:
    if kind in ("ids", "texts", "retired", "needs"):
        yield from _list_complaints(kind, value)
    elif message := CHECKS[kind](value):
        yield None, message


def seconds_of(value: Any) -> float:
    """A time as it may stand in a file: "4:15" or a number of seconds. ValueError for anything else."""
    if isinstance(value, str):
        return parse_clock(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f'must be a time in quotes, such as "4:15", not {_named(value)}')
    if not 0 <= value < COUNT_LIMIT:
        raise ValueError("must be a time from 0 on, in seconds")
    return float(value)


def _list_complaints(kind: Kind, value: Any) -> Iterator[Complaint]:
    if not isinstance(value, list):
        yield None, f"must be a list, not {_named(value)}"
        return
    if len(value) > LIST_LIMIT:
        yield None, f"has {len(value)} entries; {LIST_LIMIT} is the most"
    check: Callable[[Any], str] = {"ids": _id, "texts": _text, "retired": _retired, "needs": _need}[kind]
    seen: set[str] = set()
    for position, entry in enumerate(value):
        if message := check(entry):
            yield position, message
        elif kind != "texts" and entry in seen:
            yield position, f"names {quoted(entry)} twice"
        elif isinstance(entry, str):
            seen.add(entry)


def _string(value: Any, kind: Kind) -> str:
    if not isinstance(value, str):
        return f"must be a text in quotes, not {_named(value)}"
    if not value.strip():
        return "is empty; write something, or leave the key out if the format allows"
    if len(value) > LENGTH_LIMITS[kind]:
        return f"is {len(value)} characters long; {LENGTH_LIMITS[kind]} is the most"
    for character in value:
        if character in BIDI_OVERRIDES or (unicodedata.category(character) == "Cc" and character not in "\n\t"):
            return f"holds the control character U+{ord(character):04X}; take it out"
    return ""


def _text(value: Any) -> str:
    return _string(value, "text")


def _line(value: Any) -> str:
    return _string(value, "line") or ("must be one line" if len(value.strip().splitlines()) > 1 else "")


def _id(value: Any) -> str:
    if message := _string(value, "id"):
        return message
    if KEBAB_CASE.fullmatch(value):
        return ""
    return f'{quoted(value)} is no id: a-z, 0-9 and single hyphens between, as in "a-b1"'


def _retired(value: Any) -> str:
    if message := _string(value, "line"):
        return message
    if RETIRED_ID.fullmatch(value):
        return ""
    return f'{quoted(value)} is neither an id nor a kind and an id, as in "recall/a-b1"'


def _exercise(value: Any) -> str:
    if message := _string(value, "exercise"):
        return message
    if EXERCISE.fullmatch(value):
        return ""
    return f'{quoted(value)} is no exercise: its set and its id, as in "kv-cache-line/half-the-length"'


def _piece(value: Any) -> str:
    return _one_of(PIECES, value)


def _need(value: Any) -> str:
    return _one_of(NEEDS, value)


def _one_of(known: tuple[str, ...], value: Any) -> str:
    if message := _string(value, "line"):
        return message
    return "" if value in known else f"{quoted(value)} is none of {', '.join(known)}{nearest(value, known)}"


def _time(value: Any) -> str:
    try:
        seconds_of(value)
    except ValueError as error:
        return str(error)
    return ""


def _url(value: Any) -> str:
    if message := _string(value, "url"):
        return message
    try:
        parts = urlsplit(value)
        complete = parts.scheme in ("http", "https") and parts.hostname
    except ValueError:
        complete = None
    if not complete or value.split() != [value]:
        return f"{quoted(value)} is no web address; it starts with https:// or http:// and has no blanks"
    return ""


def _lang(value: Any) -> str:
    if message := _string(value, "lang"):
        return message
    return "" if LANGUAGE.fullmatch(value) else f'{quoted(value)} is no language tag, such as "en" or "pt-BR"'


def _release(value: Any) -> str:
    if message := _string(value, "release"):
        return message
    return "" if RELEASE.fullmatch(value) else f'{quoted(value)} is no release number, such as "0.3.1"'


def _count(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"must be a whole number, not {_named(value)}"
    return "" if 0 < value <= COUNT_LIMIT else f"must be from 1 to {COUNT_LIMIT}"


def _named(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int():
            return "a whole number"
        case float():
            return "a number" if math.isfinite(value) else "infinity or nan"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time of TOML"


CHECKS: dict[Kind, Callable[[Any], str]] = {
    "text": _text,
    "line": _line,
    "id": _id,
    "time": _time,
    "url": _url,
    "lang": _lang,
    "count": _count,
    "release": _release,
    "piece": _piece,
    "exercise": _exercise,
}
