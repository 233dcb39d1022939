from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from labtui.cli.given_files import read_given
from labtui.errors import USAGE, LabError
from labtui.screens.lesson import short_title
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible, visible_line
from labtui.widgets.commands import Command, bindings
from labtui.widgets.field import Field
from labtui.widgets.writing import Writing
from lessons.grounded_answer import AnswerFault, check_answer
from lessons.model import Lesson
from lessons.prompt import grounded_prompt

if TYPE_CHECKING:
    from store.opening import Store

ANSWER_COMMANDS = (
    Command("w", "write", "paste, write", "Into the text: paste the answer there, or change it; esc leaves and checks"),
    Command("i", "bring", "import", "Read the answer from a text file"),
    Command("n,right", "fault(1)", "next fault", "To the next fault"),
    Command("N,left", "fault(-1)", "one before", "To the fault before", shown=False),
    Command("c", "copy_prompt", "copy prompt", "Copy the grounded prompt, for the assistant"),
    Command("u", "put_back", "put back", "Put back the text that an import replaced"),
    Command("space,pagedown", "page(1)", "further", "A page down", shown=False),
    Command("b,pageup", "page(-1)", "up", "A page up", shown=False),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up,k", "scroll(-1)", "up", "A line up", shown=False),
    BACK,
)
LARGEST_ANSWER = 1_000_000
MOST_SHOWN = 300
"""Faults that are shown; a text with more is no answer to this prompt."""

NO_ANSWER = (
    "No answer yet. c copies the grounded prompt; give it to an assistant of your choice, then w and paste, or i and "
    "the name of a file."
)


class FaultSaid(Static):
    """What is wrong with the line above it."""

    def __init__(self, message: str) -> None:
        super().__init__(f"↳ {visible_line(message)}", markup=False)
        self._message = visible_line(message)

    def mark(self, here: bool) -> None:
        self.update(f"{'▸' if here else '↳'} {self._message}")


