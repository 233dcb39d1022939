"""The small repeated patterns of a page: numbered pieces, timed pieces, lists of sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lessons.importing.marks import bullet, ends_sentence, number_of, numbered
from lessons.importing.page_text import Line

GLUED_BEHIND = re.compile(r"(?P<before>.*(?:[^\W\d_]|(?<!\d)[.!?。！？…)\]”\"'’»」]\s?))(?P<number>\d{2,3})")
GLUED_BEFORE = re.compile(r"(?P<number>\d{2,3})[.):]?\s?(?P<behind>[^\W\d].*)")
HEADING_WORDS = 5
TITLE_LENGTH = 80

Block = tuple[Line, list[Line]]
"""The line that opens a piece, and the lines below it."""


def unglued(lines: Sequence[Line]) -> list[Line]:
    """Takes apart what copying has joined: "01Intent", and "... transfer note.02" where the 02 opens the next piece.

    A number counts only if it is the one that comes next.
    """
    found: list[Line] = []
    expected = 1
    for position, line in enumerate(lines):
        text = line.text
        number = number_of(text)
        if number is not None:
            expected = number + 1
            found.append(line)
            continue
        before = GLUED_BEFORE.fullmatch(text)
        if before and before["number"] == f"{expected:02}":
            found.append(Line(line.number, before["number"]))
            text, expected = before["behind"].strip(), expected + 1
        behind = GLUED_BEHIND.fullmatch(text)
        if behind and behind["number"] == f"{expected:02}" and position + 1 < len(lines):
            found += [Line(line.number, behind["before"].strip()), Line(line.number, behind["number"])]
            expected += 1
        else:
            found.append(Line(line.number, text))
    return found


def blocks(lines: Sequence[Line], opens: Callable[[Line], bool]) -> tuple[list[Line], list[Block]]:
    """The lines before the first piece, and the pieces."""
    before: list[Line] = []
    pieces: list[Block] = []
    for line in lines:
        if opens(line):
            pieces.append((line, []))
        else:
            (pieces[-1][1] if pieces else before).append(line)
    return before, pieces


def is_number(line: Line) -> bool:
    return number_of(line.text) is not None


def items(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """The entries of a list of sentences, and what is none: an unknown heading with all below it. A list that does not
    begin with a sentence is taken as it is.

    Numbers alone on a line, numbers in front and bullets are taken off.
    """
    kept: list[Line] = []
    for line in lines:
        if is_number(line):
            continue
        entry = numbered(line.text)
        text = entry[1] if entry else bullet(line.text) or line.text
        kept.append(Line(line.number, text))
    if not kept or not ends_sentence(kept[0].text):
        return kept, []
    for position, line in enumerate(kept):
        if not ends_sentence(line.text) and len(line.text.split()) <= HEADING_WORDS:
            return kept[:position], kept[position:]
    return kept, []


def first_words(text: str) -> str:
    """A title for a text without one: what stands before its colon, its first sentence, or the beginning of that."""
    sentence = re.split(r"(?<=[.!?])\s|(?<=[。！？])", text, maxsplit=1)[0]
    before_colon = re.split(r"[:：](?=\s|$)|：", sentence, maxsplit=1)[0].strip()
    title = before_colon if 0 < len(before_colon) <= TITLE_LENGTH else sentence
    title = title.strip().rstrip(".。") or text
    if len(title) <= TITLE_LENGTH:
        return title
    cut = title[: TITLE_LENGTH - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,;:") + "…"
