from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from labtui.widgets.choices import Choice, Choices


class TickList(Choices):
    """A list of which several lines may be ticked: [x] and [ ] say which, space changes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "tick", tooltip="Tick what is chosen, or take the tick away"),
        Binding("enter", "tick", "tick", show=False, tooltip="Tick what is chosen, or take the tick away"),
    ]

    class Ticked(Message):
        def __init__(self, ticks: TickList) -> None:
            super().__init__()
            self.ticks = ticks

        @property
        def control(self) -> TickList:
            return self.ticks

    @property
    def ticked(self) -> tuple[str, ...]:
        return tuple(choice.id for choice in self.choices if choice.id is not None and choice.ticked)

    def action_tick(self) -> None:
        chosen = self.chosen_id
        if chosen is None:
            return
        self.show([self._turned(choice) if choice.id == chosen else choice for choice in self.choices], chosen)
        self.post_message(self.Ticked(self))

    @staticmethod
    def _turned(choice: Choice) -> Choice:
        return choice if choice.ticked is None else replace(choice, ticked=not choice.ticked)
