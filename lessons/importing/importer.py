"""From a learning page to a lesson in its folder, with an account of what was found and what was not placed."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lessons.errors import LessonError
from lessons.finding import user_lessons_path
from lessons.importing.building import build
from lessons.importing.captions import Captions, read_captions
from lessons.importing.draft import Draft, Open, Unplaced, id_from
from lessons.importing.page import split_page
from lessons.importing.page_text import Line, decode, page_lines, read_bytes
from lessons.importing.quotations import Standing, standing
from lessons.importing.writing import lesson_toml, put_lesson
from lessons.messages import printable
from lessons.scaffold import id_from_folder
from lessons.schema import LENGTH_LIMITS
from lessons.times import parse_clock
from lessons.values import complaints

COUNTED = ("anchor", "misconception", "gate", "recall", "practice", "card", "deep_point", "example", "pitfall")


@dataclass(frozen=True, slots=True)
class Imported:
    """path: the lesson's file. found: how many of each part, by table name.

    standings: of each anchor in the captions; empty where none were given.
    """

    path: Path
    lesson_id: str
    title: str
    found: dict[str, int]
    unplaced: tuple[Unplaced, ...]
    open: tuple[Open, ...]
    captions: Captions | None
    standings: tuple[Standing, ...]


def import_page(
    content: bytes, name: str, to: Path | None = None, captions: Path | None = None, lang: str | None = None
) -> Imported:
    """content: the page's text as bytes. name: what messages call it.

    to: the lesson's folder; the lesson's id is taken from its name. Without it the lesson goes into the user's lessons,
    into a folder named by its title. Raises LessonError: exit 2 for input that cannot be read or a place that cannot be
    written, 1 for a page that is none.
    """
    for _, message in complaints("lang", lang) if lang is not None else ():
        raise LessonError("There is no such language", f"--lang {message}", "Give a tag such as en, de or pt-BR.")
    lines = page_lines(decode(content, name))
    spoken = _read_captions(captions)
    page = split_page([line for line in lines if len(line.text) <= LENGTH_LIMITS["text"]])
    if not page.headings:
        raise LessonError(
            "This is not a learning page",
            f"{printable(name)} has none of its headings, such as Quick learning frame, Deep lesson, Misconceptions",
            "Copy the whole text of the page into a file and import that.",
            exit_code=1,
        )
    draft = build(page, "lesson", lang or _language(lines))
    title = draft.data.get("title")
    if title is None:
        raise LessonError(
            "This page has no title",
            f"nothing stands above the first heading of {printable(name)}, and its prompt names none",
            "Put the title on a line of its own at the top.",
            exit_code=1,
        )
    folder = to if to is not None else user_lessons_path() / (id_from(title) or "lesson")
    draft.data["id"] = id_from_folder(folder)
    draft.leave(
        [line for line in lines if len(line.text) > LENGTH_LIMITS["text"]],
        f"it is longer than {LENGTH_LIMITS['text']} characters",
    )
    if spoken is not None:
        _count_words(draft, spoken)
    unplaced = _as_on_the_page(draft.unplaced, lines)
    path = put_lesson(lesson_toml(draft.data, _remarks(name, unplaced, draft.open)), folder)
    return Imported(
        path=path,
        lesson_id=draft.data["id"],
        title=title,
        found={table: len(draft.entries(table)) for table in COUNTED},
        unplaced=unplaced,
        open=tuple(draft.open),
        captions=spoken,
        standings=tuple(_standings(draft, spoken)) if spoken is not None else (),
    )


def _read_captions(path: Path | None) -> Captions | None:
    if path is None:
        return None
    return read_captions(decode(read_bytes(path), str(path)), str(path))


def _count_words(draft: Draft, spoken: Captions) -> None:
    """A page that does not say how long its transcript is can have it counted."""
    video = draft.data.get("video")
    if video is not None:
        video.setdefault("transcript_words", len(spoken.words))
        video.setdefault("transcript_segments", spoken.cues)


def _standings(draft: Draft, spoken: Captions) -> list[Standing]:
    return [
        standing(entry["id"], parse_clock(entry["at"]), entry["quote"], spoken) for entry in draft.entries("anchor")
    ]


def _as_on_the_page(unplaced: list[Unplaced], lines: list[Line]) -> tuple[Unplaced, ...]:
    """Each line once, with its whole text, although some parts of it may have been looked at apart."""
    texts = dict(lines)
    found = {one.line: replace(one, text=texts.get(one.line, one.text)) for one in reversed(unplaced)}
    return tuple(sorted(found.values()))


def _remarks(name: str, unplaced: tuple[Unplaced, ...], open_parts: list[Open]) -> list[str]:
    remarks = [
        f"A labtui lesson, imported from {Path(name).name}. The format: docs/lesson-format.md.",
        "Texts may be edited at any time, ids never change.",
    ]
    if open_parts:
        remarks += ["", "Left open, since the page does not give it:"]
        remarks += [f"  {part.step}: {part.text}" for part in open_parts]
    if unplaced:
        remarks += ["", "Not placed, by line of the page:"]
        remarks += [f"  {one.line}: {one.text}" for one in unplaced]
    return remarks


def _language(lines: list[Line]) -> str | None:
    """Told by the script where that settles it; a page in Latin letters does not say."""
    scripts = Counter(
        unicodedata.name(character, "NAMELESS").split()[0]
        for _, text in lines
        for character in text
        if character.isalpha()
    )
    han, kana, hangul = scripts["CJK"], scripts["HIRAGANA"] + scripts["KATAKANA"], scripts["HANGUL"]
    latin = scripts["LATIN"]
    if hangul > max(han, kana) and 4 * hangul > latin:
        return "ko"
    if 4 * (han + kana) > latin and han + kana:
        return "ja" if 10 * kana > han else "zh"
    return None


def to_json(imported: Imported) -> dict[str, Any]:
    """The shape that other programs read; keys keep their names."""
    found = imported.found
    result: dict[str, Any] = {
        "lesson": str(imported.path),
        "id": imported.lesson_id,
        "title": imported.title,
        "anchors": found["anchor"],
        "misconceptions": found["misconception"],
        "gates": found["gate"],
        "recall": found["recall"],
        "practice": found["practice"],
        "cards": found["card"],
        "deep_points": found["deep_point"],
        "examples": found["example"],
        "pitfalls": found["pitfall"],
        "unplaced": [{"line": one.line, "text": one.text, "reason": one.reason} for one in imported.unplaced],
        "open": [{"step": one.step, "line": one.line, "text": one.text} for one in imported.open],
    }
    if imported.captions is not None:
        result["captions"] = {
            "cues": imported.captions.cues,
            "words": len(imported.captions.words),
            "anchors": [
                {
                    "anchor": one.anchor,
                    "at_s": one.at_s,
                    "stands": one.stands,
                    "found_s": one.found_s,
                    "distance_s": one.distance_s,
                    "share": one.share,
                }
                for one in imported.standings
            ],
        }
    return result
