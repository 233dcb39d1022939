"""What all screens have in common: the title line, one main thing, a line that says what to do next, the keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from labtui.program import as_typed
from labtui.terminal_text import visible
from labtui.widgets.commands import Command, bindings
from labtui.widgets.key_line import KeyLine
from labtui.widgets.title_line import TitleLine
from labtui.widgets.writing import Writing

if TYPE_CHECKING:
    from textual.worker import WorkType

    from labtui.app import LabApp
    from store.opening import Store

T = TypeVar("T")

BACK = Command("escape", "back", "back", "Back to where you came from")


class Page(Screen[None]):
    """A screen of labtui. Subclasses give HELP, PAGE_COMMANDS with BINDINGS made of them, crumbs, and compose_body."""

    HELP: ClassVar[str] = ""
    PAGE_COMMANDS: ClassVar[tuple[Command, ...]] = (BACK,)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(BACK)]
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [  # type: ignore[misc]
        (0, "-narrow"),
        (72, "-normal"),
        (116, "-wide"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._next: Content | str = ""
        self._notice: Content | str = ""

    @property
    def lab(self) -> LabApp:
        return cast("LabApp", self.app)

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("labtui",)

    def compose_body(self) -> ComposeResult:
        yield from ()

    def compose(self) -> ComposeResult:
        yield TitleLine()
        with Container(id="body"):
            yield from self.compose_body()
        yield Static(id="next-line", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self.refresh_title()

    def on_screen_resume(self) -> None:
        self.refresh_title()

    @property
    def stands(self) -> bool:
        """Its parts are there: not before it was composed, and no longer while the app closes."""
        return self.is_mounted and bool(self.query(TitleLine))

    def refresh_title(self) -> None:
        title = self.query_one(TitleLine)
        title.crumbs = self.crumbs
        title.server = self.lab.server_words

    def server_seen(self) -> None:
        """The server's state was looked at; self.lab.server_status is the newest."""
        self.refresh_title()

    def say_next(self, text: str) -> None:
        """What to do next; it stands until the page says otherwise."""
        self._next = as_typed(visible(text))
        self._notice = ""
        self._show_line()

    def say(self, text: str, *, fault: bool = False) -> None:
        """What just happened; it stands until `quiet`, or until the page says what is next."""
        self._notice = f"{'✗' if fault else '✓'} {as_typed(visible(text))}"
        self._show_line(fault)

    def quiet(self) -> None:
        self._notice = ""
        self._show_line()

    def _show_line(self, fault: bool = False) -> None:
        line = self.query_one("#next-line", Static)
        line.set_class(bool(self._notice), "-notice")
        line.set_class(fault, "-fault")
        line.update(self._notice or (f"▸ {self._next}" if self._next else ""))

    def show_fault(self, error: BaseException) -> None:
        """A fault that leaves this page usable: said in the line, whole in the panel behind it."""
        self.lab.show_fault(error)

    def doing(self, command: Command) -> Callable[[], Awaitable[None]]:
        """What the palette calls for a command of this page."""

        async def do() -> None:
            await self.run_action(command.action)

        return do

    async def action_back(self) -> None:
        await self.lab.pop_screen()

    @on(Writing.Edited)
    def keep_draft(self, event: Writing.Edited) -> None:
        key = event.writing.draft_key
        if key is None:
            return
        writing, text = event.writing, event.text
        writing.border_subtitle = "writing…"
        kept = self.lab.books.keep_draft(key, text)
        self._wait_for_store(kept, lambda newest: self._draft_kept(writing, text, newest))

    def _draft_kept(self, writing: Writing, text: str, newest: bool) -> None:
        if newest and writing.text == text:
            writing.border_subtitle = "draft kept"

    def keep_quietly(self, key: str, text: str) -> None:
        """Keep a small thing, such as how far a page is scrolled, with the drafts."""
        self._wait_for_store(self.lab.books.keep_draft(key, text), lambda newest: None)

    def read_store(self, question: Callable[[Store], T], then: Callable[[T], object]) -> None:
        """Have the store answer, then call then(answer), which posts it as a message. Newer questions replace older."""
        answer = self.lab.books.ask(question)
        work: Callable[[], Awaitable[None]] = partial(self._tell_when_there, answer, then)
        self.run_worker(cast("WorkType[None]", work), group="read", exclusive=True)

    def change_store(self, change: Callable[[Store], T], then: Callable[[T], object]) -> None:
        """Have the store change. It happens even if this page is left meanwhile; then it is not called."""
        self._wait_for_store(self.lab.books.ask(change), then)

    def _wait_for_store(self, answer: Awaitable[T], then: Callable[[T], object]) -> None:
        work: Callable[[], Awaitable[None]] = partial(self._tell_when_there, answer, then)
        self.app.run_worker(cast("WorkType[None]", work), group="changes")

    async def _tell_when_there(self, answer: Awaitable[T], then: Callable[[T], object]) -> None:
        try:
            result = await answer
        except Exception as error:
            self.show_fault(error)
        else:
            if self.is_attached:
                then(result)
