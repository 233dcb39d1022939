from __future__ import annotations

from collections.abc import Iterator

from lessons.model import Lesson
from lessons.walk import Step, notes_about


def step_words(lesson: Lesson, step: Step) -> str:
    """Every word that stands on a card, for searching. What a card tells only after a question is left out."""
    return " ".join((step.title, *_texts(lesson, step), *(note.body for note in notes_about(lesson, step.id))))


def _texts(lesson: Lesson, step: Step) -> Iterator[str]:
    kind, _, part = step.id.partition("/")
    match kind:
        case "frame":
            frame = lesson.frame
            yield from (lesson.title, lesson.summary, frame.principle, frame.why, frame.skill)
            yield from (frame.watch_for, frame.thesis, frame.goal, frame.lab_question)
        case "card":
            yield from (card.body for card in lesson.cards if card.id == part)
        case "deep":
            for point in lesson.deep_points:
                if point.id == part:
                    yield from (point.quote, point.body, point.task)
        case "anchor":
            for anchor in lesson.anchors:
                if anchor.id == part:
                    yield from (anchor.quote, anchor.proves, anchor.does_not_prove, anchor.to_verify)
        case "example":
            yield from (example.body for example in lesson.examples if example.id == part)
        case "pitfall":
            yield from (pitfall.body for pitfall in lesson.pitfalls if pitfall.id == part)
        case "practice":
            for piece in lesson.practice:
                if piece.id == part:
                    yield from (piece.body, piece.done_signal)
        case "predict":
            yield from (prediction.body for prediction in lesson.predictions if prediction.id == part)
        case "lab":
            yield from (task.body for task in lesson.lab_tasks if task.id == part)
        case "verdict":
            yield lesson.frame.lab_question
        case "gate":
            yield from (gate.body for gate in lesson.gates if gate.id == part)
