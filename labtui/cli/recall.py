"""recall and due: answer first, then reveal, then grade yourself."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, cast

import click

from labtui.cli.conversation import InputEnded, ask, ask_choice, body_lines, is_typed, say, say_lines
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.due_words import due_words
from labtui.errors import DONE
from labtui.plain_markdown import plain_text
from labtui.terminal_text import visible

if TYPE_CHECKING:
    from lessons.model import Lesson, RecallItem
    from store.opening import Store
    from store.recall import Answer
    from store.scheduling import Grade

UNDO = ":undo"

GRADES = {
    "again": "not there yet",
    "hard": "with effort",
    "good": "as it should be",
    "easy": "at once",
}


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="[LESSON]", required=False)
@click.option("--plain", is_flag=True, help="Through stdin and stdout; the app has a recall screen of its own.")
@click.option("--all", "everything", is_flag=True, help="Every question, due or not.")
@click.option("--history", is_flag=True, help="Every answer and grade so far, instead of asking.")
@pass_session
def recall(session: Session, lesson_id: str | None, plain: bool, everything: bool, history: bool) -> int:
    """Answer first, then reveal, then grade yourself. Each answer is saved before the reveal.

    Asks what is due or was never answered; without LESSON in the lessons that you have started. The grade decides on
    which day a question comes back; a day begins at 4:00 on your clock. When input ends, everything answered so far
    is kept.
    """
    lessons = [session.lesson(lesson_id)] if lesson_id else _started(session)
    if history:
        for lesson in lessons:
            _say_history(lesson, session.store)
        return DONE
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


def _started(session: Session) -> list[Lesson]:
    """The lessons in which the person was; the first one where there is none."""
    from labtui.standing import standing_of

    lessons = session.lessons()
    return [one for one in lessons if standing_of(one, session.store).started] or lessons[:1]


def items_to_ask(lesson: Lesson, store: Store, everything: bool) -> list[RecallItem]:
    """Due, never graded, or all of them."""
    scheduled = {one.item for one in store.recall.schedule(lesson.id)}
    due = {one.item for one in store.recall.due(lesson_id=lesson.id)}
    return [item for item in lesson.recall if everything or item.id in due or item.id not in scheduled]


class Questions:
    """Asks one question after the other and remembers the last grade, so that :undo can take it back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[Lesson, RecallItem, Answer] | None = None

    def ask(self, lesson: Lesson, item: RecallItem) -> bool:
        """One question from answer to grade; every step is saved before the next. False: skipped. Raises InputEnded."""
        from labtui.answer_points import LEGEND, points_seen
        from labtui.recall_words import LEFT_OPEN, changed_words
        from store.recall import item_hash

        before = self._store.recall.latest(lesson.id).get(item.id)
        if changed := changed_words(item, before):
            say(changed)
        say(plain_text(item.question))
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
        if not item.answer.strip() and not item.points:
            say(LEFT_OPEN)
        else:
            say("A good answer says:")
            say_lines(body_lines(item.answer))
        for seen in points_seen(answer.answer, item.points):
            say(f"  {seen.sign} {plain_text(seen.point)}")
        if item.points:
            say(f"  {LEGEND}\n")
        self._grade(lesson, item, answer)
        return True

    def offer_undo(self) -> None:
        if self._last is not None:
            self._answer_to("That was the last one. :undo takes its grade back, an empty line ends.")

    def _answer_to(self, question: str) -> str:
        while (given := ask(question)) == UNDO:
            if self._last is None:
                say("There is no grade to take back.")
                continue
            lesson, item, answer = self._last
            self._store.recall.undo_grade(answer.id)
            self._last = None
            say("The last grade is taken back.")
            self._grade(lesson, item, answer)
        return given

    def _grade(self, lesson: Lesson, item: RecallItem, answer: Answer) -> None:
        from labtui.recall_words import leech_words

        grade = ask_choice("Grade yourself:", GRADES)
        graded = self._store.recall.grade(answer.id, cast("Grade", grade))
        self._last = (lesson, item, graded)
        say(f"{grade.capitalize()}. It comes back {_when(graded.due_on)}. ({UNDO} at the next question undoes it)")
        leech = leech_words(lesson, item, self._store.recall.lapses(lesson.id)) if grade == "again" else None
        say(f"{leech}\n" if leech else "")


def _keep(ungraded: Answer) -> str:
    return (
        f"You answered this and did not grade it:\n  {visible(ungraded.answer)}\n"
        "Your answer (an empty line keeps that one):"
    )


def _when(due_on: date | None) -> str:
    from store.moments import now

    return "now" if due_on is None else f"on {due_on} ({due_words(due_on, now())})"


def _say_history(lesson: Lesson, store: Store) -> None:
    from labtui.recall_words import history_lines

    say(f"{lesson.title}\n")
    for item in lesson.recall:
        say(plain_text(item.question))
        answers, grades = store.recall.answers(lesson.id, item.id), store.recall.grades(lesson.id, item.id)
        say_lines(f"  {line}" for line in history_lines(item, answers, grades))
        say()


def _nothing_due(lessons: list[Lesson], store: Store) -> str:
    coming = [one for lesson in lessons for one in store.recall.schedule(lesson.id)]
    if coming:
        soonest = min(coming, key=lambda one: one.due_on)
        return f"Nothing is due. The next question comes back {_when(soonest.due_on)}. --all asks every question now."
    ungraded = {lesson.id: len(lesson.recall) for lesson in lessons if lesson.recall}
    if not ungraded:
        return "There is no recall question here."
    count = sum(ungraded.values())
    were = "question was" if count == 1 else "questions were"
    return f"Nothing is due; {count} {were} never graded: labtui recall {next(iter(ungraded))}"


@click.command(cls=LabCommand)
@json_option
@pass_session
def due(session: Session, as_json: bool) -> None:
    """Recall questions that are due, the longest overdue first. A day begins at 4:00 on your clock."""
    lessons = session.lessons()
    questions = {(lesson.id, item.id): item.question for lesson in lessons for item in lesson.recall}
    found = [one for one in session.store.recall.due() if (one.lesson, one.item) in questions]
    if as_json:
        session.emit(
            [
                {
                    "lesson": one.lesson,
                    "item": one.item,
                    "question": questions[one.lesson, one.item],
                    "due_on": one.due_on.isoformat(),
                    "due_at": one.due_at.isoformat(timespec="seconds"),
                    "missed": session.store.recall.lapses(one.lesson).get(one.item, 0),
                }
                for one in found
            ]
        )
        return
    for one in found:
        click.echo(f"{one.lesson}  {plain_text(questions[one.lesson, one.item])}")
    if not found:
        session.say(_nothing_due(lessons, session.store))
