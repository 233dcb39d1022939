"""The part of a page that is meant for an assistant: the source, the anchors, tasks and quality bar. It is also the
only part that gives the source's address and all quotations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lessons.importing.draft import Draft
from lessons.importing.marks import OPENING, bullet, leading_time, numbered, quotation
from lessons.importing.page_text import Line
from lessons.words import plain_form

FACTS = ("title", "url", "topic", "learning_frame", "why")
LABELS = {
    "title": "title",
    "url": "url",
    "link": "url",
    "topic": "topic",
    "my current learning frame": "learning_frame",
    "learning frame": "learning_frame",
    "why this matters": "why",
}
FACT = re.compile(r"(?P<label>[^:：]{1,60})[:：]\s*(?P<value>.*)")
HEADINGS = ("source video", "transcript anchors from this exact video", "your task", "quality bar")
NO_PLACE = "the grounded prompt has no place for this line"


@dataclass(frozen=True, slots=True)
class Quotation:
    """label: what the page calls it ("Evidence 2", a deep point's title)."""

    at_s: float
    label: str
    quote: str
    line: Line


@dataclass
class GroundedPart:
    facts: dict[str, Line] = field(default_factory=dict)
    quotations: list[Quotation] = field(default_factory=list)


def read_grounded_part(lines: Sequence[Line], draft: Draft) -> GroundedPart:
    """Puts the prompt into the draft; source and quotations are returned, they have their place elsewhere."""
    part = GroundedPart()
    intro: list[Line] = []
    tasks: list[Line] = []
    includes: list[Line] = []
    quality: list[Line] = []
    facts: list[Line] = []
    place = intro
    for position, line in enumerate(lines):
        following = lines[position + 1].text if position + 1 < len(lines) else ""
        quoted = _quotation(line)
        task, point = numbered(line.text), bullet(line.text)
        if quoted is not None:
            part.quotations.append(quoted)
            place = tasks
        elif task is not None:
            tasks.append(Line(line.number, task[1]))
            place = includes if task[1].endswith((":", "：")) else tasks
        elif point is not None and place is intro:
            facts.append(Line(line.number, point))
        elif point is not None and (place is includes or place is quality):
            place.append(Line(line.number, point))
        elif point is None and (_is_heading(line) or (line.text.endswith((":", "：")) and _opens_list(following))):
            if (tasks or part.quotations) and _opens_rules(following):
                place = quality
        elif place is intro and point is None and not facts:
            intro.append(line)
        else:
            draft.leave([line], NO_PLACE)
    _place_facts(facts, part, draft)
    if intro:
        draft.put("prompt", "intro", "\n\n".join(line.text for line in intro), intro)
    for name, entries in (("tasks", tasks), ("includes", includes), ("quality_bar", quality)):
        if entries:
            draft.put("prompt", name, [line.text for line in entries], entries)
    return part


def _is_heading(line: Line) -> bool:
    return plain_form(line.text) in HEADINGS


def _opens_rules(following: str) -> bool:
    rule = bullet(following)
    return rule is not None and leading_time(rule) is None


def _opens_list(following: str) -> bool:
    return bullet(following) is not None or numbered(following) is not None or leading_time(following) is not None


def _quotation(line: Line) -> Quotation | None:
    """A line such as - 1:02:03 / Evidence 4: "words of the transcript..." """
    text = bullet(line.text) or line.text
    timed = leading_time(text)
    if timed is None:
        return None
    seconds, rest = timed
    marks = [rest.index(mark) for mark in OPENING if mark in rest]
    start = min(marks, default=-1)
    while start >= 0 and quotation(rest[start:]) is None:
        start = min((place for place in (rest.find(mark, start + 1) for mark in OPENING) if place > 0), default=-1)
    if start >= 0:
        label, quote = rest[:start], quotation(rest[start:]) or ""
    else:
        label, colon, quote = rest.partition(":")
        if not colon:
            label, quote = "", rest
    quote = quote.strip().lstrip("/|–—- ") if start < 0 else quote
    label = label.strip(" /|:：–—-·")
    return Quotation(seconds, label, quote, line) if quote else None


def _place_facts(lines: Sequence[Line], part: GroundedPart, draft: Draft) -> None:
    """By their labels; labels in another language by the order of the layout."""
    found = [(line, match["label"], match["value"]) for line in lines if (match := FACT.fullmatch(line.text))]
    draft.leave([line for line in lines if not FACT.fullmatch(line.text)], NO_PLACE)
    known = [LABELS.get(plain_form(label)) for _, label, _ in found]
    if not set(known) - {"url", None}:
        known = [*FACTS[: len(found)], *[None] * (len(found) - len(FACTS))]
    for (line, _, value), name in zip(found, known, strict=True):
        if name is None or name in part.facts:
            draft.leave([line], NO_PLACE)
        elif value:
            part.facts[name] = Line(line.number, value)
