"""A lesson in the making: parts that fit the format go in, lines that do not are kept with the reason."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lessons.importing.page_text import Line
from lessons.schema import LENGTH_LIMITS, LIST_LIMIT, TABLES, TOP_KEYS, Key
from lessons.values import complaints

ID_WORDS = 6
ID_LENGTH = 48
KEYS: dict[str, dict[str, Key]] = {
    "": {key.name: key for key in TOP_KEYS},
    **{table.name: {key.name: key for key in table.keys} for table in TABLES},
}


@dataclass(frozen=True, slots=True, order=True)
class Unplaced:
    """A line of the page that is in no part of the lesson, as it stands there, and why."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Open:
    """Something that the format has a place for and the page does not give. step: where a person meets it."""

    step: str
    line: int
    text: str


@dataclass
class Draft:
    """data: the lesson as in its TOML file."""

    data: dict[str, Any] = field(default_factory=dict)
    unplaced: list[Unplaced] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)

    def leave(self, lines: Iterable[Line], reason: str) -> None:
        self.unplaced.extend(Unplaced(line.number, line.text, reason) for line in lines)

    def wanting(self, step: str, line: Line, text: str) -> None:
        self.open.append(Open(step, line.number, text))

    def put(self, table: str, key: str, value: Any, lines: Sequence[Line]) -> bool:
        """One value of a table that stands once; "" for the top of the file."""
        if message := complaint(table, {key: value}):
            self.leave(lines, message)
            return False
        holder = self.data if not table else self.data.setdefault(table, {})
        holder[key] = value
        return True

    def add(self, table: str, values: Mapping[str, Any], lines: Sequence[Line], *, name: str, kind: str = "") -> str:
        """One more entry of a repeated table. Its id comes from name. Returns the id, "" where it did not fit.

        kind: what its id begins with if name has no letters of a-z; else the table's name.
        """
        entries = self.data.setdefault(table, [])
        if len(entries) >= LIST_LIMIT:
            self.leave(lines, f"a lesson has at most {LIST_LIMIT} of its kind")
            return ""
        taken = {entry["id"] for entry in entries}
        entry = {"id": free_id(id_from(name), taken, f"{kind or table.replace('_', '-')}-{len(entries) + 1}"), **values}
        if message := complaint(table, entry):
            self.leave(lines, message)
            return ""
        entries.append(entry)
        return str(entry["id"])

    def entries(self, table: str) -> list[dict[str, Any]]:
        found = self.data.get(table, [])
        return found if isinstance(found, list) else []


def complaint(table: str, values: Mapping[str, Any]) -> str:
    """The first thing that the format has against these values; "" where it has nothing."""
    for name, value in values.items():
        for _, message in complaints(KEYS[table][name].kind, value):
            return f"{name} {message}"
    return ""


def id_from(text: str) -> str:
    """Kebab-case of the first words; "" where nothing of a-z and 0-9 is left."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "").replace("'", "")).encode("ascii", "ignore").decode()
    name = ""
    for word in re.findall(r"[a-z0-9]+", plain.lower())[:ID_WORDS]:
        longer = f"{name}-{word}" if name else word[:ID_LENGTH]
        if len(longer) > ID_LENGTH:
            break
        name = longer
    return name


def free_id(wanted: str, taken: set[str], otherwise: str) -> str:
    base = wanted if re.search("[a-z]", wanted) else otherwise
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name[: LENGTH_LIMITS["id"]]
