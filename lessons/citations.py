"""Which anchors a text cites, and which of its citations lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lessons.model import Anchor, Lesson
from lessons.times import clock, parse_clock
from lessons.words import holds, words_of

CITATION = re.compile(
    r"(?<![\d:.])(?P<time>(?:\d{1,4}:)?\d{1,3}:\d{2})(?![\d:])|\bevidence\s+#?(?P<number>\d{1,3})\b", re.IGNORECASE
)
QUOTED = re.compile(r"“(?P<curly>[^“”]+)”|\"(?P<straight>[^\"]+)\"|«(?P<angled>[^«»]+)»|「(?P<corner>[^「」]+)」")
QUOTATION_WORDS = 4
"""A shorter run of words in quotation marks is a name or a term, not a quotation."""


@dataclass(frozen=True, slots=True)
class Citation:
    """text: as it stands there. start: its place in the text. anchor: None where it leads to none."""

    text: str
    start: int
    anchor: Anchor | None


def citations(lesson: Lesson, text: str) -> list[Citation]:
    """Times ("4:15"), numbers of evidence as in the grounded prompt ("Evidence 3"), and ids of anchors."""
    found = [Citation(match[0], match.start(), _cited(lesson, match)) for match in CITATION.finditer(text)]
    for anchor in lesson.anchors:
        pattern = rf"(?<![\w-]){re.escape(anchor.id)}(?![\w-])"
        found += [Citation(match[0], match.start(), anchor) for match in re.finditer(pattern, text)]
    return sorted(found, key=lambda citation: citation.start)


def cites_an_anchor(lesson: Lesson, text: str) -> bool:
    return any(citation.anchor is not None for citation in citations(lesson, text))


def citation_faults(lesson: Lesson, text: str) -> list[tuple[Citation, str]]:
    """Each citation that leads nowhere, with a sentence that names the nearest anchor."""
    return [
        (citation, f"{citation.text} is no anchor of this lesson{_nearest(lesson, citation)}")
        for citation in citations(lesson, text)
        if citation.anchor is None
    ]


def quotation_faults(lesson: Lesson, text: str) -> list[tuple[int, str]]:
    """Place and complaint of each quotation that does not stand, word for word, in the lesson's quotations."""
    faults = []
    sayings: list[list[str]] = []
    for match in QUOTED.finditer(text):
        quoted = next(group for group in match.groups() if group is not None)
        pieces = [words_of(piece) for piece in re.split(r"\.\.\.|…|\[[^\]]*\]", quoted)]
        if sum(map(len, pieces)) < QUOTATION_WORDS:
            continue
        sayings = sayings or _sayings(lesson)
        if not any(all(holds(saying, piece) for piece in pieces) for saying in sayings):
            faults.append((match.start(), f"“{_short(quoted)}” stands in no quotation of this lesson"))
    return faults


def _sayings(lesson: Lesson) -> list[list[str]]:
    """What may be quoted, as words: the transcript's quotations, titles, and the prompt, which an answer may repeat."""
    prompt = " ".join((lesson.title, lesson.video.title, *lesson.prompt.tasks, *lesson.prompt.quality_bar))
    quotes = [anchor.quote for anchor in lesson.anchors] + [point.quote for point in lesson.deep_points]
    return [words_of(text) for text in (*quotes, prompt)]


def anchor_for(lesson: Lesson, reference: str) -> Anchor | None:
    """The anchor that a field such as "4:15", "Evidence 3" or "svg-check" means, None for none or for several."""
    found = {citation.anchor.id: citation.anchor for citation in citations(lesson, reference) if citation.anchor}
    return next(iter(found.values())) if len(found) == 1 else None


def _cited(lesson: Lesson, match: re.Match[str]) -> Anchor | None:
    if match["number"]:
        number = int(match["number"])
        return lesson.anchors[number - 1] if 0 < number <= len(lesson.anchors) else None
    seconds = _seconds(match["time"])
    return next((anchor for anchor in lesson.anchors if int(anchor.start_s) == seconds), None)


def _nearest(lesson: Lesson, citation: Citation) -> str:
    if not lesson.anchors:
        return "; it has none"
    seconds = _seconds(citation.text)
    if seconds is None:
        return f"; they go up to Evidence {len(lesson.anchors)}"
    near = min(lesson.anchors, key=lambda anchor: abs(anchor.start_s - seconds))
    return f"; the nearest is {clock(near.start_s)}, {near.title}"


def _seconds(text: str) -> float | None:
    try:
        return parse_clock(text)
    except ValueError:
        return None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59].rstrip() + "…"


def lines_with(text: str) -> Iterator[tuple[int, int, str]]:
    """Number, first place and text of each line."""
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        yield number, start, line
        start += len(line) + 1
