from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from labtui.terminal_text import visible_line

FOUND = Style(reverse=True)
HERE = Style(reverse=True, bold=True)


class LogPane(ScrollView, can_focus=False):
    """The end of a log, long lines folded. Follows what comes until a person scrolls up."""

    DEFAULT_CSS = """
    LogPane { height: 1fr; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.following = True
        self._lines: tuple[str, ...] = ()
        self._rows: list[str] = []
        self._line_of: list[int] = []
        self._marked: int | None = None
        self._at_mark = False
        self._search = ""
        self._found: list[int] = []
        self._at: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        return self._lines

    @property
    def found(self) -> int:
        return len(self._found)

    @property
    def found_here(self) -> int | None:
        """Which of the found lines is shown, from 1."""
        return None if self._at is None else self._at + 1

    def show(self, lines: Sequence[str]) -> None:
        if tuple(lines) != self._lines:
            # Lines that went off the front move the rest: the mark would stand at another line.
            if tuple(lines[: len(self._lines)]) != self._lines:
                self._marked, self._at_mark = None, False
            self._lines = tuple(lines)
            self._fold()

    def on_resize(self, event: Resize) -> None:
        self._fold()

    def _fold(self) -> None:
        width = max(8, self.size.width - 1)
        folded = [_folded(visible_line(line), width) for line in self._lines]
        self._rows = [row for rows in folded for row in rows]
        self._line_of = [line for line, rows in enumerate(folded) for _ in rows]
        self.virtual_size = Size(width, len(self._rows))
        self._find()
        if self.following:
            self.scroll_end(animate=False, immediate=True)
        elif self._at_mark:
            # Folded for another width the line stands elsewhere; the scroll bars are laid out by then.
            self.call_after_refresh(self._show_mark)
        self.refresh()

    def search(self, text: str) -> None:
        """Mark the rows that have this text, and go to the last of them. Empty: no search."""
        self._search = text.casefold()
        self._find()
        self._at = None
        if self._found:
            self.go(-1)
        self.refresh()

    def go_to_line(self, words: str) -> bool:
        """Mark the first line that has these words, and stay there. False where none of those kept has them."""
        found = [at for at, line in enumerate(self._lines) if words in line]
        if not found:
            return False
        self._marked, self._at_mark, self.following = found[0], True, False
        self._show_mark()
        self.refresh()
        return True

    def _show_mark(self) -> None:
        if self._marked is not None:
            row = self._line_of.index(self._marked)
            self.scroll_to(y=max(0, row - self.size.height // 3), animate=False, immediate=True, force=True)

    def go(self, by: int) -> None:
        """To the next (1) or the one before (-1) of the found rows; round at the ends."""
        if not self._found:
            return
        self._at = len(self._found) - 1 if self._at is None else (self._at + by) % len(self._found)
        self.following = self._at_mark = False
        self.scroll_to(y=max(0, self._found[self._at] - self.size.height // 2), animate=False, immediate=True)
        self.refresh()

    def move(self, by: int) -> None:
        self.following = self._at_mark = False
        self.scroll_relative(y=by, animate=False, immediate=True)
        if by > 0 and self.scroll_y >= self.max_scroll_y:
            self.following = True

    def follow(self, on: bool) -> None:
        self.following, self._at_mark = on, False
        if on:
            self.scroll_end(animate=False, immediate=True)

    def _find(self) -> None:
        self._found = (
            [at for at, row in enumerate(self._rows) if self._search in row.casefold()] if self._search else []
        )
        if self._at is not None and self._at >= len(self._found):
            self._at = None

    def render_line(self, y: int) -> Strip:
        at = int(self.scroll_y) + y
        base = self.rich_style
        if at >= len(self._rows):
            return Strip.blank(self.size.width, base)
        row = self._rows[at]
        if self._line_of[at] == self._marked:
            base = base + Style(reverse=True)
        here = self._at is not None and self._found[self._at] == at
        return Strip(_marked(row, self._search, base, HERE if here else FOUND)).adjust_cell_length(
            self.size.width, base
        )


def _folded(line: str, width: int) -> list[str]:
    from rich.cells import chop_cells

    return chop_cells(line, width) or [""]


def _marked(row: str, search: str, base: Style, mark: Style) -> list[Segment]:
    low, segments, at = row.casefold(), [], 0
    while search and len(low) == len(row) and (start := low.find(search, at)) >= 0:
        segments += [Segment(row[at:start], base), Segment(row[start : start + len(search)], base + mark)]
        at = start + len(search)
    return [*segments, Segment(row[at:], base)]
