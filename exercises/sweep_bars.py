"""A sweep as bars of text, for a terminal or a page of plain text: they need no colour. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from exercises.sweep_panels import Panel, panels_of

EIGHTHS = "▏▎▍▌▋▊▉█"
NARROWEST, WIDEST = 8, 48
LONGEST_LABEL = 16


def plot_lines(document: Mapping[str, Any], width: int) -> Iterator[str]:
    """The panels one below the other, an empty line between them. document: as for panels_of."""
    for number, panel in enumerate(panels_of(document)):
        if number:
            yield ""
        yield panel.title
        yield from bar_lines(panel, width)


def bar_lines(panel: Panel, width: int) -> Iterator[str]:
    """A line for each point: label, bar, number. width: cells that a line may take.

    What must stand beside a number stands below it where the line has no room for it.
    """
    if not panel.bars:
        return
    labels = [_short(bar.label) for bar in panel.bars]
    first = max(map(len, labels))
    indent = " " * (first + 2)
    notes = max((len(bar.note) for bar in panel.bars if bar.value is not None), default=0)
    numbers = max((len(bar.shown) for bar in panel.bars if bar.value is not None), default=0)
    room = width - len(indent) - 2 - numbers
    beside = room - notes - 2
    cells = min(WIDEST, beside if notes and beside >= 2 * NARROWEST else max(NARROWEST, room))
    for label, bar in zip(labels, panel.bars, strict=True):
        start = f"{label:<{first}}  "
        if bar.value is None:
            words = f"{bar.shown}: {bar.reason}" if bar.reason else bar.shown
            yield from textwrap.wrap(words, width, initial_indent=start, subsequent_indent=indent)
            continue
        line = f"{start}{_bar(panel.share(bar), cells):<{cells}}  {bar.shown}"
        if bar.note and len(line) + 2 + len(bar.note) <= width:
            yield f"{line}  {bar.note}"
            continue
        yield line
        yield from textwrap.wrap(bar.note, width, initial_indent=indent, subsequent_indent=indent)


def _bar(share: float, cells: int) -> str:
    """The bar with its last cell in eighths; what is measured is never without any."""
    if share <= 0:
        return ""
    eighths = max(1, round(share * cells * 8))
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8 - 1] if eighths % 8 else "")


def _short(label: str) -> str:
    line = "".join(sign if sign.isprintable() else " " for sign in label)
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"
