from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from labtui.screens.lesson_cards import SECTIONS
from labtui.screens.lesson_words import step_words
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.commands import Command, bindings
from labtui.widgets.field import Field
from lessons.model import Lesson
from lessons.walk import steps

JUMP_COMMANDS = (
    Command("escape", "leave", "close", "Close without going anywhere"),
    Command("slash", "search", "search", "Write words to look for"),
)
AROUND = 24
MARKDOWN_SIGNS = re.compile(r"[*_`#>]+")


@dataclass(frozen=True, slots=True)
class Place:
    step: str
    section: str
    title: str
    words: str


class JumpBox(ModalScreen[str | None]):
    """All cards of a lesson, narrowed by words that stand on them. Its result is the id of a step."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*JUMP_COMMANDS)]
    AUTO_FOCUS = ""

    def __init__(
        self, lesson: Lesson, here: str, done: frozenset[str], searching: bool, changed: frozenset[str] = frozenset()
    ) -> None:
        """changed: steps that were reworded since they were read."""
        super().__init__()
        self._here, self._done, self._searching, self._changed = here, done, searching, changed
        self._places = [
            Place(step.id, SECTIONS.get(step.kind, step.kind), step.title, step_words(lesson, step))
            for step in steps(lesson)
        ]

    def compose(self) -> ComposeResult:
        with Vertical(classes="box -tall"):
            yield Field(placeholder="words on a card", id="jump-words")
            yield Choices(id="jump-list")
            yield Static("↑ ↓ choose   enter go   / search   esc close", classes="box-keys", markup=False)

    def on_mount(self) -> None:
        self._show("")
        self.query_one("#jump-words" if self._searching else "#jump-list").focus()

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._show(event.value)

    @on(Input.Submitted)
    def _submit(self) -> None:
        self._choose()

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self._choose()

    def _choose(self) -> None:
        if chosen := self.query_one("#jump-list", Choices).chosen_id:
            self.dismiss(chosen)

    def _show(self, words: str) -> None:
        wanted = words.casefold().split()
        rows: list[Choice] = []
        section = ""
        for place in self._places:
            whole = place.words.casefold()
            if not all(word in whole for word in wanted):
                continue
            if place.section != section:
                section = place.section
                rows.append(Choice(None, section))
            mark = "✓" if place.step in self._done else "·"
            below = (excerpt(place.words, wanted),) if wanted else ()
            changed = "changed" if place.step in self._changed else ""
            rows.append(Choice(place.step, f"{mark} {visible_line(place.title)}", changed, below))
        choices = self.query_one("#jump-list", Choices)
        choices.show(rows or [Choice(None, "No card has these words.", remark=True)], None if wanted else self._here)

    def on_key(self, event: events.Key) -> None:
        """The list moves while words are being written."""
        if isinstance(self.focused, Input) and event.key in ("up", "down"):
            choices = self.query_one("#jump-list", Choices)
            if event.key == "down":
                choices.action_cursor_down()
            else:
                choices.action_cursor_up()
            event.stop()

    def action_search(self) -> None:
        self.query_one("#jump-words").focus()

    def action_leave(self) -> None:
        self.dismiss(None)


def excerpt(text: str, words: Sequence[str]) -> str:
    """What stands around the first place where the words stand together, or else around the first of them."""
    line = " ".join(MARKDOWN_SIGNS.sub("", text).split())
    folded = line.casefold()
    sought = next((part for part in (" ".join(words), words[0]) if part in folded), "")
    at = folded.find(sought)
    start, end = max(0, at - AROUND), at + len(sought) + AROUND
    return visible_line(f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}")
