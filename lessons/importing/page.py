"""Splits a learning page into its sections. The headings belong to the layout; what stands under them may be in any
language, and any section may be missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lessons.importing.marks import number_of, time_of
from lessons.importing.page_text import Line
from lessons.words import plain_form

Section = Literal[
    "header",
    "frame",
    "diagram",
    "deep",
    "pitfalls",
    "gates",
    "prompt",
    "misconceptions",
    "practice",
    "recall",
    "sources",
]

# Short names, and the sentences below them; in plain_form. A page may have either or both.
NAMES: dict[Section, str] = {
    "frame": r"quick learning frame",
    "diagram": r"concept diagram",
    "deep": r"deep lesson",
    "prompt": r"put it into practice",
    "misconceptions": r"misconceptions?",
    "practice": r"practice studio",
    "recall": r"recall check",
    "sources": r"source shelf",
}
SENTENCES: dict[Section, str] = {
    "frame": r"read this before \w+",
    "diagram": r"where this [\w ]{1,30} fits",
    "deep": r"turn this [\w ]{1,30} into working knowledge",
    "pitfalls": r"(?:do not|don t|dont) learn it wrong",
    "gates": r"(?:do not|don t|dont) count this as learned until these are true",
    "prompt": r"give this grounded prompt to [\w ]{1,60}",
    "misconceptions": r"what to stop believing",
    "practice": r"learning only counts when you make something",
    "recall": r"answer first then reveal(?: [\w ]{1,40})?",
    "sources": r"use the [\w ]{1,30} as a doorway(?: then verify with primary sources)?",
}
# Not headings of a section, but only found in one: they open it where its own heading is missing.
SIGNS: dict[Section, str] = {
    "deep": r"thesis|example",
    "prompt": r"source video|transcript anchors from this exact video",
}
BEFORE_SIGNS: tuple[Section, ...] = ("header", "frame", "diagram", "deep", "pitfalls", "gates")
HEADING_LENGTH = 120


@dataclass
class Page:
    """headings: how many lines were recognized as headings of the layout. Lines are in the order of the page."""

    sections: dict[Section, list[Line]] = field(default_factory=dict)
    headings: int = 0

    def lines(self, section: Section) -> list[Line]:
        return self.sections.get(section, [])


def split_page(lines: Sequence[Line]) -> Page:
    page = Page()
    section: Section = "header"
    for position, line in enumerate(lines):
        heading = _heading(lines, position)
        if heading is not None:
            section = heading
            page.headings += 1
            continue
        section = _by_sign(line, section)
        page.sections.setdefault(section, []).append(line)
    return page


def _heading(lines: Sequence[Line], position: int) -> Section | None:
    if len(lines[position].text) > HEADING_LENGTH:
        return None
    text = plain_form(lines[position].text)
    if sentence := _matching(SENTENCES, text):
        return sentence
    name = _matching(NAMES, text)
    if name is None:
        return None
    followed = position + 1 < len(lines) and _matching(SENTENCES, plain_form(lines[position + 1].text)) == name
    return name if followed or not _is_title(lines, position) else None


def _is_title(lines: Sequence[Line], position: int) -> bool:
    """Whether a part of the page, or the page itself, has that line as its title."""
    if position == 0:
        return True
    before = lines[position - 1].text
    return number_of(before) is not None or time_of(before) is not None or plain_form(before) == "example"


def _by_sign(line: Line, section: Section) -> Section:
    if section not in BEFORE_SIGNS or len(line.text) > HEADING_LENGTH:
        return section
    return _matching(SIGNS, plain_form(line.text)) or section


def _matching(patterns: dict[Section, str], text: str) -> Section | None:
    return next((section for section, pattern in patterns.items() if re.fullmatch(pattern, text)), None)
