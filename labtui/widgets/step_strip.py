from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content
from textual.widget import Widget


class StepStrip(Widget):
    """The whole walk as one line: ━ what is done, ─ what is not, ◆ where you are."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"step-strip--done", "step-strip--open", "step-strip--here"}
    ALLOW_SELECT = False

    def __init__(self, **options: str) -> None:
        super().__init__(id=options.get("id"))
        self._done: tuple[bool, ...] = ()
        self._here = 0

    def show(self, done: Sequence[bool], here: int) -> None:
        self._done, self._here = tuple(done), here
        self.refresh()

    def render(self) -> Content:
        width, count = self.content_size.width, len(self._done)
        if not count or not width:
            return Content("")
        styles = {name: self.get_visual_style(f"step-strip--{name}") for name in ("done", "open", "here")}
        here_at = min(width - 1, (2 * self._here + 1) * width // (2 * count))
        parts = []
        for column in range(width):
            if column == here_at:
                parts.append(("◆", styles["here"]))
            elif self._done[column * count // width]:
                parts.append(("━", styles["done"]))
            else:
                parts.append(("─", styles["open"]))
        return Content.assemble(*parts)
