"""The server's log in full: it follows, scrolls and searches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from labtui.screens.lab_server import explained
from labtui.screens.page import BACK, Page
from labtui.widgets.commands import Command, bindings
from labtui.widgets.field import Field
from labtui.widgets.log_pane import LogPane

if TYPE_CHECKING:
    from labtui.serving.log_tail import LogFollower

LOG_COMMANDS = (
    Command("f", "follow", "follow", "Follow what comes, or stay here"),
    Command("slash", "search", "search", "Find words in the log; enter takes them, esc leaves", display="/"),
    Command("n", "found(-1)", "before", "To the match before"),
    Command("N", "found(1)", "next match", "To the next match", shown=False),
    Command("c", "copy", "copy", "Copy the lines that are here"),
    Command("down,j", "move(1)", "down", "A line down", shown=False),
    Command("up,k", "move(-1)", "up", "A line up; it then stays there", shown=False),
    Command("space,pagedown", "page(1)", "further", "A page down", shown=False),
    Command("b,pageup", "page(-1)", "up", "A page up", shown=False),
    Command("home", "edge(-1)", "first", "To the first line that is here", shown=False),
    Command("end", "edge(1)", "last", "To the last line, and follow", shown=False),
    BACK,
)


class LogScreen(Page):
    HELP = """
The log of the server that runs, or of the last one that ran. The last thousand lines are here; the whole file lies at
the path that is shown. Colour codes and control characters are taken out.

It follows what comes until you scroll up; f or end follows again.
"""
    PAGE_COMMANDS = LOG_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*LOG_COMMANDS)]
    CSS_PATH = "lab.tcss"

    class LogSeen(Message):
        """All lines that are kept. A newer one replaces one that still waits."""

        def __init__(self, lines: tuple[str, ...], path: Path | None) -> None:
            super().__init__()
            self.lines, self.path = lines, path

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, LogScreen.LogSeen)

    class NotSeen(Message):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    def __init__(self, at: str = "") -> None:
        """at: words of the line to begin at; without them it follows the end."""
        super().__init__()
        self._at = at.removesuffix("…")
        self._follower: LogFollower | None = None
        self._reading = False
        self._path: Path | None = None

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("Lab", "Log")

    @property
    def pane(self) -> LogPane:
        return self.query_one(LogPane)

    def compose_body(self) -> ComposeResult:
        yield LogPane(id="log")
        search = Field(placeholder="find in the log", id="log-search", compact=True)
        search.display = False
        yield search

    def on_mount(self) -> None:
        self.say_next("One moment.")
        self.server_seen()

    def server_seen(self) -> None:
        super().server_seen()
        if not self._reading:
            self._reading = True
            self.run_worker(self._read, group="log", thread=True, exit_on_error=False)

    def _read(self) -> None:
        from labtui.serving.log_tail import LogFollower

        try:
            path = self.lab.supervisor.log_path
            if path is None:
                self.post_message(self.LogSeen((), None))
                return
            if self._follower is None or self._follower.path != path:
                self._follower = LogFollower(path)
            self._follower.poll()
            lines, last = list(self._follower.lines), self._follower.last_line
            if last and (not lines or lines[-1] != last):
                lines.append(last)
            self.post_message(self.LogSeen(tuple(lines), path))
        except Exception as error:
            self.post_message(self.NotSeen(error))
        finally:
            self._reading = False

    @on(NotSeen)
    def _not_seen(self, event: NotSeen) -> None:
        self.lab.show_fault(explained(event.error))

    @on(LogSeen)
    def _log_seen(self, event: LogSeen) -> None:
        self._path = event.path
        self.pane.show(event.lines)
        self._go_there()
        self._say_where()

    def _go_there(self) -> None:
        """To the line that was asked for, once."""
        if self._at and self.pane.lines:
            if not self.pane.go_to_line(self._at):
                self.say("That line is no longer among the last thousand; the whole log lies at the path.", fault=True)
            self._at = ""

    def _say_where(self) -> None:
        pane = self.pane
        if self._path is None:
            self.say_next("No server was started here yet, so there is no log.")
            return
        mode = "follows" if pane.following else "stays here; f follows"
        found = ""
        if pane.found:
            found = f" · match {pane.found_here or '–'} of {pane.found}"
        elif self.query_one(Input).value:
            found = " · no match"
        self.say_next(f"{mode}{found} · {self._path}")

    def action_follow(self) -> None:
        self.pane.follow(not self.pane.following)
        self._say_where()

    def action_search(self) -> None:
        field = self.query_one(Input)
        field.display = True
        field.focus()

    @on(Input.Changed)
    def _search_changed(self, event: Input.Changed) -> None:
        self.pane.search(event.value)
        self._say_where()

    @on(Input.Submitted)
    def _search_taken(self) -> None:
        self._leave_search()

    def _leave_search(self) -> None:
        self.set_focus(None)
        self.query_one(Input).display = False

    async def action_back(self) -> None:
        if self.query_one(Input).display:
            self.query_one(Input).value = ""
            self._leave_search()
        else:
            await super().action_back()

    def action_found(self, by: int) -> None:
        self.pane.go(by)
        self._say_where()

    def action_move(self, by: int) -> None:
        self.pane.move(by)
        self._say_where()

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.pane.size.height - 2))

    def action_edge(self, end: int) -> None:
        self.pane.follow(end > 0)
        if end < 0:
            self.pane.scroll_home(animate=False)
        self._say_where()

    def action_copy(self) -> None:
        self.say(self.lab.copied("\n".join(self.pane.lines)))
