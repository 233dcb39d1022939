"""The claims ledger of a lesson: numbers made in public, each with what it means and where it stands.

claims.toml lies beside lesson.toml. Nothing is taken from a claim but what its source says: a number whose source does
not say what was divided by what has the definition not_stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessons.errors import LessonError
from lessons.faults import Fault
from lessons.messages import nearest, quoted
from lessons.model import Lesson
from lessons.reading import LESSON_FILE, Document, ReadingFault, read_document
from lessons.schema import Kind
from lessons.values import complaints

CLAIMS_FILE = "claims.toml"
FORMAT_VERSION = 1

DEFINITIONS: Mapping[str, str] = {
    "end_to_end": "Tokens ÷ time of the whole request, from sending it to its last byte.",
    "after_first_canvas": "Tokens after the first canvas ÷ time after the first canvas.",
    "without_prefill": "Tokens ÷ a time that leaves the prefill out; the first canvas's tokens are counted though some "
    "or all of its time is not, or the source does not say.",
    "per_forward": "Tokens of a forward pass ÷ time of a forward pass: decoding only, no request was timed.",
    "canvas_positions": "Canvas positions computed ÷ time, each denoising pass counted: not delivered tokens.",
    "tokens_per_forward": "Tokens that a forward pass brings, on average.",
    "forward_time": "Time of one forward pass.",
    "steps_per_canvas": "Denoising passes that a canvas needs, on average.",
    "first_canvas": "Time from sending the request to its first content.",
    "wall": "Time of the whole request.",
    "speedup": "A ratio of two speeds.",
    "crossover": "Requests at once from which another model is the faster one.",
    "memory": "Memory that the model needs.",
    "quality": "Score in a public benchmark.",
    "not_stated": "The source does not say what was divided by what.",
}

BOUNDS = ("exactly", "about", "at least", "more than", "at most")

_TEXT_KEYS: Mapping[str, Kind] = {
    "id": "id",
    "unit": "line",
    "definition": "line",
    "model": "id",
    "source": "id",
    "bound": "line",
    "benchmark": "line",
    "better": "line",
    "hardware": "line",
    "precision": "line",
    "engine": "line",
    "settings": "line",
    "prompts": "line",
    "differs": "line",
    "anchor": "id",
    "note": "text",
}
_CLAIM_REQUIRED = ("id", "value", "unit", "definition", "model", "source")
_CLAIM_KEYS = (*_TEXT_KEYS, "value", "batch", "thinking")
_SOURCE_KEYS: Mapping[str, Kind] = {"id": "id", "title": "line", "url": "url", "note": "text"}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "definition": tuple(DEFINITIONS),
    "bound": BOUNDS,
    "better": ("higher", "lower"),
}


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """url: None where only others quote it. second_hand: it was not read itself."""

    id: str
    title: str
    url: str | None = None
    second_hand: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One number. What the source does not say is empty or None.

    definition: a key of DEFINITIONS. bound: one of BOUNDS, how the number is meant. batch: requests at once.
    prompts: kind of prompt. differs: why it means something else although its definition is the same.
    anchor: where the lesson's video says it. better: "lower" for a benchmark that counts errors.
    """

    id: str
    value: float
    unit: str
    definition: str
    model: str
    source: ClaimSource
    bound: str = "exactly"
    benchmark: str = ""
    better: str = "higher"
    hardware: str = ""
    precision: str = ""
    batch: int | None = None
    engine: str = ""
    settings: str = ""
    prompts: str = ""
    thinking: bool | None = None
    differs: str = ""
    anchor: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """ "more than 1,100 tok/s"."""
        number = f"{self.value:,}".removesuffix(".0")
        return f"{number if self.bound == 'exactly' else f'{self.bound} {number}'} {self.unit}"


def claims_of(lesson: Lesson) -> tuple[Claim, ...]:
    """The claims beside a lesson, none where it has no ledger. Raises LessonError as load_claims does."""
    path = claims_path(lesson.path)
    return load_claims(path) if path.exists() else ()


def claims_path(lesson_path: Path) -> Path:
    """lesson_path: a lesson file or its folder."""
    return (lesson_path if lesson_path.is_dir() else lesson_path.parent) / CLAIMS_FILE


def load_claims(path: Path) -> tuple[Claim, ...]:
    """path: a claims.toml or its folder. Raises LessonError (exit 2) naming the first fault and how many more."""
    document, faults = _read(path)
    if document is None or faults:
        more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
        raise LessonError(
            "The claims ledger has faults", f"{faults[0]}{more}", "labtui lesson check names them all.", exit_code=2
        )
    sources = {one["id"]: ClaimSource(**one) for one in document.data["source"]}
    return tuple(
        Claim(**{**entry, "value": float(entry["value"]), "source": sources[entry["source"]]})
        for entry in document.data["claim"]
    )


def check_claims(path: Path) -> list[Fault]:
    """Every fault of a ledger in the order of its lines; an empty list means that it can be loaded.

    path: a claims.toml or its folder. A lesson.toml beside it must be the lesson that it names, with its anchors.
    """
    return _read(path)[1]


def ledger_faults(lesson_path: Path) -> list[Fault]:
    """The faults of the ledger beside a lesson file, none where it has no ledger."""
    path = claims_path(lesson_path)
    return check_claims(path) if path.is_file() else []


def _read(path: Path) -> tuple[Document | None, list[Fault]]:
    path = path / CLAIMS_FILE if path.is_dir() else path
    try:
        document = read_document(path)
    except ReadingFault as error:
        return None, [error.fault]
    try:
        lesson = read_document(path.with_name(LESSON_FILE)).data
    except ReadingFault:
        lesson = {}
    return document, sorted(set(_faults(document, lesson)))


