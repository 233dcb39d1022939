from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from labtui.errors import Explained
from labtui.screens.page import Page
from labtui.widgets.commands import Command, bindings
from labtui.widgets.fault_panel import FaultPanel

LEAVE = Command("escape,enter,q", "leave", "leave labtui", "Leave; the exit code says that the store is unusable")


class FaultBox(ModalScreen[None]):
    """A fault that leaves the rest usable."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Command("escape,enter,q", "dismiss", "close", "Close this"))]
    AUTO_FOCUS = ""

    def __init__(self, fault: Explained) -> None:
        super().__init__()
        self.fault = fault

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield FaultPanel(self.fault)
            yield Static("esc  close", classes="box-keys", markup=False)


class StoreFaultScreen(Page):
    """The store cannot be used: what happened and what to do. Leaving ends the app with the fault's exit code."""

    HELP = "labtui keeps everything in one database file. It cannot use that file, so nothing could be kept."
    PAGE_COMMANDS = (LEAVE,)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(LEAVE)]

    def __init__(self, fault: Explained) -> None:
        super().__init__()
        self.fault = fault

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("labtui", "The store")

    def compose_body(self) -> ComposeResult:
        yield FaultPanel(self.fault)

    def on_mount(self) -> None:
        self.say_next("Leave, do that, and start labtui again. Nothing was changed.")

    def action_leave(self) -> None:
        self.app.exit(return_code=self.fault.exit_code)
