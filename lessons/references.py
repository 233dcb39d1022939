"""Faults between the parts of a lesson: ids used twice, references that lead nowhere, times that run backwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lessons.lines import KeyPath
from lessons.messages import nearest, quoted
from lessons.schema import TABLES
from lessons.times import clock
from lessons.values import seconds_of

Complaint = tuple[KeyPath, str]
Entry = tuple[KeyPath, dict[str, Any]]


def reference_complaints(data: dict[str, Any]) -> Iterator[Complaint]:
    """data may be of any shape: what is no table or no text is left to the check of the values."""
    yield from _id_complaints(data)
    yield from _anchor_complaints(data)
    yield from _time_complaints(data)
    yield from _deep_point_complaints(data)
    yield from _note_complaints(data)
    if _entries(data, "lab_task") and "lab_question" not in _table(data, "frame"):
        yield ("frame",), "lab_question is missing in [frame]; the lab's verdict answers it"
    if _entries(data, "anchor") and not _table(data, "video"):
        yield ("anchor",), "[video] is missing; anchors are times in it"


def step_ids(data: dict[str, Any]) -> set[str]:
    """The ids of lessons/walk.py's steps for a file not yet checked."""
    found = {
        f"{table.step}/{entry['id']}"
        for table in TABLES
        if table.step
        for _, entry in _entries(data, table.name)
        if isinstance(entry.get("id"), str)
    }
    return found | {"frame"} | ({"verdict"} if _entries(data, "lab_task") else set())


def _entries(data: dict[str, Any], name: str) -> list[Entry]:
    value = data.get(name)
    if not isinstance(value, list):
        return []
    return [((name, position), entry) for position, entry in enumerate(value) if isinstance(entry, dict)]


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _strings(value: Any) -> list[tuple[int, str]]:
    if not isinstance(value, list):
        return []
    return [(position, entry) for position, entry in enumerate(value) if isinstance(entry, str)]


def _id_complaints(data: dict[str, Any]) -> Iterator[Complaint]:
    retired = {entry for _, entry in _strings(data.get("retired"))}
    for table in TABLES:
        if not table.many:
            continue
        seen: set[str] = set()
        for place, entry in _entries(data, table.name):
            name = entry.get("id")
            if not isinstance(name, str):
                continue
            if name in seen:
                yield (*place, "id"), f"id {quoted(name)} is used twice in {table.heading}"
            seen.add(name)
            if retired & {name, f"{table.step or table.name}/{name}"}:
                yield (
                    (*place, "id"),
                    f"id {quoted(name)} is retired: progress of other people refers to it, so take a new one",
                )


def _anchor_complaints(data: dict[str, Any]) -> Iterator[Complaint]:
    known = {entry["id"] for _, entry in _entries(data, "anchor") if isinstance(entry.get("id"), str)}
    for table in TABLES:
        if not table.many:
            continue
        for place, entry in _entries(data, table.name):
            for position, name in _strings(entry.get("anchors")):
                if name not in known:
                    yield (
                        (*place, "anchors", position),
                        f"there is no anchor {quoted(name)}{nearest(name, sorted(known))}",
                    )


def _time_complaints(data: dict[str, Any]) -> Iterator[Complaint]:
    end = _seconds(_table(data, "video").get("duration"))
    for table in ("anchor", "deep_point"):
        previous: float | None = None
        for place, entry in _entries(data, table):
            at = _seconds(entry.get("at"))
            if at is None:
                continue
            if previous is not None and at <= previous:
                yield (*place, "at"), f"at {clock(at)} comes after {clock(previous)} in the file; times must grow"
            if end is not None and at > end:
                yield (*place, "at"), f"at {clock(at)} lies behind the end of the video, {clock(end)}"
            previous = at


def _seconds(value: Any) -> float | None:
    try:
        return seconds_of(value)
    except ValueError:
        return None


def _deep_point_complaints(data: dict[str, Any]) -> Iterator[Complaint]:
    for place, entry in _entries(data, "deep_point"):
        if ("at" in entry) != ("quote" in entry):
            yield place, "at and quote belong together: give both, or neither and take them from the first anchor"


def _note_complaints(data: dict[str, Any]) -> Iterator[Complaint]:
    known = step_ids(data)
    for place, entry in _entries(data, "note"):
        about = entry.get("about")
        if isinstance(about, str) and about not in known:
            yield (
                (*place, "about"),
                f"about names no step of this lesson: {quoted(about)}{nearest(about, sorted(known))}",
            )
