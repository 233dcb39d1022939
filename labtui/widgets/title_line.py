from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

LEFT_AT_LEAST = 24


class TitleLine(Widget):
    """Where you are at the left end, the server's state at the right one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"title-line--here", "title-line--way", "title-line--server"}
    ALLOW_SELECT = False

    crumbs: reactive[tuple[str, ...]] = reactive(("labtui",))
    server: reactive[str] = reactive("")

    def render(self) -> Content:
        width = self.content_size.width
        here = self.get_visual_style("title-line--here")
        way = self.get_visual_style("title-line--way")
        server = Content.styled(self.server, self.get_visual_style("title-line--server"))
        if server.cell_length > max(20, width - LEFT_AT_LEAST):
            server = server.truncate(max(20, width - LEFT_AT_LEAST), ellipsis=True)
        parts = []
        for index, crumb in enumerate(self.crumbs):
            last = index == len(self.crumbs) - 1
            parts.append(Content.styled(crumb, here if last else way))
            if not last:
                parts.append(Content.styled(" ▸ ", way))
        left = Content("").join(parts)
        room = max(1, width - server.cell_length - 2)
        if left.cell_length > room:
            left = left.truncate(room, ellipsis=True)
        gap = max(1, width - left.cell_length - server.cell_length)
        return Content.assemble(left, " " * gap, server)
