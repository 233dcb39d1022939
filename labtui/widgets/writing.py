from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from labtui.terminal_text import visible


class Writing(TextArea):
    """A text that a person writes. Esc leaves it; every change is announced, so that a draft of it can be kept.

    Control characters, pasted or kept by another program, become symbols: Textual would send them to the terminal.

    draft_key names the text in the store. None: nothing is kept.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave the text", tooltip="Back to the keys; what you wrote stays")
    ]

    class Edited(Message):
        def __init__(self, writing: Writing, text: str) -> None:
            super().__init__()
            self.writing = writing
            self.text = text

        @property
        def control(self) -> Writing:
            return self.writing

    class Left(Message):
        def __init__(self, writing: Writing) -> None:
            super().__init__()
            self.writing = writing

        @property
        def control(self) -> Writing:
            return self.writing

    def __init__(self, text: str = "", *, draft_key: str | None = None, **options: Any) -> None:
        text = visible(text)
        super().__init__(text, soft_wrap=True, tab_behavior="focus", show_line_numbers=False, **options)
        # A blinking cursor repaints over SSH for nothing.
        self.cursor_blink = False
        self.draft_key = draft_key
        self._kept_text = text

    def on_mount(self) -> None:
        self.move_cursor(self.document.end)

    def put(self, text: str) -> None:
        """Replace the text without announcing it as the person's edit."""
        self._kept_text = visible(text)
        self.load_text(self._kept_text)
        self.move_cursor(self.document.end)

    def edit(self, edit: Edit) -> EditResult:
        return super().edit(replace(edit, text=visible(edit.text)))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.text != self._kept_text:
            self._kept_text = self.text
            self.post_message(self.Edited(self, self.text))

    def action_leave(self) -> None:
        self.screen.set_focus(None)
        self.post_message(self.Left(self))
