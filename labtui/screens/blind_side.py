from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from labtui.terminal_text import visible, visible_line
from labtui.widgets.picture import Picture


class AnswerSide(Vertical):
    """One of two answers: its letter, its picture or its text, and after the judgement whose it is."""

    def __init__(self, letter: str, **options: Any) -> None:
        super().__init__(**options)
        self._letter = letter

    def compose(self) -> ComposeResult:
        yield Static(self._letter, classes="side-head", markup=False)
        yield Picture(classes="side-picture")
        yield Static(classes="side-words", markup=False)
        with VerticalScroll(classes="side-text", can_focus=False):
            yield Static(classes="side-facts", markup=False)
            yield Static(classes="side-answer", markup=False)

    def _part(self, name: str) -> Static:
        return self.query_one(f".side-{name}", Static)

    def show_answer(self, answer: str) -> None:
        """A new answer, and nothing about it."""
        self._part("head").update(self._letter)
        self._part("facts").update("")
        self._part("facts").display = False
        self._part("answer").update(visible(answer) or "(the answer is empty)")
        self.query_one(".side-text").scroll_home(animate=False)

    def show_picture(self, png: bytes | None, words: str, room: tuple[int, int], beside: bool) -> None:
        """room: cells of the whole side. beside: there is much room, so a part of the text stands below the picture."""
        told = self._part("words")
        told.update(visible(words))
        told.display = bool(words)
        height = (room[1] * 2 // 3 if beside else room[1]) - 2 * bool(words)
        self.query_one(Picture).show(png, "[picture: o saves it as a file]", (room[0], max(2, height)))
        self.query_one(".side-text").display = png is None or beside

    def reveal(self, head: str, facts: str) -> None:
        self._part("head").update(visible_line(head))
        self._part("facts").update(facts)
        self._part("facts").display = True
        self.query_one(".side-text").scroll_home(animate=False)

    def scroll_text(self, by: int) -> None:
        self.query_one(".side-text").scroll_relative(y=by, animate=False)
