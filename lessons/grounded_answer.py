"""Checks an assistant's answer to the grounded prompt by the rules that the prompt sets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lessons.citations import citation_faults, cites_an_anchor, quotation_faults
from lessons.model import Lesson
from lessons.words import plain_form

Rule = Literal["citation", "quotation", "section", "claim", "table", "empty"]

SECTION_NAMED = re.compile(
    r"(?:section|abschnitt|sección|sezione)\s+[“\"„«](?P<before>[^”\"“»]{2,60})[”\"“»]"
    r"|[“\"„«](?P<behind>[^”\"“»]{2,60})[”\"“»]\s+(?:section|abschnitt)",
    re.IGNORECASE,
)
ABOUT_SOURCE = re.compile(
    r"\b(?:the|this) (?:video|demo|speaker|presenter|author|host|transcript|talk|clip)\b"
    r"|\b(?:he|she|they) (?:says?|claims?|shows?|said|showed|claimed)\b",
    re.IGNORECASE,
)
FIGURE = re.compile(r"\d")
OUTSIDE = "outside context"
CLAIM_WITHOUT_ANCHOR = "This says something about the source and cites no anchor."
HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<hash>.*?)\s*#*|\*\*(?P<bold>[^*]+)\*\*:?|(?P<colon>[^:|]{2,60}):)\s*$")
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
EXEMPT = (
    "checklist",
    "exercise",
    "learning transfer",
    "definition",
    "uncertain",
    "failure",
    "example",
    "outside context",
)
"""Sections in which one writes of one's own work; citations in them must still exist."""


@dataclass(frozen=True, slots=True, order=True)
class AnswerFault:
    """line: of the answer, from 1; 0 where something is absent from all of it. text: that line."""

    line: int
    rule: Rule
    message: str
    text: str = ""


def check_answer(lesson: Lesson, answer: str) -> list[AnswerFault]:
    """By line. An empty list means that nothing speaks against the answer by these rules; it may still be wrong."""
    text = answer.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return [AnswerFault(0, "empty", "The answer is empty.")]
    found = [*_absent_sections(lesson, text)]
    if lesson.anchors:
        found += _line_faults(lesson, text)
    return sorted(set(found))


def wanted_sections(lesson: Lesson) -> list[str]:
    """Names of the sections for which the lesson's prompt asks."""
    found = (match for task in lesson.prompt.tasks for match in SECTION_NAMED.finditer(task))
    return list(dict.fromkeys(match["before"] or match["behind"] for match in found))


def _absent_sections(lesson: Lesson, text: str) -> Iterator[AnswerFault]:
    headings = [plain_form(name) for line in text.split("\n") if (name := _heading(line))]
    for name in wanted_sections(lesson):
        if not any(plain_form(name) in heading for heading in headings):
            yield AnswerFault(0, "section", f"The section “{name}” is missing.")


def _line_faults(lesson: Lesson, text: str) -> Iterator[AnswerFault]:
    section = ""
    fenced = outside = False
    columns: list[str] = []
    rows = text.split("\n")
    for number, line in enumerate(rows, 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if not line.strip():
            outside, columns = False, []
            continue
        if fenced:
            continue
        references = list(_reference_faults(lesson, number, line))
        yield from references
        # Whoever cites a place that is not there is told so once.
        cites = cites_an_anchor(lesson, line) or any(fault.rule == "citation" for fault in references)
        outside = (outside and not columns) or OUTSIDE in line.lower()
        if name := _heading(line):
            section = plain_form(name)
        elif "|" in line and _is_header(rows, number):
            columns = [plain_form(cell) for cell in line.strip().strip("|").split("|")]
        elif "|" in line and columns:
            asks = any("timestamp" in column or "claim" in column for column in columns)
            if asks and not TABLE_RULE.match(line) and OUTSIDE not in line.lower() and not cites:
                yield AnswerFault(number, "table", "This row cites no anchor.", line.strip())
        elif (
            not outside
            and not any(word in section for word in EXEMPT)
            and _claims(line)
            and not cites
            and not cites_an_anchor(lesson, _paragraph(rows, number))
        ):
            yield AnswerFault(number, "claim", CLAIM_WITHOUT_ANCHOR, line.strip())


def _reference_faults(lesson: Lesson, number: int, line: str) -> Iterator[AnswerFault]:
    for _, message in citation_faults(lesson, line):
        yield AnswerFault(number, "citation", f"{message}.", line.strip())
    for _, message in quotation_faults(lesson, line):
        yield AnswerFault(number, "quotation", f"{message}.", line.strip())


def _is_header(rows: list[str], number: int) -> bool:
    return number < len(rows) and TABLE_RULE.match(rows[number]) is not None


def _paragraph(rows: list[str], number: int) -> str:
    """The list entry or paragraph around a line: a citation anywhere in it counts for all of it."""
    first = last = number - 1
    while first > 0 and not LIST_MARK.match(rows[first]) and rows[first - 1].strip() and not _heading(rows[first - 1]):
        first -= 1
    while last + 1 < len(rows) and rows[last + 1].strip() and not LIST_MARK.match(rows[last + 1]):
        last += 1
    return "\n".join(rows[first : last + 1])


def _claims(line: str) -> bool:
    bare = LIST_MARK.sub("", line)
    return bool(ABOUT_SOURCE.search(bare) or FIGURE.search(bare))


def _heading(line: str) -> str:
    match = HEADING.match(line)
    if match is None or (LIST_MARK.match(line) and not match["hash"]):
        return ""
    return (match["hash"] or match["bold"] or match["colon"] or "").strip(" *:")
