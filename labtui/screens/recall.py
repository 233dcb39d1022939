from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from labtui.answer_points import LEGEND, points_seen
from labtui.due_words import due_words
from labtui.recall_words import LEFT_OPEN, changed_words, history_lines, leech_words
from labtui.screens.lesson import short_title
from labtui.screens.lesson_cards import Prose
from labtui.screens.page import BACK, Page
from labtui.screens.reading import ReadingBox
from labtui.terminal_text import visible, visible_line
from labtui.widgets.commands import Command, bindings
from labtui.widgets.writing import Writing
from lessons.model import Lesson, RecallItem
from store.days import day_of
from store.recall import Answer, item_hash
from store.scheduling import Grade

if TYPE_CHECKING:
    from store.opening import Store

RECALL_COMMANDS = (
    Command("enter", "reveal", "reveal", "Save your answer, then show what a good one says"),
    Command("w", "write", "write", "Write your answer; esc leaves the text"),
    Command("1", "grade('again')", "again", "I did not know it: it comes back soon"),
    Command("2", "grade('hard')", "hard", "I knew it with effort"),
    Command("3", "grade('good')", "good", "I knew it"),
    Command("4", "grade('easy')", "easy", "I knew it at once: it comes back late"),
    Command("enter,n", "next", "go on", "To the next question"),
    Command("u", "undo", "undo", "Take the last grade back"),
    Command("right", "walk(1)", "walk", "To the next question, unanswered", display="←→"),
    Command("left", "walk(-1)", "back", "To the question before", shown=False),
    Command("a", "all", "all", "Practise every question, due or not; again: only what is due"),
    Command("h", "history", "history", "Your answers and grades for this question so far"),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up,k", "scroll(-1)", "up", "A line up", shown=False),
    Command("space,pagedown", "scroll(10)", "further", "A page down", shown=False),
    Command("b,pageup", "scroll(-10)", "up", "A page up", shown=False),
    BACK,
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of this sitting.

    answer: the saved one that is revealed; its grade is None until it is graded. changed: that the question was
    reworded since it was answered. leech: where to go with a question that keeps being missed.
    """

    item: RecallItem
    draft: str = ""
    answer: Answer | None = None
    due_words: str = ""
    changed: str | None = None
    leech: str | None = None

    @property
    def graded(self) -> bool:
        return self.answer is not None and self.answer.grade is not None


class RecallScreen(Page):
    HELP = """
Answer from memory, then reveal, then grade yourself. Looking it up first would teach you nothing.

Your answer is saved before the good answer is shown. Compare them point by point and be honest: the grade decides
on which day the question comes back (FSRS, a published schedule). u takes a grade back, h shows all of them.

● ◐ ○ say which points share words with your answer. That is a help and no judgement.

Only what is due is asked, and what you have never graded. a asks everything. A day begins at four in the morning on
your clock, wherever you are.
"""
    PAGE_COMMANDS = RECALL_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*RECALL_COMMANDS)]

    class Loaded(Message):
        def __init__(self, questions: tuple[Question, ...], soonest: str) -> None:
            super().__init__()
            self.questions = questions
            self.soonest = soonest

    class Answered(Message):
        """An answer as the store now has it. undone: its grade was taken back. leech: as in Question."""

        def __init__(self, answer: Answer, undone: bool, leech: str | None) -> None:
            super().__init__()
            self.answer = answer
            self.undone = undone
            self.leech = leech

    class HistoryRead(Message):
        def __init__(self, item: RecallItem, text: str) -> None:
            super().__init__()
            self.item = item
            self.text = text

    def __init__(self, lesson_id: str, item_id: str | None = None) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self._wanted = item_id
        self._everything = item_id is not None
        self._questions: tuple[Question, ...] = ()
        self._index = 0
        self._loaded_once = False
        self._soonest = ""
        self._last_graded: str | None = None
        self._busy = False

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def question(self) -> Question | None:
        return self._questions[self._index] if self._index < len(self._questions) else None

    @property
    def crumbs(self) -> tuple[str, ...]:
        where = "Recall"
        if self.question is not None:
            where += f" {self._index + 1} of {len(self._questions)}"
        return short_title(self.lesson), where

    def compose_body(self) -> ComposeResult:
        yield VerticalScroll(id="recall", can_focus=False)

    def on_mount(self) -> None:
        self.say_next("One moment.")
        self._load()

    def _load(self) -> None:
        self.read_store(self._read, lambda found: self.post_message(self.Loaded(*found)))

    def _read(self, store: Store) -> tuple[tuple[Question, ...], str]:
        now = self.lab.now()
        schedule = {one.item: one.due_on for one in store.recall.schedule(self.lesson_id)}
        latest = store.recall.latest(self.lesson_id)
        questions = []
        for item in self.lesson.recall:
            due_on = schedule.get(item.id)
            if not self._everything and due_on is not None and due_on > day_of(now):
                continue
            newest = latest.get(item.id)
            questions.append(
                Question(
                    item,
                    store.progress.draft(self._draft_key(item)) or "",
                    newest if newest is not None and newest.grade is None else None,
                    f"due {due_words(due_on, now)}" if due_on else "never graded",
                    changed_words(item, newest),
                )
            )
        soonest = min(schedule.values(), default=None)
        return tuple(questions), due_words(soonest, now) if soonest else ""

    def _draft_key(self, item: RecallItem) -> str:
        return f"recall/{self.lesson_id}/{item.id}"

    @on(Loaded)
    async def _loaded(self, event: Loaded) -> None:
        self._questions, self._soonest, self._loaded_once = event.questions, event.soonest, True
        ids = [question.item.id for question in event.questions]
        self._index = ids.index(self._wanted) if self._wanted in ids else 0
        self._wanted = None
        await self._show()

    async def _show(self) -> None:
        scroll = self.query_one("#recall", VerticalScroll)
        self.set_focus(None)
        with self.app.batch_update():
            await scroll.remove_children()
            await scroll.mount(*self._widgets())
        scroll.scroll_home(animate=False)
        question = self.question
        if question is not None and question.answer is None:
            self.query_one(Writing).focus()
        self.refresh_title()
        self.refresh_bindings()
        self.say_next(self._what_next())

    def _widgets(self) -> list[Widget]:
        question = self.question
        if question is None:
            return self._end()
        item = question.item
        asked: list[Widget] = [Prose(item.question, classes="question")]
        if question.changed is not None:
            asked.append(Static(question.changed, classes="muted", markup=False))
        if question.answer is None:
            writing = Writing(question.draft, draft_key=self._draft_key(item))
            writing.border_title = "Your answer, from memory"
            writing.border_subtitle = "draft" if question.draft else question.due_words
            return [*asked, writing]
        yours = Vertical(
            Static("YOUR ANSWER", classes="heading-small", markup=False),
            Static(visible(question.answer.answer), classes="own-words", markup=False),
            classes="side",
        )
        good = Vertical(
            Static("A GOOD ANSWER SAYS", classes="heading-small", markup=False),
            *(
                Static(f"{seen.sign} {visible_line(seen.point)}", classes="point", markup=False)
                for seen in points_seen(question.answer.answer, item.points)
            ),
            *([Static(LEGEND, classes="muted", markup=False)] if item.points else []),
            Prose(item.answer or LEFT_OPEN, classes="good-answer"),
            classes="side",
        )
        leech = [] if question.leech is None else [Static(question.leech, classes="leech", markup=False)]
        return [*asked, *leech, Container(yours, good, id="sides")]

    def _end(self) -> list[Widget]:
        if not self._questions:
            text = (
                f"Nothing is due. The next question comes back {self._soonest}." if self._soonest else "No questions."
            )
            return [Static(text, classes="heading", markup=False)]
        lines = [Static("That was the last one.", classes="heading", markup=False)]
        for question in self._questions:
            lines.append(Static(f"{visible_line(question.item.question)}\n  {self._outcome(question)}", markup=False))
        return [*lines]

    def _outcome(self, question: Question) -> str:
        answer = question.answer
        if answer is None:
            return "not answered"
        if answer.grade is None or answer.due_on is None:
            return "answered, not graded"
        return f"✓ {answer.grade}, comes back {due_words(answer.due_on, self.lab.now())}"

    def _what_next(self) -> str:
        if not self._loaded_once:
            return "One moment."
        question = self.question
        if question is None:
            return "a asks every question; esc goes back."
        if question.answer is None:
            return "Write what you know. esc leaves the text, then enter saves and reveals."
        if not question.graded:
            return "How well did you know it? 1 again  2 hard  3 good  4 easy"
        return f"{self._outcome(question)}. enter goes on, u takes it back."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        question = self.question
        match action:
            case "write":
                return question is not None and question.answer is None
            case "reveal":
                return question is not None and question.answer is None
            case "grade":
                return question is not None and question.answer is not None and not question.graded
            case "next":
                return question is not None and question.graded
            case "undo":
                return self._last_graded is not None
            case "walk":
                return bool(self._questions)
            case "history":
                return question is not None
        return True

    @on(Writing.Edited)
    def _remember_draft(self, event: Writing.Edited) -> None:
        if self.question is not None:
            self._replace(replace(self.question, draft=event.text))

    @on(Writing.Left)
    def _left(self) -> None:
        self.say_next("enter saves your answer and reveals the good one; w goes on writing.")

    def _replace(self, changed: Question) -> None:
        self._questions = tuple(
            changed if question.item.id == changed.item.id else question for question in self._questions
        )

    def action_write(self) -> None:
        self.query_one(Writing).focus()
        self.say_next(self._what_next())

    def action_reveal(self) -> None:
        question = self.question
        if question is None or self._busy:
            return
        text = self.query_one(Writing).text
        if not text.strip():
            self.say("Answer first, even if it is only “I do not know”: w writes.", fault=True)
            return
        item = question.item

        def save(store: Store) -> Answer:
            answer = store.recall.add_answer(self.lesson_id, item.id, text, item_hash(item))
            store.progress.clear_draft(self._draft_key(item))
            return answer

        self._ask_store(save)

    def action_grade(self, grade: Grade) -> None:
        question = self.question
        if question is None or question.answer is None or self._busy:
            return
        answer_id, now = question.answer.id, self.lab.now()
        self._ask_store(lambda store: store.recall.grade(answer_id, grade, now))

    def action_undo(self) -> None:
        graded = next((one for one in self._questions if one.item.id == self._last_graded), None)
        if graded is None or graded.answer is None or self._busy:
            return
        answer_id = graded.answer.id
        self._ask_store(lambda store: store.recall.undo_grade(answer_id), undone=True)

    def _ask_store(self, change: Callable[[Store], Answer], undone: bool = False) -> None:
        """One change at a time: a key that is pressed twice must not save two answers."""
        self._busy = True
        lesson = self.lesson

        def change_and_look(store: Store) -> tuple[Answer, str | None]:
            answer = change(store)
            item = next(one for one in lesson.recall if one.id == answer.item)
            missed = answer.grade == "again"
            return answer, leech_words(lesson, item, store.recall.lapses(lesson.id)) if missed else None

        self.change_store(change_and_look, lambda found: self.post_message(self.Answered(found[0], undone, found[1])))

    def show_fault(self, error: BaseException) -> None:
        self._busy = False
        super().show_fault(error)

    @on(Answered)
    async def _answered(self, event: Answered) -> None:
        answer, self._busy = event.answer, False
        changed = next((one for one in self._questions if one.item.id == answer.item), None)
        if changed is None:
            return
        self._replace(replace(changed, answer=answer, draft="", changed=None, leech=event.leech))
        self._index = [one.item.id for one in self._questions].index(answer.item)
        if answer.grade is not None:
            self._last_graded = answer.item
        elif event.undone:
            self._last_graded = None
        await self._show()
        if event.undone:
            self.say("The grade is taken back; grade it again.")
        elif answer.grade is None:
            self.say("Saved. Compare, then grade: 1 again  2 hard  3 good  4 easy")

    async def action_next(self) -> None:
        self._index = min(self._index + 1, len(self._questions))
        await self._show()

    async def action_walk(self, by: int) -> None:
        self._index = max(0, min(self._index + by, len(self._questions)))
        await self._show()

    def action_all(self) -> None:
        self._everything = not self._everything
        self._wanted = self.question.item.id if self.question else None
        self._load()

    def action_history(self) -> None:
        question = self.question
        if question is None:
            return
        lesson_id, item = self.lesson_id, question.item
        self.read_store(
            lambda store: history_lines(
                item, store.recall.answers(lesson_id, item.id), store.recall.grades(lesson_id, item.id)
            ),
            lambda lines: self.post_message(self.HistoryRead(item, "\n".join(lines))),
        )

    @on(HistoryRead)
    def _history_read(self, event: HistoryRead) -> None:
        self.app.push_screen(ReadingBox(event.item.question, event.text, plain=True))

    def action_scroll(self, lines: int) -> None:
        self.query_one("#recall").scroll_relative(y=lines, animate=False)
