from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from textwrap import wrap
from typing import Any

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from labtui.widgets.textual_quirks import few_colours

PIXEL_LIMIT = 20_000_000


class Picture(Widget):
    """A picture in half blocks: two pixels a cell, so it passes SSH and tmux. Its words stand where colours do not.

    textual-image is not used here: on import it asks the terminal what it can, and takes the answer from the app.
    """

    DEFAULT_CSS = """
    Picture { width: auto; height: auto; }
    """
    ALLOW_SELECT = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._png: bytes | None = None
        self._words = ""
        self._cells = (0, 0)

    def show(self, png: bytes | None, words: str = "", cells: tuple[int, int] = (40, 12)) -> None:
        """words: what a person reads instead, where there are too few colours. cells: the most room, width × height."""
        self._png, self._words, self._cells = png, words, cells
        self.display = png is not None
        self.refresh(layout=True)

    @property
    def _drawn(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        return () if self._png is None else _rows(self._png, *self._cells)

    @property
    def _as_words(self) -> bool:
        return few_colours(self.app)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        if self._as_words:
            return self._cells[0]
        rows = self._drawn
        return len(rows[0]) if rows else 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if self._as_words:
            return len(wrap(self._words, max(8, width)))
        return len(self._drawn) // 2

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._as_words:
            lines = wrap(self._words, max(8, width))
            return Strip([Segment(lines[y] if y < len(lines) else "", self.rich_style)]).adjust_cell_length(width)
        rows = self._drawn
        if 2 * y + 1 >= len(rows):
            return Strip.blank(width)
        pairs = zip(rows[2 * y], rows[2 * y + 1], strict=True)
        return Strip(
            [Segment("▀", Style(color=Color.from_rgb(*up), bgcolor=Color.from_rgb(*low))) for up, low in pairs]
        )


def side_by_side(pngs: Sequence[bytes]) -> bytes:
    """The frames of a clip as one picture. Raises OSError or ValueError where one is none."""
    from PIL import Image

    if len(pngs) == 1:
        return pngs[0]
    frames = [Image.open(io.BytesIO(png)).convert("RGB") for png in pngs]
    gap = max(2, frames[0].width // 60)
    width = sum(frame.width for frame in frames) + gap * (len(frames) - 1)
    sheet = Image.new("RGB", (width, max(frame.height for frame in frames)), "black")
    left = 0
    for frame in frames:
        sheet.paste(frame, (left, 0))
        left += frame.width + gap
    file = io.BytesIO()
    sheet.save(file, format="PNG")
    return file.getvalue()


@lru_cache(maxsize=8)
def _rows(png: bytes, width: int, height: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Pixels of the picture scaled into width × height cells, an even number of rows. Empty where it is no picture."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(png)) as opened:
            if opened.width * opened.height > PIXEL_LIMIT:
                return ()
            picture = opened.convert("RGBA")
    except (OSError, ValueError):
        return ()
    ground = Image.new("RGBA", picture.size, "white")
    ground.alpha_composite(picture)
    scale = min(width / picture.width, 2 * height / picture.height)
    columns = max(1, round(picture.width * scale))
    lines = max(2, 2 * round(picture.height * scale / 2))
    small = ground.convert("RGB").resize((columns, lines), Image.Resampling.LANCZOS)
    data = small.tobytes()
    return tuple(
        tuple((data[at], data[at + 1], data[at + 2]) for at in range(3 * line * columns, 3 * (line + 1) * columns, 3))
        for line in range(lines)
    )
