"""A piece of the studio in plain text: shown as a form, taken from lines that a person types, pastes or edits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import cast

import click

from labtui.cli.conversation import ask_lines, is_typed, say, say_lines
from labtui.errors import USAGE, LabError
from labtui.made import keep_piece, kept_piece
from labtui.terminal_text import visible, visible_line
from lessons.model import Lesson, PracticePiece
from lessons.studio.checks import missing
from lessons.studio.keeping import FIELD_INDENT, SHAPES, from_plain_text, to_plain_text
from lessons.studio.pieces import Piece, PieceKind
from lessons.times import clock
from store.opening import Store

HOW = {
    "evidence-map": "a row begins with # and its timestamp",
    "harness-map": "a stage begins with # and its name",
    "checklist": "an item begins with #",
}


def show_piece(store: Store, lesson: Lesson, practice: PracticePiece) -> None:
    """What was made so far, or the empty form, and what is missing."""
    kept = kept_piece(lesson, practice, store)
    if kept.earlier:
        say(f"What you wrote here before:\n{visible(kept.earlier)}\n")
    text = to_plain_text(kept.piece) if kept.begun else ""
    say("Your piece so far:" if text else "The form, still empty:")
    say_lines(f"  {line}" for line in visible(text or blank_form(lesson, practice)).splitlines())
    if text:
        say()
        _say_missing(lesson, kept.piece)
    say("\nedit opens it in your editor; paste takes it line by line.\n")


def paste_piece(store: Store, lesson: Lesson, practice: PracticePiece) -> None:
    """Keeps what was given even if input ends before the line with the dot."""
    kind = cast("PieceKind", practice.piece)
    how = f" ({HOW[kind]})" if kind in HOW else ""
    text = ask_lines(f"Write it as in the form{how}. A line with only a dot ends it:")
    _take(store, lesson, practice, text)


def edit_piece(store: Store, lesson: Lesson, practice: PracticePiece) -> None:
    """Raises LabError (exit 2) where no person could use an editor."""
    if not is_typed():
        raise LabError("There is no terminal for an editor", "input comes from a pipe", "paste takes lines.", USAGE)
    kept = kept_piece(lesson, practice, store)
    start = to_plain_text(kept.piece) if kept.begun else blank_form(lesson, practice)
    edited = click.edit(start, extension=".txt", require_save=True)
    if edited is None:
        say("Nothing was changed.")
    else:
        _take(store, lesson, practice, edited)


def missing_in_piece(store: Store, lesson: Lesson, practice: PracticePiece) -> int:
    kept = kept_piece(lesson, practice, store)
    return len(missing(lesson, kept.piece)) if kept.begun else 1


def blank_form(lesson: Lesson, practice: PracticePiece) -> str:
    """Every field by its name. A person's notes at the cards are not in it."""
    kind = cast("PieceKind", practice.piece)
    shape = SHAPES[kind]
    own = [field.name for field in fields(shape.part)][1:] if shape.part else []
    names = {
        "evidence-map": [clock(anchor.start_s) for anchor in lesson.anchors[:1]] or ["where it stands"],
        "harness-map": [card.stage for card in lesson.cards] or ["stage"],
        "checklist": ["first item"],
    }.get(kind, [])
    blocks = ["\n".join([f"# {name}", *(f"{FIELD_INDENT}{shape.labels[key]}:" for key in own)]) for name in names]
    whole = [f"{label}:" for key, label in shape.labels.items() if key not in own]
    return "\n\n".join([*blocks, "\n".join(whole)]) + "\n"


def _take(store: Store, lesson: Lesson, practice: PracticePiece, text: str) -> None:
    if not text.strip():
        say("Nothing was written; your piece stays as it was.")
        return
    read = from_plain_text(cast("PieceKind", practice.piece), text)
    say_lines(_unread(read.unread))
    keep_piece(lesson, practice, read.piece, store)
    say("Saved; the earlier version is kept too.")
    _say_missing(lesson, read.piece)


def _unread(lines: tuple[tuple[int, str], ...]) -> Iterator[str]:
    for number, line in lines:
        yield f"Line {number} belongs to no field and is left out: {visible_line(line)}"


def _say_missing(lesson: Lesson, piece: Piece) -> None:
    found = missing(lesson, piece)
    say("Still missing:" if found else "Nothing is missing: this piece is done.")
    say_lines(f"  - {visible_line(one)}" for one in found)
