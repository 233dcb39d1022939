"""recall and due: answer first, then reveal, then grade yourself."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

import click

from labtui.cli.conversation import InputEnded, ask, ask_choice, body_lines, is_typed, say, say_lines
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE
from labtui.terminal_text import visible

if TYPE_CHECKING:
    from lessons.model import Lesson, RecallItem
    from store.opening import Store
    from store.recall import Answer, Grade

UNDO = ":undo"

GRADES = {
    "again": "not there yet",
    "hard": "with effort",
    "good": "as it should be",
    "easy": "at once",
}


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="LESSON", required=False)
@click.option("--plain", is_flag=True, help="Through stdin and stdout; the app has a recall screen of its own.")
@click.option("--all", "everything", is_flag=True, help="Every question, due or not.")
@pass_session
def recall(session: Session, lesson_id: str | None, plain: bool, everything: bool) -> int:
    """Answer first, then reveal, then grade yourself. Each answer is saved before the reveal.

    Asks what is due or was never answered. The grade decides on which day a question comes back. When input ends,
    everything answered so far is kept.
    """
    lessons = [session.lesson(lesson_id)] if lesson_id else session.lessons()
    asked = [(lesson, item) for lesson in lessons for item in items_to_ask(lesson, session.store, everything)]
    if not asked:
        say(_nothing_due(lessons, session.store))
        return DONE
    questions = Questions(session.store)
    try:
        for number, (lesson, item) in enumerate(asked, 1):
            say(f"Question {number} of {len(asked)} · {lesson.title}")
            questions.ask(lesson, item)
        if is_typed():
            questions.offer_undo()
    except InputEnded:
        session.say("Input ended. Every answer that was given is saved.")
    return DONE


def items_to_ask(lesson: Lesson, store: Store, everything: bool) -> list[RecallItem]:
    """Due, never graded, or all of them."""
    scheduled = {one.item for one in store.recall.schedule(lesson.id)}
    due = {one.item for one in store.recall.due(lesson_id=lesson.id)}
    return [item for item in lesson.recall if everything or item.id in due or item.id not in scheduled]


class Questions:
    """Asks one question after the other and remembers the last grade, so that :undo can take it back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: Answer | None = None

    def ask(self, lesson: Lesson, item: RecallItem) -> bool:
        """One question from answer to grade; every step is saved before the next. False: skipped. Raises InputEnded."""
        from store.recall import item_hash

        say(visible(item.question))
        before = self._store.recall.latest(lesson.id).get(item.id)
        ungraded = before if before is not None and before.grade is None else None
        text = self._answer_to(
            "Your answer (an empty line skips the question):" if ungraded is None else _keep(ungraded)
        )
        if text:
            answer = self._store.recall.add_answer(lesson.id, item.id, text, item_hash(item))
            say("Saved.\n")
        elif ungraded is not None:
            answer = ungraded
        else:
            say("Skipped.\n")
            return False
        say("A good answer says:")
        say_lines(body_lines(item.answer))
        for point in item.points:
            say(f"  · {visible(point)}")
        self._grade(answer)
        return True

    def offer_undo(self) -> None:
        if self._last is not None:
            self._answer_to("That was the last one. :undo takes its grade back, an empty line ends.")

    def _answer_to(self, question: str) -> str:
        while (given := ask(question)) == UNDO:
            if self._last is None:
                say("There is no grade to take back.")
                continue
            self._store.recall.undo_grade(self._last.id)
            say("The last grade is taken back.")
            self._grade(self._last)
        return given

    def _grade(self, answer: Answer) -> None:
        grade = ask_choice("Grade yourself:", GRADES)
        self._last = self._store.recall.grade(answer.id, cast("Grade", grade))
        say(
            f"{grade.capitalize()}. It comes back {_when(self._last.due_at)}. ({UNDO} at the next question undoes it)\n"
        )


def _keep(ungraded: Answer) -> str:
    return (
        f"You answered this and did not grade it:\n  {visible(ungraded.answer)}\n"
        "Your answer (an empty line keeps that one):"
    )


def _when(due_at: datetime | None) -> str:
    if due_at is None:
        return "now"
    local = due_at.astimezone()
    days = (local.date() - datetime.now().astimezone().date()).days
    return f"on {local:%Y-%m-%d} ({'today' if days == 0 else f'in {days} day' + ('s' if days != 1 else '')})"


def _nothing_due(lessons: list[Lesson], store: Store) -> str:
    coming = [one for lesson in lessons for one in store.recall.schedule(lesson.id)]
    if not coming:
        return "There is no recall question here."
    soonest = min(coming, key=lambda one: one.due_at)
    return f"Nothing is due. The next question comes back {_when(soonest.due_at)}. --all asks every question now."


@click.command(cls=LabCommand)
@json_option
@pass_session
def due(session: Session, as_json: bool) -> None:
    """Recall questions that are due, the longest overdue first."""
    questions = {(lesson.id, item.id): item.question for lesson in session.lessons() for item in lesson.recall}
    found = [one for one in session.store.recall.due() if (one.lesson, one.item) in questions]
    if as_json:
        session.emit(
            [
                {
                    "lesson": one.lesson,
                    "item": one.item,
                    "question": questions[one.lesson, one.item],
                    "due_at": one.due_at.isoformat(timespec="seconds"),
                }
                for one in found
            ]
        )
        return
    for one in found:
        click.echo(f"{one.lesson}  {questions[one.lesson, one.item]}")
    if not found:
        session.say(_nothing_due(session.lessons(), session.store))
