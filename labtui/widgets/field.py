from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from labtui.terminal_text import visible_line


class Field(Input):
    """One line to write in. Esc leaves it; control characters become symbols."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave the field", tooltip="Back to the keys; what you wrote stays")
    ]

    def validate_value(self, value: str) -> str:
        return visible_line(value)

    def on_mount(self) -> None:
        self.cursor_blink = False

    def action_leave(self) -> None:
        self.screen.set_focus(None)
