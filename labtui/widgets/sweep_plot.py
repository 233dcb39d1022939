from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

from exercises.sweep_bars import EIGHTHS, bar_lines
from exercises.sweep_panels import panels_of, remarks_of, sweep_facts, sweep_title
from labtui.terminal_text import visible_line

PRACTICE = "! practice checkpoint: these numbers say nothing about DiffusionGemma"

BLOCKS = re.compile(f"[{EIGHTHS}]+")
Line = tuple[str, str]
"""A line and what it is: "head", "words", "warning" or "" for a bar."""


class SweepPlot(Widget):
    """The bars of a sweep, every number written out, each panel with its definition. Bars of block characters, which
    need no colour.

    textual-plot is not used here: it needs numpy, which nothing else of labtui's own does, and draws inside Textual
    alone, while the same plot stands in the command line and in the Markdown export.
    """

    DEFAULT_CSS = """
    SweepPlot {
        width: 1fr;
        height: auto;
        & > .sweep-plot--words { color: $quiet; }
        & > .sweep-plot--warning { color: $warning; }
        & > .sweep-plot--bar { color: $primary; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"sweep-plot--words", "sweep-plot--warning", "sweep-plot--bar"}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.document: Mapping[str, Any] | None = None

    def show(self, document: Mapping[str, Any] | None) -> None:
        """document: as exercises.sweep.sweep_to_json."""
        if document != self.document:
            self.document = document
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(list(self._lines(width)))

    def render(self) -> Content:
        styles: dict[str, str | Style] = {
            "head": "bold",
            "words": self.get_visual_style("sweep-plot--words"),
            "warning": self.get_visual_style("sweep-plot--warning"),
            "": "",
        }
        bar = self.get_visual_style("sweep-plot--bar")
        lines = []
        for text, kind in self._lines(self.content_size.width):
            line = Content.styled(text, styles[kind])
            if kind == "" and (drawn := BLOCKS.search(text)):
                line = line.stylize(bar, *drawn.span())
            lines.append(line)
        return Content("\n").join(lines)

    def _lines(self, width: int) -> Iterator[Line]:
        document = self.document
        if document is None or width < 20:
            return
        yield from _wrapped(sweep_title(document), width, "head")
        yield from _wrapped(sweep_facts(document), width, "words")
        if document["practice"]:
            yield from _wrapped(PRACTICE, width, "warning")
        for remark in remarks_of(document):
            yield from _wrapped(remark, width, "warning")
        for panel in panels_of(document):
            yield panel.title, "head"
            yield from ((visible_line(line), "") for line in bar_lines(panel, width))
            yield from _wrapped(panel.definition, width, "words")


def _wrapped(text: str, width: int, kind: str) -> Iterator[Line]:
    yield from ((line, kind) for line in textwrap.wrap(visible_line(text), width))
