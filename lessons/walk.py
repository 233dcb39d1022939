"""The order in which a person goes through a lesson."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lessons.model import EditorNote, Lesson
from lessons.times import clock

SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？؟۔])")
TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Step:
    """id: what progress is kept under, "kind/id of the part"; "frame" and "verdict" exist once and stand alone."""

    id: str
    kind: str
    title: str


def steps(lesson: Lesson) -> tuple[Step, ...]:
    return tuple(_walk(lesson))


def _walk(lesson: Lesson) -> Iterator[Step]:
    yield Step("frame", "frame", "Before you watch" if lesson.video.title else "Before you start")
    for card in lesson.cards:
        yield Step(f"card/{card.id}", "card", card.stage)
    for point in lesson.deep_points:
        yield Step(
            f"deep/{point.id}",
            "deep",
            point.title if point.start_s is None else f"{clock(point.start_s)} {point.title}",
        )
    for anchor in lesson.anchors:
        yield Step(f"anchor/{anchor.id}", "anchor", f"{clock(anchor.start_s)} {anchor.title}")
    for example in lesson.examples:
        yield Step(f"example/{example.id}", "example", example.title)
    for pitfall in lesson.pitfalls:
        yield Step(f"pitfall/{pitfall.id}", "pitfall", first_sentence(pitfall.body))
    for misconception in lesson.misconceptions:
        yield Step(f"misconception/{misconception.id}", "misconception", misconception.claim)
    for piece in lesson.practice:
        yield Step(f"practice/{piece.id}", "practice", piece.title)
    for prediction in lesson.predictions:
        yield Step(f"predict/{prediction.id}", "predict", prediction.title)
    for task in lesson.lab_tasks:
        yield Step(f"lab/{task.id}", "lab", task.title)
    if lesson.lab_tasks:
        yield Step("verdict", "verdict", "Your verdict")
    for item in lesson.recall:
        yield Step(f"recall/{item.id}", "recall", item.question)
    for gate in lesson.gates:
        yield Step(f"gate/{gate.id}", "gate", gate.title)


def notes_about(lesson: Lesson, step_id: str) -> tuple[EditorNote, ...]:
    """The editor's notes to show at that step."""
    return tuple(note for note in lesson.notes if note.about == step_id)


def first_sentence(markdown: str) -> str:
    plain = " ".join(re.sub(r"[*_`#>]+", "", markdown).split())
    sentence = SENTENCE_END.split(plain, maxsplit=1)[0].rstrip(".")
    return sentence if len(sentence) <= TITLE_LENGTH else sentence[: TITLE_LENGTH - 1].rstrip() + "…"
