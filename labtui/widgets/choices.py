from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import OptionList
from textual.widgets.option_list import Option


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a list, with a value at its right end and lines below it. A heading has id None and is never chosen.

    ticked: None where the list has nothing to tick. remark: a heading that is no heading, but a word to the reader.
    """

    id: str | None
    text: str
    right: str = ""
    below: tuple[str, ...] = ()
    ticked: bool | None = None
    remark: bool = False


class Choices(OptionList):
    """A list for the keyboard. The line that enter would take is marked ▸, so that it is seen without colour."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "open", tooltip="Open what is chosen")]

    def __init__(self, *choices: Choice, **options: Any) -> None:
        self.choices: tuple[Choice, ...] = choices
        self._marked: int | None = None
        super().__init__(*self._choice_rows(), markup=False, **options)

    def show(self, choices: Sequence[Choice], chosen: str | None = None) -> None:
        """Replace the list; the choice stays on the same id where that is still there."""
        chosen = chosen or self.chosen_id
        self.choices = tuple(choices)
        with self.prevent(OptionList.OptionHighlighted):
            self._marked = None
            self.clear_options()
            self.add_options(self._choice_rows())
        ids = [choice.id for choice in self.choices]
        if chosen is not None and chosen in ids:
            self.highlighted = ids.index(chosen)
        else:
            self.highlighted = next((index for index, value in enumerate(ids) if value is not None), None)

    @property
    def chosen_id(self) -> str | None:
        return None if self.highlighted is None else self.choices[self.highlighted].id

    def watch_highlighted(self, highlighted: int | None) -> None:
        for index in (self._marked, highlighted):
            if index is not None and index < self.option_count:
                self.replace_option_prompt_at_index(index, self._prompt(index, marked=index == highlighted))
        self._marked = highlighted
        super().watch_highlighted(highlighted)

    def _choice_rows(self) -> list[Option]:
        return [
            Option(self._prompt(index, marked=False), id=choice.id, disabled=choice.id is None)
            for index, choice in enumerate(self.choices)
        ]

    def _prompt(self, index: int, marked: bool) -> Group:
        choice = self.choices[index]
        grid = Table.grid(expand=True, padding=0)
        grid.add_column(width=2)
        grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        grid.add_column(justify="right", no_wrap=True)
        heading = choice.id is None
        tick = {None: "", True: "[x] ", False: "[ ] "}[choice.ticked]
        grid.add_row(
            "" if heading else ("▸" if marked else ""),
            Text(tick + choice.text, style="bold" if marked or (heading and not choice.remark) else ""),
            Text(f"  {choice.right}" if choice.right else ""),
        )
        return Group(grid, *(Padding(Text(line), (0, 0, 0, 2)) for line in choice.below))