class AnswerCheckScreen(Page):
    HELP = """
The grounded prompt asks an assistant to stay with the source. Here its answer is held to that: every citation must
lead to an anchor, every quotation must stand in the lesson, the sections that were asked for must be there, and what
is said about the source must cite it. Faults stand in the text, below the line that has them.

An answer without a fault may still be wrong: these rules read citations, not meaning. The text is kept as a draft.
"""
    PAGE_COMMANDS = ANSWER_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*ANSWER_COMMANDS)]

    class Loaded(Message):
        """replaced: the text that stood there before, where a file took its place."""

        def __init__(self, text: str, replaced: str | None = None) -> None:
            super().__init__()
            self.text = text
            self.replaced = replaced

    class Checked(Message):
        def __init__(self, text: str, faults: Sequence[AnswerFault]) -> None:
            super().__init__()
            self.text = text
            self.faults = tuple(faults)

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self._faults: tuple[AnswerFault, ...] | None = None
        self._replaced: str | None = None
        self._at: int | None = None

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def crumbs(self) -> tuple[str, ...]:
        return short_title(self.lesson), "Answer to the prompt"

    @property
    def _draft_key(self) -> str:
        return f"answer/{self.lesson_id}"

    def compose_body(self) -> ComposeResult:
        field = Field(placeholder="a text file", id="answer-file")
        field.border_title = "File with the answer"
        yield field
        yield Writing(draft_key=self._draft_key, id="answer-text")
        yield VerticalScroll(id="answer-marked", can_focus=False)

    def on_mount(self) -> None:
        self.query_one("#answer-file").display = False
        self.query_one(Writing).display = False
        self.say_next("One moment.")
        key = self._draft_key
        self.read_store(
            lambda store: store.progress.draft(key) or "", lambda text: self.post_message(self.Loaded(text))
        )

    @on(Loaded)
    def _loaded(self, event: Loaded) -> None:
        if event.replaced and event.replaced != event.text:
            self._replaced = event.replaced
        self.query_one(Writing).put(event.text)
        self._check()

    def _check(self) -> None:
        text = self.query_one(Writing).text
        self.say_next("Checking…")
        lesson = self.lesson
        self.run_worker(partial(self._judge, lesson, text), group="check", thread=True, exclusive=True)

    def _judge(self, lesson: Lesson, text: str) -> None:
        self.post_message(self.Checked(text, check_answer(lesson, text) if text.strip() else ()))

    @on(Checked)
    async def _checked(self, event: Checked) -> None:
        marked, writing = self.query_one("#answer-marked"), self.query_one(Writing)
        if event.text != writing.text or writing.has_focus:
            return
        self._faults, self._at = event.faults, None
        with self.app.batch_update():
            writing.display, marked.display = False, True
            await marked.remove_children()
            await marked.mount(*marked_answer(event.text, event.faults))
        marked.scroll_home(animate=False)
        self.refresh_bindings()
        self.say_next(self._what_next())

    def _what_next(self) -> str:
        if not self.query_one(Writing).text.strip():
            return "c copies the prompt; w, then paste the answer."
        count = len(self._faults or ())
        if not count:
            return "No fault by these rules. Whether it is right, you judge."
        return f"{count} fault{'' if count == 1 else 's'}. n goes to the next one; w changes the text."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "fault":
                return bool(self._faults)
            case "put_back":
                return self._replaced is not None
        return True

    def action_write(self) -> None:
        writing = self.query_one(Writing)
        writing.display, self.query_one("#answer-marked").display = True, False
        if self._faults and self._at is not None:
            writing.move_cursor((max(0, self._faults[self._at].line - 1), 0))
        writing.focus()
        self.say_next("Paste the answer here. esc leaves the text and checks it.")

    @on(Writing.Left)
    def _left(self) -> None:
        self._check()

    def action_bring(self) -> None:
        field = self.query_one("#answer-file", Field)
        field.display = True
        field.focus()
        self.say_next("enter reads the file; esc leaves the field.")

    @on(Input.Submitted, "#answer-file")
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            path, before = Path(event.value.strip()).expanduser(), self.query_one(Writing).text
            self.set_focus(None)
            key = self._draft_key

            def bring(store: Store) -> str:
                text = read_answer(path)
                store.progress.save_draft(key, text)
                return text

            self.change_store(bring, lambda text: self.post_message(self.Loaded(text, before)))

    @on(Field.Blurred, "#answer-file")
    def _field_left(self) -> None:
        self.query_one("#answer-file").display = False
        if self._faults is not None:
            self.say_next(self._what_next())

    def action_put_back(self) -> None:
        if self._replaced is not None:
            text, self._replaced = self._replaced, None
            self.keep_quietly(self._draft_key, text)
            self.post_message(self.Loaded(text, self.query_one(Writing).text))

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


def marked_answer(text: str, faults: Sequence[AnswerFault]) -> list[Widget]:
    """The answer with each fault below its line; what is absent from all of it stands first."""
    if not text.strip():
        return [Static(NO_ANSWER, markup=False)]
    return list(_marked(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), faults))


def _marked(rows: list[str], faults: Sequence[AnswerFault]) -> Iterator[Widget]:
    shown = faults[:MOST_SHOWN]
    at: dict[int, list[str]] = {}
    for fault in shown:
        at.setdefault(fault.line, []).append(fault.message)
    for message in at.pop(0, ()):
        yield FaultSaid(message)
    done = 0
    for number in sorted(at):
        if rows[done : number - 1]:
            yield Static(_plain(rows[done : number - 1]), markup=False)
        yield Static(f"✗ {visible_line(rows[number - 1])}", classes="faulty-line", markup=False)
        for message in at[number]:
            yield FaultSaid(message)
        done = number
    if rows[done:]:
        yield Static(_plain(rows[done:]), markup=False)
    if len(faults) > len(shown):
        yield Static(f"And {len(faults) - len(shown)} more faults, not shown.", markup=False)


def _plain(rows: list[str]) -> str:
    return "\n".join(f"  {visible(row)}" for row in rows)


def read_answer(path: Path) -> str:
    """Raises LabError (exit 2)."""
    title, fix = "The answer could not be read", "Name a text file in UTF-8."
    content = read_given(path, LARGEST_ANSWER, title, fix)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LabError(title, f"{visible_line(str(path))} is not UTF-8 (byte {error.start})", fix, USAGE) from error
