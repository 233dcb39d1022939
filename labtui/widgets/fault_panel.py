from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.widgets import Static

from labtui.errors import Explained
from labtui.program import as_typed
from labtui.terminal_text import visible


class FaultPanel(VerticalGroup):
    """What happened, why, what to do."""

    def __init__(self, fault: Explained) -> None:
        super().__init__()
        self.fault = fault

    def compose(self) -> ComposeResult:
        yield Static(f"✗ {visible(self.fault.title)}", classes="fault-title", markup=False)
        yield Static(as_typed(visible(self.fault.cause)), classes="fault-cause", markup=False)
        yield Static(as_typed(f"→ {visible(self.fault.fix)}"), classes="fault-fix", markup=False)