def _faults(document: Document, lesson: Mapping[str, Any]) -> Iterator[Fault]:
    data = document.data

    def fault(message: str, *place: str | int) -> Fault:
        return Fault(document.path, document.lines.of(*place), message)

    version = data.get("format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        yield fault(f"format_version must be {FORMAT_VERSION}, which this labtui reads", "format_version")
        return
    known = ("format_version", "lesson", "source", "claim")
    for name in data:
        if name not in known:
            yield fault(f"unknown key {quoted(name)}{nearest(name, known)}", name)
    if "lesson" not in data:
        yield fault("lesson is missing: the id of the lesson that these claims belong to")
    else:
        for _, message in complaints("id", data["lesson"]):
            yield fault(f"lesson {message}", "lesson")
        if "id" in lesson and lesson["id"] != data["lesson"]:
            yield fault(f"the lesson beside it is {quoted(str(lesson['id']))}", "lesson")
    for name in ("source", "claim"):
        entries = data.get(name)
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            yield fault(f"there must be at least one [[{name}]]", name)
            return
    yield from _source_faults(document)
    yield from _claim_faults(document, _anchors(lesson))


def _source_faults(document: Document) -> Iterator[Fault]:
    for position, entry in enumerate(document.data["source"]):
        place = ("source", position)
        yield from _key_faults(document, place, entry, (*_SOURCE_KEYS, "second_hand"), ("id", "title"))
        yield from _text_faults(document, place, entry, _SOURCE_KEYS)
        second_hand = entry.get("second_hand", False)
        if not isinstance(second_hand, bool):
            yield _fault(document, "second_hand must be true or false", *place, "second_hand")
        elif "url" not in entry and not second_hand:
            yield _fault(document, "url is missing: only a source with second_hand = true may be without", *place)
    yield from _twice(document, "source")


def _claim_faults(document: Document, anchors: frozenset[str] | None) -> Iterator[Fault]:
    sources = [entry.get("id") for entry in document.data["source"]]
    for position, entry in enumerate(document.data["claim"]):
        place = ("claim", position)
        yield from _key_faults(document, place, entry, _CLAIM_KEYS, _CLAIM_REQUIRED)
        yield from _text_faults(document, place, entry, _TEXT_KEYS)
        yield from _number_faults(document, place, entry)
        for key, choices in _CHOICES.items():
            value = entry.get(key)
            if isinstance(value, str) and value not in choices:
                message = f"{key} {quoted(value)} is none of: {', '.join(choices)}{nearest(value, choices)}"
                yield _fault(document, message, *place, key)
        source = entry.get("source")
        if isinstance(source, str) and source not in sources:
            near = nearest(source, [one for one in sources if isinstance(one, str)])
            yield _fault(document, f"there is no source {quoted(source)}{near}", *place, "source")
        anchor = entry.get("anchor")
        if anchors is not None and isinstance(anchor, str) and anchor not in anchors:
            yield _fault(
                document, f"the lesson has no anchor {quoted(anchor)}{nearest(anchor, anchors)}", *place, "anchor"
            )
        if (entry.get("definition") == "quality") != ("benchmark" in entry):
            yield _fault(document, 'benchmark belongs to a claim with definition = "quality", and to no other', *place)
    yield from _twice(document, "claim")


def _number_faults(document: Document, place: tuple[str | int, ...], entry: Mapping[str, Any]) -> Iterator[Fault]:
    if "value" in entry:
        value = entry["value"]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            yield _fault(document, "value must be a number above 0", *place, "value")
    if "batch" in entry:
        for _, message in complaints("count", entry["batch"]):
            yield _fault(document, f"batch {message}", *place, "batch")
    if not isinstance(entry.get("thinking", True), bool):
        yield _fault(document, "thinking must be true or false", *place, "thinking")


def _key_faults(
    document: Document,
    place: tuple[str | int, ...],
    entry: Mapping[str, Any],
    known: tuple[str, ...],
    required: tuple[str, ...],
) -> Iterator[Fault]:
    heading = f"[[{place[0]}]]"
    for name in entry:
        if name not in known:
            yield _fault(document, f"unknown key {quoted(name)} in {heading}{nearest(name, known)}", *place, name)
    for name in required:
        if name not in entry:
            yield _fault(document, f"{name} is missing in {heading}", *place)


def _text_faults(
    document: Document, place: tuple[str | int, ...], entry: Mapping[str, Any], kinds: Mapping[str, Kind]
) -> Iterator[Fault]:
    for name, kind in kinds.items():
        if name in entry:
            for _, message in complaints(kind, entry[name]):
                yield _fault(document, f"{name} {message}", *place, name)


def _twice(document: Document, table: str) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for position, entry in enumerate(document.data[table]):
        name = entry.get("id")
        if isinstance(name, str) and name in seen:
            line = document.lines.of(table, seen[name], "id")
            yield _fault(document, f"the id {quoted(name)} is taken in line {line}", table, position, "id")
        elif isinstance(name, str):
            seen[name] = position


def _fault(document: Document, message: str, *place: str | int) -> Fault:
    return Fault(document.path, document.lines.of(*place), message)


def _anchors(lesson: Mapping[str, Any]) -> frozenset[str] | None:
    """None where there is no lesson to look into."""
    entries = lesson.get("anchor", []) if lesson else None
    if not isinstance(entries, list):
        return None
    return frozenset(str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry)
