"""A sweep as an SVG picture: its points as bars, every number written out, with what each number means. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from exercises.speed import format_rate

WIDTH = 720
BAR_LEFT, BAR_WIDTH = 170, 380
ROW, LINE = 26, 17
PRACTICE = "practice checkpoint: a small stand-in, its numbers say nothing about DiffusionGemma"
TITLES = {"kinds": "kind of prompt", "concurrency": "requests at once", "steps": "cap on denoising steps"}


def sweep_svg(document: Mapping[str, Any]) -> str:
    """document: as exercises.sweep.sweep_to_json. A value that could not be measured is said to be so, and has no bar.

    By requests at once: all together, then each stream; else the rate end to end, then steps per canvas.
    """
    points = document["points"]
    known = document["definitions"]
    together = document["axis"] == "concurrency"
    first = "all requests together" if together else "end to end"
    panels = [(first, "aggregate_tps" if together else "per_stream_tps", [point["aggregate_tps"] for point in points])]
    if together:
        panels.append(("each request, median", "per_stream_tps", [_each(point) for point in points]))
    panels.append(("steps per canvas", "steps_per_canvas", [point["steps_per_canvas"] for point in points]))
    parts: list[str] = []
    y = 30
    parts.append(
        _text(16, y, f"sweep by {TITLES.get(document['axis'], document['axis'])} · {document['checkpoint']}", 17)
    )
    for line in (f"{document['id']} · {document['started_at']}", *([PRACTICE] if document["practice"] else [])):
        y += LINE
        parts.append(_text(16, y, line, 12))
    for title, key, values in panels:
        y += 34
        parts.append(_text(16, y, title, 14))
        for line in textwrap.wrap(known[key], 108):
            y += LINE
            parts.append(_text(16, y, line, 12))
        longest = max((value for value in values if value is not None), default=0)
        for point, value in zip(points, values, strict=True):
            y += ROW
            parts.append(_text(BAR_LEFT - 10, y, str(point["label"]), 13, anchor="end"))
            width = 0.0 if value is None or longest <= 0 else BAR_WIDTH * value / longest
            if value is not None:
                parts.append(f'<rect x="{BAR_LEFT}" y="{y - 14}" width="{width:.1f}" height="18" fill="#2f6f9f"/>')
            shown = "not measurable" if value is None else _shown(key, value)
            parts.append(_text(BAR_LEFT + width + 8, y, shown, 13))
    height = y + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" fill="#1a1a1a"><rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _each(point: Mapping[str, Any]) -> float | None:
    spread = point["summary"]["values"]["end_to_end_tps"]
    return None if spread is None else float(spread["median"])


def _shown(key: str, value: float) -> str:
    return format_rate(value) if key.endswith("_tps") else f"{value:.3g}"


def _text(x: float, y: float, text: str, size: int, anchor: str = "start") -> str:
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(printable)}</text>'
