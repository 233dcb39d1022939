"""A sweep as an SVG picture: its points as bars, every number written out, with what each number means. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from exercises.sweep_panels import Bar, panels_of, remarks_of, sweep_facts, sweep_title

WIDTH = 720
BAR_LEFT, BAR_WIDTH = 170, 300
ROW, LINE = 26, 17
LONGEST_LABEL, LONGEST_NOTE = 20, 72
FONTS = "system-ui, 'DejaVu Sans', Arial, sans-serif"
"""A generic family last: a browser finds one, a renderer without fonts of its own is given DejaVu Sans."""

BAR, QUEUEING_BAR = "#2f6f9f", "#9fbfd6"
PRACTICE = "practice checkpoint: a small stand-in, its numbers say nothing about DiffusionGemma"


def sweep_svg(document: Mapping[str, Any]) -> str:
    """document: as for sweep_panels.panels_of. A value that could not be measured is said to be so, and has no bar."""
    title = sweep_title(document)
    y = 30
    parts = [_text(16, y, title, 17)]
    about = [f"{sweep_facts(document)} · {document['started_at']}", *([PRACTICE] if document["practice"] else [])]
    for line in (*about, *(part for remark in remarks_of(document) for part in textwrap.wrap(remark, 100))):
        y += LINE
        parts.append(_text(16, y, line, 12))
    for panel in panels_of(document):
        y += 34
        parts.append(_text(16, y, panel.title, 14))
        for line in textwrap.wrap(panel.definition, 100):
            y += LINE
            parts.append(_text(16, y, line, 12))
        for bar in panel.bars:
            y += ROW
            parts += _bar(bar, panel.share(bar), y)
    height = y + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" font-family="{FONTS}" fill="#1a1a1a"><title>{_escaped(title)}</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _bar(bar: Bar, share: float, y: float) -> list[str]:
    width = BAR_WIDTH * share
    parts = [_text(BAR_LEFT - 10, y, _cut(bar.label, LONGEST_LABEL), 13, anchor="end")]
    if bar.value is not None:
        colour = QUEUEING_BAR if bar.queues else BAR
        parts.append(f'<rect x="{BAR_LEFT}" y="{y - 14}" width="{width:.1f}" height="18" fill="{colour}"/>')
    parts.append(_text(BAR_LEFT + width + 8, y, bar.shown, 13, _cut(bar.note, LONGEST_NOTE)))
    return parts


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _text(x: float, y: float, text: str, size: int, note: str = "", anchor: str = "start") -> str:
    beside = f'<tspan dx="8" font-size="{size - 2}" fill="#57606a">{_escaped(note)}</tspan>' if note else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{_escaped(text)}{beside}</text>'


def _escaped(text: str) -> str:
    return escape("".join(sign if sign.isprintable() else " " for sign in text))
