"""Makes a lesson out of a learning page. Each line of the page goes into one place, or is named as unplaced."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lessons.importing.blocks import blocks, first_words, is_number, items, unglued
from lessons.importing.deep import build_deep_lesson
from lessons.importing.draft import Draft
from lessons.importing.grounded import GroundedPart, Quotation, read_grounded_part
from lessons.importing.markdown_escapes import as_markdown
from lessons.importing.marks import bullet, ends_sentence, time_of, times_inside
from lessons.importing.page import Page
from lessons.importing.page_text import Line
from lessons.schema import FORMAT_VERSION
from lessons.times import clock
from lessons.words import plain_form

BYLINE = re.compile(r"(?P<channel>.*?)\s*Watch(?:ed)?\s*(?P<state>(?:no )?transcripts?\b.*)?", re.IGNORECASE)
SKILL_LABEL = re.compile(r"skill you build[:：]\s*(?P<skill>.*)", re.IGNORECASE)
ADDRESS = re.compile(r"https?://\S+")
FRAME_ORDER = ("principle", "why", "skill", "watch_for")
PIECE_WORDS = (("harness map", "harness-map"), ("checklist", "checklist"), ("learning transfer", "transfer"))
NEED_WORDS = (("in your own words", "own-words"), ("weakest link", "harness-map"), ("harness map", "harness-map"))
STAGE_SEPARATOR = re.compile(r"\s*(?:->|→|⇒|➔|➜)\s*")


def build(page: Page, lesson_id: str, lang: str | None) -> Draft:
    """The draft passes the check of lessons except for what a page of nothing leaves out: a title."""
    draft = Draft({"format_version": FORMAT_VERSION, "id": lesson_id})
    grounded = read_grounded_part(page.lines("prompt"), draft)
    _header(page.lines("header"), grounded, draft)
    if lang:
        draft.put("", "lang", lang, [])
    _video(grounded, draft)
    _frame(page.lines("frame"), grounded, draft)
    stages = _stages(page.lines("diagram"), draft)
    deep = build_deep_lesson(page.lines("deep"), draft)
    quotations = _in_time(grounded.quotations or [*deep.quotations, *_quoted_in_cards(deep.cards)])
    anchors = _anchors(quotations, deep.titles, draft)
    deep.place(anchors, stages)
    _pitfalls(page.lines("pitfalls"), draft)
    _misconceptions(page.lines("misconceptions"), anchors, draft)
    _practice(page.lines("practice"), draft)
    _recall(page.lines("recall"), anchors, draft)
    _gates(page.lines("gates"), draft)
    _sources(page.lines("sources"), draft)
    _summary(draft)
    draft.data.setdefault("frame", {})
    if draft.entries("anchor") and "video" not in draft.data:
        draft.data["video"] = {"title": draft.data.get("title", "")}
    draft.unplaced.sort()
    return draft


def _header(lines: Sequence[Line], grounded: GroundedPart, draft: Draft) -> None:
    """Title, summary, and the line of channel, "Watch" and "Transcript found", which copying joins."""
    if lines:
        draft.put("", "title", lines[0].text, [lines[0]])
    elif "title" in grounded.facts:
        draft.put("", "title", grounded.facts["title"].text, [])
    summary: list[Line] = []
    for line in lines[1:]:
        byline = BYLINE.fullmatch(line.text)
        if byline and (byline["state"] or byline["channel"] != line.text):
            if channel := byline["channel"].strip():
                draft.put("video", "channel", channel, [line])
        elif re.match(r"(?:no )?transcripts?\b.{0,30}$", line.text, re.IGNORECASE):
            continue
        elif not summary:
            summary.append(line)
            draft.put("", "summary", as_markdown(line.text), [line])
        elif "channel" not in draft.data.get("video", {}) and not ends_sentence(line.text):
            draft.put("video", "channel", line.text, [line])
        else:
            draft.leave([line], "the head of a page has a title, a summary and a line about the source")


def _video(grounded: GroundedPart, draft: Draft) -> None:
    title, url = grounded.facts.get("title"), grounded.facts.get("url")
    if url is not None:
        draft.put("video", "url", url.text.strip("<>"), [url])
    if title is not None:
        draft.put("video", "title", title.text, [title])
    video = draft.data.get("video")
    if video is not None and "title" not in video and "title" in draft.data:
        video["title"] = draft.data["title"]
    for name in ("topic", "learning_frame", "why"):
        if line := grounded.facts.get(name):
            draft.put("prompt", name, line.text, [line])


def _frame(lines: Sequence[Line], grounded: GroundedPart, draft: Draft) -> None:
    """By label where a line has one, by what the prompt says again, else in the order of the layout."""
    found: dict[str, Line] = {}
    others: list[Line] = []
    why = grounded.facts.get("why")
    for line in lines:
        labelled = SKILL_LABEL.fullmatch(line.text)
        if labelled and "skill" not in found:
            found["skill"] = Line(line.number, labelled["skill"] or line.text)
        elif why is not None and why.text == line.text and "why" not in found:
            found["why"] = line
        elif plain_form(line.text).startswith("watch for ") and "watch_for" not in found:
            found["watch_for"] = line
        else:
            others.append(line)
    free = [name for name in FRAME_ORDER if name not in found]
    found.update(zip(free, others, strict=False))
    draft.leave(others[len(free) :], "the learning frame has four parts: principle, why, skill, what to watch for")
    for name in FRAME_ORDER:
        if name in found:
            draft.put("frame", name, as_markdown(found[name].text), [found[name]])


def _stages(lines: Sequence[Line], draft: Draft) -> list[Line]:
    """The names in the diagram, in its order."""
    apart = unglued(lines)
    if len(apart) == 1 and STAGE_SEPARATOR.search(apart[0].text):
        return [Line(apart[0].number, name) for name in STAGE_SEPARATOR.split(apart[0].text) if name]
    before, pieces = blocks(apart, is_number)
    draft.leave(before, "the diagram lists numbered stages")
    stages = []
    for opening, below in pieces:
        stages += below[:1]
        draft.leave(below[1:] or ([] if below else [opening]), "a stage of the diagram is one number and one name")
    return stages


def _in_time(quotations: Sequence[Quotation]) -> list[Quotation]:
    return sorted(quotations, key=lambda quotation: quotation.at_s)


def _quoted_in_cards(cards: Sequence[tuple[Line, list[Line]]]) -> list[Quotation]:
    """The quotation at the end of a card that says at which second it stands."""
    found = []
    for _, body in cards:
        for line in body:
            times = times_inside(line.text)
            quoted = re.search(r"[“\"«「](?P<quote>[^“”\"«»「」]{10,})[”\"»」]\s*$", line.text)
            if len(times) == 1 and quoted:
                found.append(Quotation(times[0], "", quoted["quote"].strip(), line))
    return found


def _anchors(quotations: Sequence[Quotation], titles: dict[float, str], draft: Draft) -> dict[float, str]:
    """Ids of the anchors by their seconds. An anchor is titled by the deep point at its second, else as on the page."""
    placed: dict[float, str] = {}
    quotes: dict[float, str] = {}
    for number, one in enumerate(quotations, 1):
        if one.at_s in placed:
            if quotes[one.at_s] != one.quote:
                draft.leave([one.line], f"another quotation stands at {clock(one.at_s)} already; each second has one")
            continue
        label = one.label or f"Evidence {number}"
        values = {"at": clock(one.at_s), "title": titles.get(one.at_s) or label, "quote": one.quote}
        if anchor := draft.add("anchor", values, [one.line], name=label, kind="evidence"):
            placed[one.at_s], quotes[one.at_s] = anchor, one.quote
    return placed


def anchors_named(text: str, anchors: dict[float, str]) -> dict[str, list[str]]:
    """The anchors whose second stands in a text, as a key to add to its part."""
    ids = dict.fromkeys(anchors[seconds] for seconds in times_inside(text) if seconds in anchors)
    return {"anchors": list(ids)} if ids else {}


def _pitfalls(lines: Sequence[Line], draft: Draft) -> None:
    found, others = items(lines)
    for line in found:
        draft.add("pitfall", {"body": as_markdown(line.text)}, [line], name=line.text)
    draft.leave(others, "it stands among the ways to learn it wrong and is no sentence of them")


def _misconceptions(lines: Sequence[Line], anchors: dict[float, str], draft: Draft) -> None:
    found, others = items(lines)
    draft.leave(others, "it stands among the misconceptions and is no sentence of them")
    for claim, correction in zip(found[::2], found[1::2], strict=False):
        values = {
            "claim": claim.text,
            "correction": as_markdown(correction.text),
            **anchors_named(correction.text, anchors),
        }
        draft.add("misconception", values, [claim, correction], name=claim.text)
    if len(found) % 2:
        draft.leave(found[-1:], "a misconception is a claim and its correction; this line is the only one of its pair")


def _practice(lines: Sequence[Line], draft: Draft) -> None:
    before, pieces = blocks(unglued(lines), is_number)
    draft.leave(before, "it stands before the first numbered practice piece")
    for opening, below in pieces:
        if len(below) < 2:
            draft.leave([opening, *below], "a practice piece has a title, a text and a done signal")
            continue
        title, body, *rest = below
        signal = rest[0] if rest else body
        draft.leave(rest[1:], "a practice piece has a title, a text and a done signal; this is one line more")
        values = {"title": title.text, "body": as_markdown(body.text), "done_signal": as_markdown(signal.text)}
        if made := _piece_made(title.text, body.text):
            values["piece"] = made
        piece = draft.add("practice", values, [title, body, *rest[:1]], name=title.text)
        if piece and not rest:
            draft.wanting(f"practice/{piece}", title, "the page names no done signal; the task stands in its place")


def _piece_made(title: str, body: str) -> str:
    """Which editor of the studio a piece of the layout asks for, "" where it names none."""
    name, task = plain_form(title), plain_form(body)
    if "evidence map" in name:
        return "evidence-map"
    if "teach back" in name:
        return "teach-back"
    return next((piece for words, piece in PIECE_WORDS if words in name or words in task), "")


def _needed(body: str) -> dict[str, list[str]]:
    """What a gate of the layout counts as evidence, as a key to add to it."""
    text = plain_form(body)
    needs = list(dict.fromkeys(need for words, need in NEED_WORDS if words in text))
    return {"needs": needs} if needs else {}


def _recall(lines: Sequence[Line], anchors: dict[float, str], draft: Draft) -> None:
    """The page asks and does not answer, so each answer is left open."""
    found, others = items(lines)
    draft.leave(others, "it stands among the recall questions and is none")
    for line in found:
        item = draft.add("recall", {"question": line.text, **anchors_named(line.text, anchors)}, [line], name=line.text)
        if item:
            draft.wanting(f"recall/{item}", line, "the page gives no answer")


def _gates(lines: Sequence[Line], draft: Draft) -> None:
    before, pieces = blocks(unglued(lines), is_number)
    if not pieces:
        pieces = [(line, [line]) for line in before]
        before = []
    draft.leave(before, "it stands before the first numbered gate")
    for opening, below in pieces:
        if not below:
            draft.leave([opening], "no text stands with this number")
            continue
        body, *rest = below
        draft.leave(rest, "a gate is one number and one paragraph; this is one line more")
        title = first_words(body.text)
        draft.add("gate", {"title": title, **_needed(body.text), "body": as_markdown(body.text)}, [body], name=title)


def _sources(lines: Sequence[Line], draft: Draft) -> None:
    """An address, with its title on the same line or on the line before."""
    title: Line | None = None
    for line in lines:
        text = bullet(line.text) or line.text
        address = ADDRESS.search(text)
        if address is None:
            if title is not None:
                draft.leave([title], "no address follows it")
            title = Line(line.number, text)
            continue
        url = address[0].rstrip(".,;)>]")
        own = ADDRESS.sub("", text).strip(" :–—-()<>[]·|")
        placed = [line] if own or title is None else [title, line]
        if own and title is not None:
            draft.leave([title], "no address follows it")
        name = own or (title.text if title else url)
        draft.add("source", {"title": name, "url": url}, placed, name=name)
        title = None
    if title is not None:
        draft.leave([title], "no address follows it")


def _summary(draft: Draft) -> None:
    """A lesson must have one: where the page has none, its thesis, its principle or its title."""
    if "summary" not in draft.data and "title" in draft.data:
        frame = draft.data.get("frame", {})
        draft.data["summary"] = frame.get("thesis") or frame.get("principle") or as_markdown(draft.data["title"])


def is_timed(line: Line) -> bool:
    return time_of(line.text) is not None
