"""What is said around a recall question, the same on the screen and on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from labtui.terminal_text import visible_line
from lessons.model import Anchor, Lesson, RecallItem
from lessons.times import anchor_url, clock
from store.days import local_time
from store.recall import LAPSES_OF_A_LEECH, Answer, Graded, item_hash

LEFT_OPEN = "The lesson leaves this one open: its source does not answer it."


def changed_words(item: RecallItem, answer: Answer | None) -> str | None:
    """Said before the question is asked, where it was reworded since the last answer."""
    if answer is None or answer.item_hash == item_hash(item):
        return None
    return (
        f"Changed since you answered it on {local_time(answer.answered_at):%Y-%m-%d}: the question or its good answer "
        "was reworded. Its day has stayed."
    )


def leech_words(lesson: Lesson, item: RecallItem, lapses: Mapping[str, int]) -> str | None:
    """Where to go with a question that keeps being missed; None while it is not missed that often."""
    missed = lapses.get(item.id, 0)
    if missed < LAPSES_OF_A_LEECH:
        return None
    places = [_place(lesson, anchor) for anchor in lesson.anchors if anchor.id in item.anchors]
    begin = f"You have missed this {missed} times. Asking it once more will not help; its source will."
    if not places:
        return f"{begin} Read its cards again, then say the answer in other words."
    return "\n".join([f"{begin} Go back to where it is said:", *places])


def history_lines(item: RecallItem, answers: Iterable[Answer], grades: Iterable[Graded]) -> list[str]:
    """Every answer to a question with what became of it, newest first; grades that were taken back are there too."""
    of_answer: dict[int, list[Graded]] = {}
    for graded in grades:
        of_answer.setdefault(graded.answer_id, []).append(graded)
    lines = []
    for answer in answers:
        changed = "" if answer.item_hash == item_hash(item) else ", before it was reworded"
        lines.append(f"{local_time(answer.answered_at):%Y-%m-%d %H:%M}{changed}: {visible_line(answer.answer)}")
        lines += [f"  {_grade(graded)}" for graded in of_answer.get(answer.id, [])] or ["  not graded"]
    return lines or ["Not answered yet."]


def _place(lesson: Lesson, anchor: Anchor) -> str:
    address = f"\n    {visible_line(anchor_url(lesson.video.url, anchor.start_s))}" if lesson.video.url else ""
    return f"  {clock(anchor.start_s)} {visible_line(anchor.title)}: “{visible_line(anchor.quote)}”{address}"


def _grade(graded: Graded) -> str:
    day = f"{local_time(graded.graded_at):%Y-%m-%d}"
    if graded.undone_at is not None:
        return f"{graded.grade} on {day}, taken back"
    return f"{graded.grade} on {day}, back on {graded.due_on}"
