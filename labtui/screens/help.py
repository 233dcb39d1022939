from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from labtui.program import as_typed
from labtui.screens.page import Page
from labtui.widgets.commands import Command, bindings

HELP_COMMANDS = (
    Command("escape,q,question_mark", "dismiss", "close", "Close the help"),
    Command("down,j,space", "scroll(3)", "down", "Further down"),
    Command("up,k,b", "scroll(-3)", "up", "Further up"),
)

EVERYWHERE = """
While you write, letters are text: esc leaves the text, and the letters are keys again. Tab goes from field to
field. What you type is kept as a draft with every key; "saved" is said when it is on the disk.

Signs: ▸ chosen or next   ✓ done   ✗ fault   ● ready   ◐ starting   ○ stopped
"""


class HelpBox(ModalScreen[None]):
    """What the screen below is for, and its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*HELP_COMMANDS)]
    AUTO_FOCUS = ""

    def __init__(self, page: Page, everywhere: tuple[Command, ...]) -> None:
        super().__init__()
        self._page = page
        self._everywhere = everywhere

    def compose(self) -> ComposeResult:
        with Vertical(classes="box -tall"):
            yield Static(f"Help: {' ▸ '.join(self._page.crumbs)}", classes="heading", markup=False)
            with VerticalScroll(id="help-text", can_focus=False):
                yield Static(_paragraphs(self._page.HELP), classes="help-prose", markup=False)
                yield Static(self._keys())
                yield Static(_paragraphs(EVERYWHERE), classes="help-prose", markup=False)
            yield Static("↑ ↓ scroll   esc close", classes="box-keys", markup=False)

    def _keys(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, justify="right")
        table.add_column()
        for command in (*self._page.PAGE_COMMANDS, *self._everywhere):
            table.add_row(Text(command.key_names, style="bold"), Text(as_typed(command.tip)))
        return table

    def action_scroll(self, lines: int) -> None:
        self.query_one("#help-text").scroll_relative(y=lines, animate=False)


def _paragraphs(text: str) -> str:
    """Lines of a paragraph joined, so that it wraps at any width; lines that keep their place stay."""
    return as_typed("\n\n".join(" ".join(part.split("\n")) for part in text.strip().split("\n\n")))
