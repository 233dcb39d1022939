from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from labtui.terminal_text import visible_line


class PickLine(Widget, can_focus=True):
    """One of a few values, picked with ← and →. Where all of them fit they all stand there, the picked one in brackets.

    options: (value, how it is shown). A value that is none of them is shown as it is, before the others.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "pick(-1)", "pick", key_display="←→", tooltip="The value before"),
        Binding("right,space", "pick(1)", "next", show=False, tooltip="The next value"),
        Binding("escape", "leave", "leave the field", tooltip="Back to the keys; what you picked stays"),
    ]

    picked: reactive[str] = reactive("")

    class Picked(Message):
        def __init__(self, line: PickLine, value: str) -> None:
            super().__init__()
            self.line = line
            self.value = value

        @property
        def control(self) -> PickLine:
            return self.line

    def __init__(self, options: Sequence[tuple[str, str]], picked: str, **widget: str) -> None:
        super().__init__(id=widget.get("id"), classes=widget.get("classes"))
        self._options = tuple(options)
        if picked and picked not in [value for value, _ in options]:
            self._options = ((picked, f"{picked} ?"), *self._options)
        self.set_reactive(PickLine.picked, picked)

    @property
    def _at(self) -> int | None:
        return next((index for index, (value, _) in enumerate(self._options) if value == self.picked), None)

    def render(self) -> Content:
        at = self._at
        names = [visible_line(name) for _, name in self._options]
        chosen = [
            Content.styled(f"[{name}]", "bold") if index == at else Content(f" {name} ")
            for index, name in enumerate(names)
        ]
        whole = Content(" ").join(chosen)
        if whole.cell_length <= self.content_size.width:
            return whole
        shown = "pick with ← →" if at is None else f"{names[at]}"
        place = "" if at is None else f"  {at + 1} of {len(names)}"
        room = self.content_size.width - len(place) - 4
        return Content.assemble("◂ ", Content(shown).truncate(max(4, room), ellipsis=True), " ▸", place)

    def action_pick(self, by: int) -> None:
        if not self._options:
            return
        at = self._at
        at = (0 if by > 0 else len(self._options) - 1) if at is None else (at + by) % len(self._options)
        self.picked = self._options[at][0]
        self.post_message(self.Picked(self, self.picked))

    def action_leave(self) -> None:
        self.screen.set_focus(None)
