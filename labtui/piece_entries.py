"""A piece of the studio as a list of entries with fields, for editing it one entry at a time."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, cast

from lessons.citations import anchor_for
from lessons.model import Anchor, Lesson
from lessons.studio.checks import missing
from lessons.studio.keeping import SHAPES
from lessons.studio.pieces import (
    Checklist,
    ChecklistItem,
    EvidenceMap,
    EvidenceMapRow,
    HarnessMap,
    HarnessStage,
    Piece,
    kind_of,
)
from lessons.times import clock

FieldKind = Literal["text", "anchor", "confidence", "stage"]
Part = EvidenceMapRow | HarnessStage | ChecklistItem
Made = TypeVar("Made", bound=Piece | Part)

FIRST_FIELDS = {"anchor": "timestamp", "stage": "stage", "text": "item"}
PICKED: dict[str, FieldKind] = {"anchor": "anchor", "confidence": "confidence", "weakest": "stage"}


@dataclass(frozen=True, slots=True)
class EntryField:
    name: str
    label: str
    kind: FieldKind


@dataclass(frozen=True, slots=True)
class Entry:
    """part: the index of a repeated part, None where the entry is one field of the whole piece."""

    part: int | None
    title: str
    fields: tuple[EntryField, ...]

    @property
    def id(self) -> str:
        return self.fields[0].name if self.part is None else f"part/{self.part}"


def entries(lesson: Lesson, piece: Piece) -> tuple[Entry, ...]:
    """The time that a teach-back card took is none: it is measured, not written."""
    shape = SHAPES[kind_of(piece)]
    found = []
    for index, part in enumerate(parts(piece)):
        names = [field.name for field in fields(part)]
        if isinstance(part, HarnessStage) and lesson.cards:
            names.remove("stage")
        found.append(Entry(index, _part_title(part, index), tuple(_field(lesson, piece, name) for name in names)))
    own = [field.name for field in fields(piece) if field.name not in (shape.many, "seconds")]
    return (*found, *(Entry(None, _sentence(shape.labels[name]), (_field(lesson, piece, name),)) for name in own))


def parts(piece: Piece) -> tuple[Part, ...]:
    many = SHAPES[kind_of(piece)].many
    return cast("tuple[Part, ...]", getattr(piece, many)) if many else ()


def value(piece: Piece, entry: Entry, name: str) -> str:
    holder = piece if entry.part is None else parts(piece)[entry.part]
    return str(getattr(holder, name))


def with_value(piece: Piece, entry: Entry, name: str, text: str) -> Piece:
    if entry.part is None:
        return _changed(piece, **{name: text})
    changed = list(parts(piece))
    changed[entry.part] = _changed(changed[entry.part], **{name: text})
    return _with_parts(piece, changed)


def can_add(lesson: Lesson, piece: Piece) -> bool:
    """The stages of a harness map are those of the lesson's diagram, where it has one."""
    return isinstance(piece, EvidenceMap | Checklist) or (isinstance(piece, HarnessMap) and not lesson.cards)


def with_part(piece: Piece, index: int, part: Part | None = None) -> Piece:
    """With a part put in before that index, an empty one where none is given."""
    made = SHAPES[kind_of(piece)].part
    assert made is not None
    changed = list(parts(piece))
    changed.insert(index, part or made())
    return _with_parts(piece, changed)


def without_part(piece: Piece, index: int) -> Piece:
    return _with_parts(piece, [part for at, part in enumerate(parts(piece)) if at != index])


def missing_in(lesson: Lesson, piece: Piece, entry: Entry) -> list[str]:
    """What `missing` says about one repeated part, without its name before each sentence."""
    if entry.part is None:
        return []
    part = parts(piece)[entry.part]
    name = part.stage if isinstance(part, HarnessStage) else _part_title(part, entry.part)
    found = [message for message in missing(lesson, piece) if message.startswith((f"{name}: ", f"{name} is "))]
    return [_sentence(message.removeprefix(f"{name}: ")) for message in found]


def filled(piece: Piece, entry: Entry) -> int:
    return sum(bool(value(piece, entry, field.name).strip()) for field in entry.fields)


def summary(lesson: Lesson, piece: Piece, entry: Entry) -> str:
    """The entry in one line."""
    if entry.part is None:
        return one_line(value(piece, entry, entry.fields[0].name))
    part = parts(piece)[entry.part]
    if isinstance(part, EvidenceMapRow):
        anchor = anchor_for(lesson, part.anchor)
        return f"{clock(anchor.start_s) if anchor else part.anchor or '–':>5}  {one_line(part.claim)}"
    if isinstance(part, HarnessStage):
        return one_line(part.here or part.boundary or part.proof)
    return one_line(part.text)


def anchor_at(lesson: Lesson, piece: Piece, entry: Entry) -> Anchor | None:
    if entry.part is None or not isinstance(piece, EvidenceMap):
        return None
    return anchor_for(lesson, piece.rows[entry.part].anchor)


def one_line(text: str) -> str:
    return " ".join(text.split())


def _field(lesson: Lesson, piece: Piece, name: str) -> EntryField:
    labels = SHAPES[kind_of(piece)].labels
    kind = PICKED.get(name, "text")
    if kind == "anchor" and not lesson.anchors:
        kind = "text"
    return EntryField(name, _sentence(labels.get(name) or FIRST_FIELDS[name]), kind)


def _part_title(part: Part, index: int) -> str:
    if isinstance(part, HarnessStage):
        return one_line(part.stage) or f"Stage {index + 1}"
    return f"{'Row' if isinstance(part, EvidenceMapRow) else 'Item'} {index + 1}"


def _with_parts(piece: Piece, changed: list[Part]) -> Piece:
    return _changed(piece, **{SHAPES[kind_of(piece)].many: tuple(changed)})


def _changed(made: Made, **changes: Any) -> Made:
    return type(made)(**{field.name: getattr(made, field.name) for field in fields(made)} | changes)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
