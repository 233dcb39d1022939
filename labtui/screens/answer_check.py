from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static

from labtui.cli.answers import read_answer
from labtui.kept_answers import PASTED, About, KeptAnswer, discard, kept_answers, restore, text_key
from labtui.screens.answer_ask import (
    ADDRESS_KEY,
    MODEL_KEY,
    AnswerCame,
    AnswerComes,
    AnswersBox,
    AskFailed,
    AskForm,
    Asking,
)
from labtui.screens.answer_marks import FaultSaid, marked_answer
from labtui.screens.lesson import short_title
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible
from labtui.widgets.commands import Command, bindings
from labtui.widgets.dates import day_words, span
from labtui.widgets.field import Field
from labtui.widgets.writing import Writing
from lessons.grounded_answer import AnswerFault, check_answer
from lessons.model import Lesson
from lessons.prompt import grounded_prompt

if TYPE_CHECKING:
    from store.opening import Store

ANSWER_COMMANDS = (
    Command("a", "ask", "ask a model", "Send the prompt to the lab's server or to any other, and check what comes"),
    Command("x", "stop", "stop", "Stop the answer that is coming; what is there is kept"),
    Command("w", "write", "paste, write", "Into the text: paste the answer there, or change it; esc leaves and checks"),
    Command("i", "bring", "import", "Read the answer from a text file"),
    Command("n,right", "fault(1)", "next fault", "To the next fault"),
    Command("N,left", "fault(-1)", "one before", "To the fault before", shown=False),
    Command("c", "copy_prompt", "copy prompt", "Copy the grounded prompt, for the assistant"),
    Command("l", "answers", "list", "All answers that are kept, to open one"),
    Command("d", "discard", "discard", "Take this answer off the list; u brings it back", shown=False),
    Command("u", "put_back", "put back", "Put back the text that an import replaced, or the answer that was discarded"),
    Command("space,pagedown", "page(1)", "further", "A page down", shown=False),
    Command("b,pageup", "page(-1)", "up", "A page up", shown=False),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up,k", "scroll(-1)", "up", "A line up", shown=False),
    BACK,
)
NOT_WHILE_ASKING = frozenset({"ask", "write", "bring", "fault", "answers", "discard", "put_back"})
PRACTICE_WORDS = (
    "The lab serves the practice checkpoint, which was trained on the lab's own tasks alone: it is not asked. Give "
    "another address."
)

Undo = Callable[["Store"], str]
"""Puts back what was there, and returns the id of the answer to show."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as it is shown; address, model: who was asked last. undo: None where there is nothing to put back."""

    answer: KeptAnswer
    address: str = ""
    model: str = ""
    undo: Undo | None = None


