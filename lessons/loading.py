from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from lessons.checking import check_document
from lessons.errors import LessonError
from lessons.faults import Fault
from lessons.model import (
    Anchor,
    Card,
    DeepPoint,
    EditorNote,
    Example,
    Frame,
    Gate,
    GroundedPrompt,
    LabTask,
    Lesson,
    Misconception,
    Pitfall,
    PracticePiece,
    Prediction,
    RecallItem,
    Source,
    Video,
)
from lessons.reading import Document, ReadingFault, read_document
from lessons.values import seconds_of

Part = TypeVar("Part")
Values = dict[str, Any]


def load_lesson(path: Path) -> Lesson:
    """path: a lesson file or its folder. LessonError names the first fault and how many more there are."""
    lesson, faults = load_or_faults(path)
    if lesson is None:
        raise broken_lesson(faults)
    return lesson


def load_or_faults(path: Path) -> tuple[Lesson | None, list[Fault]]:
    """The lesson, or all that is wrong with it: exactly one of the two is there."""
    try:
        document = read_document(path)
    except ReadingFault as error:
        return None, [error.fault]
    faults = check_document(document)
    return (None, faults) if faults else (_lesson(document), [])


def broken_lesson(faults: list[Fault]) -> LessonError:
    first, *others = faults
    more = f" ({len(others)} more)" if others else ""
    return LessonError(
        "This lesson cannot be used",
        f"{first}{more}",
        f"Mend the file; `labtui lesson check {shlex.quote(str(first.path))}` lists every fault.",
    )


def _lesson(document: Document) -> Lesson:
    """Builds from data that the check has passed."""
    data = document.data
    anchors = _parts(data, "anchor", _anchor)
    by_id = {anchor.id: anchor for anchor in anchors}
    return Lesson(
        format_version=data["format_version"],
        id=data["id"],
        title=_text(data, "title"),
        summary=_text(data, "summary"),
        lang=data.get("lang", "en"),
        version=_text(data, "version") or "1",
        minutes=data.get("minutes", 0),
        video=_video(data.get("video", {})),
        frame=Frame(**{name: _text(data["frame"], name) for name in Frame.__dataclass_fields__}),
        cards=_parts(
            data, "card", lambda card: Card(card["id"], _text(card, "stage"), _text(card, "body"), _anchors(card))
        ),
        deep_points=_parts(data, "deep_point", lambda point: _deep_point(point, by_id)),
        anchors=anchors,
        examples=_parts(data, "example", lambda part: Example(part["id"], _text(part, "title"), _text(part, "body"))),
        pitfalls=_parts(data, "pitfall", lambda part: Pitfall(part["id"], _text(part, "body"))),
        misconceptions=_parts(data, "misconception", _misconception),
        gates=_parts(data, "gate", _gate),
        prompt=_prompt(data.get("prompt", {})),
        practice=_parts(data, "practice", _practice_piece),
        lab_tasks=_parts(data, "lab_task", _lab_task),
        recall=_parts(data, "recall", _recall_item),
        notes=_parts(data, "note", _note),
        sources=_parts(data, "source", _source),
        path=document.path,
        retired=tuple(data.get("retired", ())),
        predictions=_parts(data, "prediction", _prediction),
    )


def _parts(data: Values, table: str, build: Callable[[Values], Part]) -> tuple[Part, ...]:
    return tuple(build(entry) for entry in data.get(table, ()))


def _text(values: Values, name: str) -> str:
    return str(values.get(name, "")).strip()


def _texts(values: Values, name: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in values.get(name, ()))


def _anchors(values: Values) -> tuple[str, ...]:
    return tuple(values.get("anchors", ()))


def _video(values: Values) -> Video:
    return Video(
        title=_text(values, "title"),
        url=_text(values, "url"),
        channel=_text(values, "channel"),
        duration_s=seconds_of(values["duration"]) if "duration" in values else None,
        transcript_words=values.get("transcript_words"),
        transcript_segments=values.get("transcript_segments"),
    )


def _anchor(values: Values) -> Anchor:
    return Anchor(
        id=values["id"],
        start_s=seconds_of(values["at"]),
        title=_text(values, "title"),
        quote=_text(values, "quote"),
        proves=_text(values, "proves"),
        does_not_prove=_text(values, "does_not_prove"),
        to_verify=_text(values, "to_verify"),
    )


def _deep_point(values: Values, anchors: dict[str, Anchor]) -> DeepPoint:
    start_s: float | None = None
    quote = ""
    if "at" in values:
        start_s, quote = seconds_of(values["at"]), _text(values, "quote")
    elif _anchors(values):
        first = anchors[values["anchors"][0]]
        start_s, quote = first.start_s, first.quote
    return DeepPoint(
        id=values["id"],
        start_s=start_s,
        title=_text(values, "title"),
        quote=quote,
        body=_text(values, "body"),
        task=_text(values, "task"),
        anchors=_anchors(values),
    )


def _misconception(values: Values) -> Misconception:
    return Misconception(
        id=values["id"],
        claim=_text(values, "claim"),
        correction=_text(values, "correction"),
        why=_text(values, "why"),
        anchors=_anchors(values),
    )


def _prompt(values: Values) -> GroundedPrompt:
    return GroundedPrompt(
        intro=_text(values, "intro"),
        why=_text(values, "why"),
        topic=_text(values, "topic"),
        learning_frame=_text(values, "learning_frame"),
        tasks=_texts(values, "tasks"),
        includes=_texts(values, "includes"),
        quality_bar=_texts(values, "quality_bar"),
    )


def _practice_piece(values: Values) -> PracticePiece:
    return PracticePiece(
        id=values["id"],
        title=_text(values, "title"),
        body=_text(values, "body"),
        done_signal=_text(values, "done_signal"),
        piece=values.get("piece", "text"),
    )


def _gate(values: Values) -> Gate:
    return Gate(values["id"], _text(values, "title"), _text(values, "body"), tuple(values.get("needs", ())))


def _prediction(values: Values) -> Prediction:
    return Prediction(
        values["id"], _text(values, "title"), values["exercise"], _text(values, "body"), _text(values, "worked")
    )


def _lab_task(values: Values) -> LabTask:
    return LabTask(values["id"], values["task"], _text(values, "title"), _text(values, "body"))


def _recall_item(values: Values) -> RecallItem:
    return RecallItem(
        id=values["id"],
        question=_text(values, "question"),
        answer=_text(values, "answer"),
        points=_texts(values, "points"),
        anchors=_anchors(values),
    )


def _note(values: Values) -> EditorNote:
    return EditorNote(values["id"], _text(values, "about"), _text(values, "body"), _text(values, "source"))


def _source(values: Values) -> Source:
    return Source(values["id"], _text(values, "title"), values.get("url"), _text(values, "note"))
