"""Pieces of the studio as plain text, which a person can write in any editor, and as JSON, for the store.

    # 0:34
      claim: over 1,100 tokens per second on one card
      confidence: low

    where it will matter: when I choose a card

A repeated part begins with its name behind a "#", and its fields stand below. Fields of the whole piece are not
indented. What goes on over several lines is indented by two blanks more than its field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from lessons.errors import LessonError
from lessons.studio.pieces import (
    KINDS,
    Checklist,
    ChecklistItem,
    EvidenceMap,
    EvidenceMapRow,
    HarnessMap,
    HarnessStage,
    Piece,
    PieceKind,
    TeachBack,
    Transfer,
    kind_of,
)
from lessons.words import plain_form

FIELD_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Shape:
    """many: the field that holds the repeated parts, "" where there are none; part: their type, first field its name.

    labels: how the fields are called in plain text.
    """

    many: str
    part: type[EvidenceMapRow] | type[HarnessStage] | type[ChecklistItem] | None
    labels: Mapping[str, str]


SHAPES: dict[PieceKind, Shape] = {
    "evidence-map": Shape(
        "rows",
        EvidenceMapRow,
        {
            "claim": "claim",
            "proves": "what the demo proves",
            "confidence": "confidence",
            "to_verify": "still to verify",
            "transfer": "where it will matter",
        },
    ),
    "harness-map": Shape(
        "stages",
        HarnessStage,
        {
            "here": "here",
            "boundary": "tool boundary",
            "proof": "proof signal",
            "weakest": "weakest link",
            "notice": "how I would notice",
        },
    ),
    "teach-back": Shape(
        "",
        None,
        {
            "explanation": "explanation",
            "diagram": "diagram",
            "example": "example",
            "misconception": "misconception to avoid",
            "seconds": "seconds",
        },
    ),
    "checklist": Shape("items", ChecklistItem, {"signal": "done when", "occasion": "when to use it"}),
    "transfer": Shape(
        "", None, {"change": "what changes tomorrow", "stops": "instead of", "signal": "how I will know"}
    ),
}


def normal(text: str) -> str:
    """A text as a field keeps it: no blanks at the ends of lines, no empty lines around it."""
    rows = [row.rstrip() for row in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return "\n".join(rows).strip()


def to_plain_text(piece: Piece) -> str:
    shape = SHAPES[kind_of(piece)]
    blocks = []
    for part in getattr(piece, shape.many) if shape.many else ():
        name, *own = [field.name for field in fields(part)]
        rows = [f"# {_one_line(getattr(part, name))}".rstrip()]
        rows += [row for key in own if (row := _field_text(shape.labels[key], getattr(part, key), FIELD_INDENT))]
        blocks.append("\n".join(rows))
    for field in fields(piece):
        if field.name != shape.many and (row := _field_text(shape.labels[field.name], getattr(piece, field.name), "")):
            blocks.append(row)
    return "\n\n".join(blocks) + "\n" if blocks else ""


@dataclass(frozen=True, slots=True)
class ReadPiece:
    """unread: lines that belong to no field, with their numbers from 1."""

    piece: Piece
    unread: tuple[tuple[int, str], ...]


def from_plain_text(kind: PieceKind, text: str) -> ReadPiece:
    """Takes any text. A line without indentation names the next part, or is a field of the whole piece."""
    shape = SHAPES[kind]
    names = {plain_form(label): key for key, label in shape.labels.items()}
    own_keys = {field.name for field in fields(shape.part)} if shape.part else set()
    whole: dict[str, list[str]] = {}
    parts: list[tuple[str, dict[str, list[str]]]] = []
    unread: list[tuple[int, str]] = []
    value: list[str] | None = None
    indent = ""
    for number, row in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        inner = indent + FIELD_INDENT
        if value is not None and (not row.strip() or row.startswith(inner)):
            value.append(row.removeprefix(inner))
            continue
        if not row.strip():
            continue
        if shape.part is not None and row.startswith("#"):
            parts.append((_one_line(row.removeprefix("#")), {}))
            value = None
            continue
        label, colon, rest = row.partition(":")
        key = names.get(plain_form(label)) if colon else None
        of_part = key in own_keys
        if key == "seconds" and _seconds(rest) is None:
            unread.append((number, row.strip()))
            value = None
        elif key is not None and (not of_part or parts):
            holder = parts[-1][1] if of_part else whole
            value = holder.setdefault(key, [])
            value.append(rest.strip())
            indent = FIELD_INDENT if of_part else ""
        elif shape.part is not None and row[0] not in " \t":
            parts.append((_one_line(row), {}))
            value = None
        else:
            unread.append((number, row.strip()))
            value = None
    made = {key: normal("\n".join(rows)) for key, rows in whole.items()}
    return ReadPiece(_make(kind, made, [(name, _joined(entry)) for name, entry in parts]), tuple(unread))


def to_json(piece: Piece) -> str:
    shape = SHAPES[kind_of(piece)]
    data: dict[str, Any] = {"piece": kind_of(piece)}
    for field in fields(piece):
        content = getattr(piece, field.name)
        if field.name == shape.many:
            data[field.name] = [{own.name: getattr(part, own.name) for own in fields(part)} for part in content]
        else:
            data[field.name] = content
    return json.dumps(data, ensure_ascii=False)


def from_json(text: str) -> Piece:
    """Reads what to_json wrote. Unknown keys are left out, missing ones are empty. LessonError for anything else."""
    try:
        data = json.loads(text)
        kind = data["piece"]
        shape = SHAPES[kind]
        whole = {field.name: data.get(field.name) for field in fields(KINDS[kind]) if field.name != shape.many}
        entries = [
            {own.name: str(entry.get(own.name) or "") for own in fields(shape.part)}
            for entry in (data.get(shape.many) or () if shape.part else ())
            if shape.part
        ]
        name = fields(shape.part)[0].name if shape.part else ""
        made = {key: str(content) for key, content in whole.items() if content is not None}
        return _make(kind, made, [(entry.pop(name), entry) for entry in entries])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise LessonError(
            "This piece cannot be read", "it is no piece of the studio in JSON", "Open the piece and write it anew."
        ) from None


def _make(kind: PieceKind, whole: Mapping[str, str], parts: Sequence[tuple[str, Mapping[str, str]]]) -> Piece:
    match kind:
        case "evidence-map":
            return EvidenceMap(tuple(EvidenceMapRow(name, **entry) for name, entry in parts), **whole)
        case "harness-map":
            return HarnessMap(tuple(HarnessStage(name, **entry) for name, entry in parts), **whole)
        case "checklist":
            return Checklist(tuple(ChecklistItem(name, **entry) for name, entry in parts), **whole)
        case "teach-back":
            texts = {key: text for key, text in whole.items() if key != "seconds"}
            return TeachBack(seconds=_seconds(whole.get("seconds", "")), **texts)
        case "transfer":
            return Transfer(**whole)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text.split()[0])
    except (ValueError, IndexError):
        return None
    return seconds if 0 < seconds < 100_000 else None


def _joined(entry: Mapping[str, list[str]]) -> dict[str, str]:
    return {key: normal("\n".join(rows)) for key, rows in entry.items()}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _field_text(label: str, content: str | float | None, indent: str) -> str:
    text = "" if content is None else normal(f"{content:g}" if isinstance(content, float) else content)
    if not text:
        return ""
    first, *more = text.split("\n")
    inner = indent + FIELD_INDENT
    return "\n".join([f"{indent}{label}: {first}", *(f"{inner}{row}".rstrip() for row in more)])
