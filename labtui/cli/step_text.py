"""One step of a lesson as plain lines, without telling what has to be answered first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from labtui.cli.conversation import body_lines
from lessons.model import Anchor, Lesson
from lessons.times import anchor_url, clock
from lessons.walk import Step, notes_about

Part = TypeVar("Part")


def step_lines(lesson: Lesson, step: Step) -> Iterator[str]:
    """Does not tell the correction of a misconception or the answer of a recall item."""
    yield from _LINES[step.kind](lesson, step.id.partition("/")[2])
    for note in notes_about(lesson, step.id):
        yield "  Editor's note, not from the source:"
        yield from body_lines(note.body)
        yield from body_lines(f"Source: {note.source}")


def part(parts: tuple[Part, ...], part_id: str) -> Part:
    return next(one for one in parts if getattr(one, "id") == part_id)  # noqa: B009


def anchor_lines(lesson: Lesson, anchor_ids: tuple[str, ...]) -> Iterator[str]:
    for anchor_id in anchor_ids:
        anchor = part(lesson.anchors, anchor_id)
        yield from body_lines(f"At {clock(anchor.start_s)}: “{anchor.quote}”")


def _named(*named: tuple[str, str]) -> Iterator[str]:
    for name, body in named:
        if body.strip():
            yield f"  {name}"
            yield from body_lines(body, "    ")


def _frame(lesson: Lesson, _: str) -> Iterator[str]:
    frame = lesson.frame
    yield from body_lines(lesson.summary)
    video = lesson.video
    if video.title or video.url:
        yield from body_lines(", ".join(filter(None, (video.title, video.channel))))
    if video.url:
        yield f"  {video.url}"
        yield ""
    yield from _named(
        ("The principle", frame.principle),
        ("Why", frame.why),
        ("The skill you build", frame.skill),
        ("Watch for", frame.watch_for),
        ("Thesis", frame.thesis),
        ("Goal", frame.goal),
        ("The lab's question", frame.lab_question),
    )


def _card(lesson: Lesson, part_id: str) -> Iterator[str]:
    card = part(lesson.cards, part_id)
    yield "  " + " → ".join(f"[{one.stage.upper()}]" if one is card else one.stage for one in lesson.cards)
    yield ""
    yield from body_lines(card.body)
    yield from anchor_lines(lesson, card.anchors)


def _deep(lesson: Lesson, part_id: str) -> Iterator[str]:
    point = part(lesson.deep_points, part_id)
    if point.quote.strip():
        yield from body_lines(f"“{point.quote}”")
    yield from body_lines(point.body)
    yield from _named(("Your task", point.task))


def _anchor(lesson: Lesson, part_id: str) -> Iterator[str]:
    anchor: Anchor = part(lesson.anchors, part_id)
    yield from body_lines(f"“{anchor.quote}”")
    if lesson.video.url:
        yield f"  {anchor_url(lesson.video.url, anchor.start_s)}"
        yield ""
    yield from _named(
        ("What it proves", anchor.proves),
        ("What it does not prove", anchor.does_not_prove),
        ("What needs checking", anchor.to_verify),
    )


def _body(kind: str) -> Callable[[Lesson, str], Iterator[str]]:
    def lines(lesson: Lesson, part_id: str) -> Iterator[str]:
        yield from body_lines(part(getattr(lesson, kind), part_id).body)

    return lines


def _misconception(lesson: Lesson, part_id: str) -> Iterator[str]:
    yield from body_lines(f"“{part(lesson.misconceptions, part_id).claim}”")


def _practice(lesson: Lesson, part_id: str) -> Iterator[str]:
    piece = part(lesson.practice, part_id)
    yield from body_lines(piece.body)
    yield from _named(("Done when", piece.done_signal))


def _lab(lesson: Lesson, part_id: str) -> Iterator[str]:
    task = part(lesson.lab_tasks, part_id)
    yield from body_lines(task.body)
    yield "  In another terminal, or after quit here:"
    yield "    labtui serve start --wait"
    yield f"    labtui run {task.task}"
    yield ""


def _verdict(lesson: Lesson, _: str) -> Iterator[str]:
    yield from body_lines(lesson.frame.lab_question)


def _recall(lesson: Lesson, _: str) -> Iterator[str]:
    yield "  From memory: answer first, then reveal."
    yield ""


_LINES: dict[str, Callable[[Lesson, str], Iterator[str]]] = {
    "frame": _frame,
    "card": _card,
    "deep": _deep,
    "anchor": _anchor,
    "example": _body("examples"),
    "pitfall": _body("pitfalls"),
    "misconception": _misconception,
    "practice": _practice,
    "predict": _body("predictions"),
    "lab": _lab,
    "verdict": _verdict,
    "recall": _recall,
    "gate": _body("gates"),
}
