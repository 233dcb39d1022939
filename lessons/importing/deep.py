"""The deep lesson of a page: counts of the transcript, thesis, timed points, one card for each stage, examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lessons.importing.blocks import Block, blocks, is_number, unglued
from lessons.importing.draft import Draft
from lessons.importing.grounded import Quotation
from lessons.importing.markdown_escapes import as_markdown
from lessons.importing.marks import quotation, time_of, times_inside
from lessons.importing.page_text import Line
from lessons.times import clock
from lessons.words import plain_form

COUNT = re.compile(r"(?<!\d)\d{1,9}(?:[.,\u2009 ]\d{3}){0,3}(?!\d)")
LAST_SENTENCE = re.compile(r"(?P<before>.*[.!?][”\"')]?)\s+(?P<last>[A-Z][^.!?]*(?:[.!?](?=\S)[^.!?]*)*[.!?])")
# What the last sentence of a point begins with when it asks the reader for something.
ASKS = re.compile(
    r"""(?ix)
    ask | audit | build | calculate | check | choose | circle | collect | compare | compute | convert | copy |
    count | create | decide | define | describe | design | diagram | document | draft | draw | estimate | explain
    | extract | find | identify | label | list | make | map | mark | measure | name | note | outline | pick | plan
    | predict | prepare | record | repeat | rewrite | run | score | set | sketch | sort | state | summarize | take
    | test | time | trace | translate | try | turn | use | write
    """
)


@dataclass
class DeepLesson:
    """points and cards wait until the anchors of the page are known.

    quotations: those of the points. titles: of the points, by their seconds.
    """

    draft: Draft
    points: list[Block] = field(default_factory=list)
    cards: list[Block] = field(default_factory=list)
    quotations: list[Quotation] = field(default_factory=list)
    titles: dict[float, str] = field(default_factory=dict)

    def place(self, anchors: dict[float, str], stages: Sequence[Line]) -> None:
        for opening, below in sorted(self.points, key=lambda block: time_of(block[0].text) or 0):
            self._place_point(opening, below, anchors)
        self._place_cards(anchors, stages)

    def _place_point(self, opening: Line, below: list[Line], anchors: dict[float, str]) -> None:
        draft, seconds = self.draft, time_of(opening.text) or 0.0
        if any(entry.get("at") == clock(seconds) for entry in draft.entries("deep_point")):
            draft.leave([opening, *below], f"another point stands at {clock(seconds)} already")
            return
        title, texts = below[0] if below else None, below[1:]
        quoted = quotation(texts[0].text) if texts else None
        quote_line, texts = (texts[0], texts[1:]) if quoted is not None else (None, texts)
        if title is None or not texts or (quoted is None and seconds not in anchors):
            draft.leave([opening, *below], "a point has a title, a quotation and a text; one of them is missing here")
            return
        body, *rest = texts
        draft.leave(rest, "a point has a title, a quotation and one paragraph; this is one line more")
        text, task = _split_task(body.text)
        values = {"title": title.text}
        anchor = anchors.get(seconds)
        same = quoted is None or any(
            entry["id"] == anchor and entry["quote"] == quoted for entry in draft.entries("anchor")
        )
        if quoted is not None and not (anchor and same):
            values |= {"at": clock(seconds), "quote": quoted}
        values["body"] = as_markdown(text)
        if task:
            values["task"] = as_markdown(task)
        linked = {"anchors": [anchor]} if anchor else {}
        lines = [opening, title, *([quote_line] if quote_line else []), body]
        draft.add("deep_point", {**values, **linked}, lines, name=title.text, kind="point")

    def _place_cards(self, anchors: dict[float, str], stages: Sequence[Line]) -> None:
        bodies: dict[str, tuple[Line, list[Line]]] = {}
        for opening, below in self.cards:
            if not below:
                self.draft.leave([opening], "no text stands with this number")
                continue
            name = plain_form(below[0].text) or below[0].text
            if name in bodies:
                self.draft.leave([opening, *below], "a card of this name is there already")
                continue
            bodies[name] = (below[0], below[1:])
        for stage in stages:
            self._place_card(stage, bodies.pop(plain_form(stage.text) or stage.text, (stage, []))[1], anchors)
        for stage, below in bodies.values():
            self._place_card(stage, below, anchors)

    def _place_card(self, stage: Line, below: list[Line], anchors: dict[float, str]) -> None:
        body = below[0] if below else stage
        ids = list(dict.fromkeys(anchors[second] for second in times_inside(body.text) if second in anchors))
        values = {"stage": stage.text, **({"anchors": ids} if ids else {}), "body": as_markdown(body.text)}
        card = self.draft.add("card", values, [stage, *below[:1]], name=stage.text)
        self.draft.leave(below[1:], "a card has one paragraph; this is one line more")
        if card and not below:
            self.draft.wanting(f"card/{card}", stage, "the page says nothing about this stage")


def build_deep_lesson(lines: Sequence[Line], draft: Draft) -> DeepLesson:
    """Counts, thesis and examples are put into the draft; points and cards are returned."""
    deep = DeepLesson(draft)
    before, pieces = blocks(unglued(lines), _opens)
    _counts(before, draft)
    for opening, below in pieces:
        seconds = time_of(opening.text)
        if seconds is not None:
            deep.points.append((opening, below))
            deep.titles.setdefault(seconds, below[0].text if below else "")
            quoted = quotation(below[1].text) if len(below) > 1 else None
            if quoted is not None:
                deep.quotations.append(Quotation(seconds, "", quoted, below[1]))
        elif is_number(opening):
            deep.cards.append((opening, below))
        elif plain_form(opening.text) == "thesis":
            _thesis(below, draft)
        else:
            _example(opening, below, draft)
    return deep


def _opens(line: Line) -> bool:
    return time_of(line.text) is not None or is_number(line) or plain_form(line.text) in ("thesis", "example")


def _counts(lines: Sequence[Line], draft: Draft) -> None:
    """1,950 cleaned transcript words reviewed across 616 timed caption segments."""
    for line in lines:
        counts = [int(re.sub(r"\D", "", found)) for found in COUNT.findall(line.text)]
        if len(counts) != 2 or "transcript_words" in draft.data.get("video", {}):
            draft.leave([line], "before the thesis stands how many words and segments the transcript has")
            continue
        for name, count in zip(("transcript_words", "transcript_segments"), counts, strict=True):
            if count:
                draft.put("video", name, count, [line])
    video = draft.data.get("video")
    if video is not None and "title" not in video and "title" in draft.data:
        video["title"] = draft.data["title"]


def _thesis(lines: Sequence[Line], draft: Draft) -> None:
    for name, line in zip(("thesis", "goal"), lines, strict=False):
        if name in draft.data.get("frame", {}):
            draft.leave([line], f"the {name} stands above already")
        else:
            draft.put("frame", name, as_markdown(line.text), [line])
    draft.leave(lines[2:], "below the thesis stand two paragraphs, thesis and goal; this is one more")


def _example(opening: Line, below: Sequence[Line], draft: Draft) -> None:
    if len(below) < 2:
        draft.leave([opening, *below], "an example has a title and a text")
        return
    title, body, *rest = below
    draft.add("example", {"title": title.text, "body": as_markdown(body.text)}, [title, body], name=title.text)
    draft.leave(rest, "an example has a title and one paragraph; this is one line more")


def _split_task(text: str) -> tuple[str, str]:
    """The text, and its last sentence if that asks the reader to do something."""
    match = LAST_SENTENCE.fullmatch(text)
    if match and ASKS.fullmatch(re.split(r"\W", match["last"], maxsplit=1)[0]):
        return match["before"], match["last"]
    return text, ""
