"""Every fault of a lesson file, in the order of its lines."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any

from lessons.claims import ledger_faults
from lessons.faults import Fault
from lessons.messages import nearest, quoted
from lessons.reading import Document, ReadingFault, read_document
from lessons.references import reference_complaints
from lessons.schema import FORMAT_VERSION, LIST_LIMIT, OLDEST_FORMAT, TABLES, TOP_KEYS, Key, Table
from lessons.values import complaints

__all__ = ["Fault", "check_document", "check_lesson"]

# A file with more has been mistaken for a lesson, and naming them all would take minutes.
FAULTS_NAMED = 1000


def check_lesson(path: Path) -> list[Fault]:
    """path: a lesson file or its folder. A claims ledger beside it is checked too. An empty list: nothing is wrong."""
    try:
        document = read_document(path)
    except ReadingFault as error:
        return [error.fault]
    return [*check_document(document), *ledger_faults(document.path)]


def check_document(document: Document) -> list[Fault]:
    try:
        _check_version(document)
    except ReadingFault as error:
        return [error.fault]
    references = (
        Fault(document.path, document.lines.of(*place), message)
        for place, message in reference_complaints(document.data)
    )
    return sorted({*islice(_shape_faults(document), FAULTS_NAMED), *islice(references, FAULTS_NAMED)})


def _check_version(document: Document) -> None:
    """Stops at a lesson of another format: its further faults would only be noise."""
    data, line = document.data, document.lines.of("format_version")
    if "format_version" not in data:
        raise ReadingFault(document.path, 1, f"format_version is missing; write format_version = {FORMAT_VERSION}")
    found = data["format_version"]
    if isinstance(found, bool) or not isinstance(found, int) or abs(found) > FORMAT_VERSION + 1000:
        raise ReadingFault(document.path, line, f"format_version must be a whole number, {FORMAT_VERSION} for now")
    here = _installed_release()
    needed = data.get("needs_labtui")
    if found > FORMAT_VERSION:
        wanted = f"labtui {needed} or newer" if _release(needed) else "a newer labtui"
        raise ReadingFault(
            document.path,
            line,
            f"this lesson has format {found} and needs {wanted}; "
            f"this is labtui {here or '(release unknown)'}, which reads formats up to {FORMAT_VERSION}. Update labtui",
        )
    if found < OLDEST_FORMAT:
        raise ReadingFault(
            document.path, line, f"format {found} does not exist; the oldest is {OLDEST_FORMAT}, write that"
        )
    if _release(needed) > _release(here) > ():
        raise ReadingFault(
            document.path,
            document.lines.of("needs_labtui"),
            f"this lesson needs labtui {needed} or newer; this is labtui {here}. Update labtui",
        )


def _installed_release() -> str:
    try:
        return version("labtui")
    except PackageNotFoundError:
        return ""


def _release(text: Any) -> tuple[int, ...]:
    """(0, 3, 1) of "0.3.1"; () for anything that is no release number."""
    if not isinstance(text, str) or any(complaints("release", text)):
        return ()
    return tuple(int(part) for part in text.split("."))


def _shape_faults(document: Document) -> Iterator[Fault]:
    """Tables, keys and single values, each by itself."""
    data, lines = document.data, document.lines

    def fault(message: str, *place: str | int) -> Fault:
        return Fault(document.path, lines.of(*place), message)

    tables = {table.name: table for table in TABLES}
    top_keys = {key.name for key in TOP_KEYS}
    for name in data:
        if name not in tables and name not in top_keys:
            yield fault(f"unknown key {quoted(name)}{nearest(name, [*tables, *top_keys])}", name)
    yield from _entry_faults(document, TOP_KEYS, data, (), "")
    for table in TABLES:
        if table.name not in data:
            if table.required:
                yield fault(f"{table.heading} is missing")
            continue
        value = data[table.name]
        if not table.many:
            if isinstance(value, dict):
                yield from _table_faults(document, table, value, (table.name,))
            else:
                yield fault(f"{table.name} must be a table: start it with {table.heading}", table.name)
        elif isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
            if len(value) > LIST_LIMIT:
                yield fault(f"{len(value)} times {table.heading}; {LIST_LIMIT} is the most", table.name, LIST_LIMIT)
            for position, entry in enumerate(value):
                yield from _table_faults(document, table, entry, (table.name, position))
        else:
            yield fault(f"{table.name} stands there any number of times: start each with {table.heading}", table.name)


def _table_faults(
    document: Document, table: Table, entry: dict[str, Any], place: tuple[str | int, ...]
) -> Iterator[Fault]:
    known = [key.name for key in table.keys]
    for name in entry:
        if name not in known:
            message = f"unknown key {quoted(name)} in {table.heading}{nearest(name, known)}"
            yield Fault(document.path, document.lines.of(*place, name), message)
    yield from _entry_faults(document, table.keys, entry, place, f" in {table.heading}")


def _entry_faults(
    document: Document, keys: tuple[Key, ...], entry: dict[str, Any], place: tuple[str | int, ...], where: str
) -> Iterator[Fault]:
    for key in keys:
        if key.name in entry:
            for position, message in complaints(key.kind, entry[key.name]):
                spot = (*place, key.name) if position is None else (*place, key.name, position)
                entry_name = key.name if position is None else f"{key.name}, entry {position + 1},"
                yield Fault(document.path, document.lines.of(*spot), f"{entry_name} {message}")
        elif key.required:
            yield Fault(document.path, document.lines.of(*place), f"{key.name} is missing{where}")