class AnswerCheckScreen(Page):
    HELP = """
The grounded prompt asks an assistant to stay with the source. Here its answer is held to that: every citation must
lead to an anchor, every quotation must stand in the lesson, the sections that were asked for must be there, and what
is said about the source must cite it. Faults stand in the text, below the line that has them.

a sends the prompt to a model: to the server of the lab, or to any OpenAI-compatible address. A key for it comes from
LABTUI_API_KEY in the environment and is kept nowhere. The practice checkpoint is not asked: it knows the lab's own
tasks alone. Leaving this screen stops what is coming; what is there is kept.

An answer without a fault may still be wrong: these rules read citations, not meaning. Every answer is kept as a draft;
l lists them, d takes one off the list and u brings it back.
"""
    PAGE_COMMANDS = ANSWER_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*ANSWER_COMMANDS)]

    class Loaded(Message):
        def __init__(self, shown: Shown) -> None:
            super().__init__()
            self.shown = shown

    class Checked(Message):
        def __init__(self, text: str, faults: Sequence[AnswerFault]) -> None:
            super().__init__()
            self.text = text
            self.faults = tuple(faults)

    class Listed(Message):
        def __init__(self, answers: Sequence[tuple[KeptAnswer, int]]) -> None:
            super().__init__()
            self.answers = tuple(answers)

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self._shown: Shown | None = None
        self._faults: tuple[AnswerFault, ...] | None = None
        self._undo: Undo | None = None
        self._asking: Asking | None = None
        self._at: int | None = None

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def crumbs(self) -> tuple[str, ...]:
        return short_title(self.lesson), "Answer to the prompt"

    def compose_body(self) -> ComposeResult:
        field = Field(placeholder="a text file", id="answer-file")
        field.border_title = "File with the answer"
        yield field
        yield AskForm(id="answer-ask")
        yield Writing(draft_key=text_key(self.lesson_id, PASTED), id="answer-text")
        yield VerticalScroll(id="answer-marked", can_focus=False)

    def on_mount(self) -> None:
        for name in ("#answer-file", "#answer-ask", "#answer-text"):
            self.query_one(name).display = False
        self.say_next("One moment.")
        self.read_store(partial(self._read, None), lambda shown: self.post_message(self.Loaded(shown)))

    def on_unmount(self) -> None:
        if self._asking is not None:
            self._asking.cancel.set()

    def _read(self, answer_id: str | None, store: Store) -> Shown:
        """answer_id: None for the newest answer."""
        kept = kept_answers(self.lesson_id, store)
        answer = next((one for one in kept if answer_id in (None, one.id)), None)
        draft = store.progress.draft
        return Shown(answer or KeptAnswer(PASTED, "", self.lab.now()), draft(ADDRESS_KEY) or "", draft(MODEL_KEY) or "")

    def _open(self, change: Undo, undo: Undo | None = None) -> None:
        """Have the store change, then show the answer that it names."""

        def change_and_read(store: Store) -> Shown:
            shown = self._read(change(store), store)
            return Shown(shown.answer, shown.address, shown.model, undo)

        self.change_store(change_and_read, lambda shown: self.post_message(self.Loaded(shown)))

    @on(Loaded)
    def _loaded(self, event: Loaded) -> None:
        self._shown = event.shown
        self._undo = event.shown.undo or self._undo
        writing = self.query_one(Writing)
        writing.draft_key = text_key(self.lesson_id, event.shown.answer.id)
        writing.put(event.shown.answer.text)
        self._check()

    def _check(self) -> None:
        text = self.query_one(Writing).text
        self.say_next("Checking…")
        self.run_worker(partial(self._judge, self.lesson, text), group="check", thread=True, exclusive=True)

    def _judge(self, lesson: Lesson, text: str) -> None:
        self.post_message(self.Checked(text, check_answer(lesson, text) if text.strip() else ()))

    @on(Checked)
    async def _checked(self, event: Checked) -> None:
        marked, writing = self.query_one("#answer-marked"), self.query_one(Writing)
        if event.text != writing.text or writing.has_focus or self._asking is not None:
            return
        self._faults, self._at = event.faults, None
        with self.app.batch_update():
            writing.display, marked.display = False, True
            await marked.remove_children()
            await marked.mount(*marked_answer(event.text, event.faults, self._remarks()))
        marked.scroll_home(animate=False)
        self.refresh_bindings()
        self.say_next(self._what_next())

    def _remarks(self) -> tuple[str, ...]:
        if self._shown is None or self._shown.answer.about == About():
            return ()
        answer = self._shown.answer
        whence = f"{answer.about.whence} · {day_words(answer.changed_at, self.lab.now())}"
        return whence, f"! {answer.remark}" if answer.remark else ""

    def _what_next(self) -> str:
        if not self.query_one(Writing).text.strip():
            return "a asks a model; or c copies the prompt, then w and paste."
        count = len(self._faults or ())
        if not count:
            return "No fault by these rules. Whether it is right, you judge."
        return f"{count} fault{'' if count == 1 else 's'}. n goes to the next one; w changes the text."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._asking is not None and action in NOT_WHILE_ASKING:
            return False
        match action:
            case "fault":
                return bool(self._faults)
            case "put_back":
                return self._undo is not None
            case "stop":
                return self._asking is not None
            case "discard":
                return self._shown is not None and bool(self._shown.answer.text.strip())
        return True

    def action_ask(self) -> None:
        if self._shown is None:
            return
        status = self.lab.server_status
        practice = status is not None and status.usable and status.practice
        self.query_one(AskForm).open(self._shown.address, self._shown.model, PRACTICE_WORDS if practice else "")
        self.say_next("enter goes on and asks; esc leaves without asking.")

    @on(AskForm.Left)
    def _form_left(self) -> None:
        if self._asking is None and self._faults is not None:
            self.say_next(self._what_next())

    @on(AskForm.Wanted)
    async def _wanted(self, event: AskForm.Wanted) -> None:
        self._asking = Asking(self.lesson, event.url, event.model, self.post_message)
        self.keep_quietly(ADDRESS_KEY, event.url)
        self.keep_quietly(MODEL_KEY, event.model)
        self.query_one(AskForm).display = False
        self.set_focus(None)
        marked = self.query_one("#answer-marked")
        await marked.remove_children()
        await marked.mount(Static("", id="answer-coming", markup=False))
        self.query_one(Writing).display, marked.display = False, True
        self.refresh_bindings()
        self.say_next("Looking for the server… x stops.")
        ask = partial(self._asking.run, lambda: self.lab.supervisor, self.lab.books)
        self.run_worker(ask, group="ask", thread=True, exit_on_error=False)

    @on(AnswerComes)
    def _comes(self, event: AnswerComes) -> None:
        coming = self.query("#answer-coming")
        if self._asking is None or not coming:
            return
        coming.first(Static).update(visible(event.text))
        self.query_one("#answer-marked", VerticalScroll).scroll_end(animate=False)
        words = f"{len(event.text.split()):,} words, {span(event.seconds)}" if event.text else "no word yet"
        self.say_next(f"{event.whom}: {words}. x stops.")

    @on(AnswerCame)
    def _came(self, event: AnswerCame) -> None:
        self._asking = None
        self._open(lambda store: event.answer.id)

    @on(AskFailed)
    def _failed(self, event: AskFailed) -> None:
        self._asking = None
        self._open(lambda store: self._shown.answer.id if self._shown is not None else PASTED)
        self.show_fault(event.error)

    def action_stop(self) -> None:
        if self._asking is not None:
            self._asking.cancel.set()
            self.say_next("Stopping; what is there is kept.")

    def action_answers(self) -> None:
        def listed(store: Store) -> list[tuple[KeptAnswer, int]]:
            return [(one, len(check_answer(self.lesson, one.text))) for one in kept_answers(self.lesson_id, store)]

        self.read_store(listed, lambda answers: self.post_message(self.Listed(answers)))

    @on(Listed)
    def _listed(self, event: Listed) -> None:
        here = self._shown.answer.id if self._shown is not None else PASTED
        self.app.push_screen(AnswersBox(event.answers, here, self.lab.now()), self._chosen)

    def _chosen(self, answer_id: str | None) -> None:
        if answer_id is not None:
            self._open(lambda store: answer_id)

    def action_discard(self) -> None:
        if self._shown is None:
            return
        lesson_id, answer_id = self.lesson_id, self._shown.answer.id
        kept_as: list[str] = []

        def throw(store: Store) -> str:
            kept_as.append(discard(lesson_id, answer_id, store))
            newest = next(iter(kept_answers(lesson_id, store)), None)
            return newest.id if newest is not None else PASTED

        self._open(throw, lambda store: restore(lesson_id, kept_as[0], store).id)

    def action_write(self) -> None:
        writing = self.query_one(Writing)
        writing.display, self.query_one("#answer-marked").display = True, False
        if self._faults and self._at is not None:
            writing.move_cursor((max(0, self._faults[self._at].line - 1), 0))
        writing.focus()
        self.say_next("Paste the answer here. esc leaves the text and checks it.")

    @on(Writing.Left)
    def _left(self) -> None:
        self._open(lambda store: self._shown.answer.id if self._shown is not None else PASTED)

    def action_bring(self) -> None:
        field = self.query_one("#answer-file", Field)
        field.display = True
        field.focus()
        self.say_next("enter reads the file; esc leaves the field.")

    @on(Input.Submitted, "#answer-file")
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            path, key = Path(event.value.strip()).expanduser(), text_key(self.lesson_id, PASTED)
            before: list[str] = []
            self.set_focus(None)

            def bring(store: Store) -> str:
                text = read_answer(path)
                before.append(store.progress.draft(key) or "")
                store.progress.save_draft(key, text)
                return PASTED

            def put_back(store: Store) -> str:
                store.progress.save_draft(key, before[0])
                return PASTED

            self._open(bring, put_back)

    @on(Field.Blurred, "#answer-file")
    def _field_left(self) -> None:
        self.query_one("#answer-file").display = False
        if self._faults is not None:
            self.say_next(self._what_next())

    def action_put_back(self) -> None:
        if self._undo is not None:
            undo, self._undo = self._undo, None
            self._open(undo)

    def action_copy_prompt(self) -> None:
        self.say(self.lab.copied(grounded_prompt(self.lesson), "The grounded prompt"))

    def action_fault(self, by: int) -> None:
        lines = list(self.query("#answer-marked FaultSaid").results(FaultSaid))
        if lines:
            self._at = (0 if by > 0 else -1) if self._at is None else self._at + by
            self._at %= len(lines)
            for index, line in enumerate(lines):
                line.mark(index == self._at)
            self.query_one("#answer-marked", VerticalScroll).scroll_to_widget(lines[self._at], animate=False)
            self.say_next(f"Fault {self._at + 1} of {len(lines)}. n goes on; w changes the text.")

    def action_page(self, by: int) -> None:
        marked = self.query_one("#answer-marked")
        (marked.scroll_page_down if by > 0 else marked.scroll_page_up)(animate=False)

    def action_scroll(self, by: int) -> None:
        self.query_one("#answer-marked").scroll_relative(y=by, animate=False)
