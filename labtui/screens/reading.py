from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Markdown, Static

from labtui.terminal_text import visible
from labtui.widgets.commands import Command, bindings
from lessons.model import Lesson

READING_COMMANDS = (
    Command("escape,q,enter", "dismiss", "close", "Close this"),
    Command("down,j", "scroll(1)", "down", "A line down"),
    Command("up,k", "scroll(-1)", "up", "A line up"),
    Command("space,pagedown", "scroll(10)", "further", "Further down"),
    Command("b,pageup", "scroll(-10)", "back", "Further up"),
)


class ReadingBox(ModalScreen[None]):
    """A longer text over the screen. plain: shown as it is, not as Markdown."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*READING_COMMANDS)]
    AUTO_FOCUS = ""

    def __init__(self, title: str, text: str, plain: bool = False, hint: str = "") -> None:
        super().__init__()
        self._heading, self._text, self._plain, self._hint = title, text, plain, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="box -tall"):
            yield Static(visible(self._heading), classes="heading", markup=False)
            with VerticalScroll(classes="reading", can_focus=False):
                if self._plain:
                    yield Static(visible(self._text), markup=False)
                else:
                    yield Markdown(visible(self._text), open_links=False)
            yield Static(f"↑ ↓ space scroll   esc close{self._hint}", classes="box-keys", markup=False)

    def action_scroll(self, lines: int) -> None:
        self.query_one(".reading").scroll_relative(y=lines, animate=False)


def sources_markdown(lesson: Lesson) -> str:
    """The source shelf; addresses stand in full, since a terminal may not open links."""
    video, parts = lesson.video, []
    if video.title or video.url:
        parts.append(f"**The video.** {', '.join(filter(None, (video.title, video.channel)))}")
        parts += [f"`{video.url}`"] if video.url else []
    for source in lesson.sources:
        parts.append(f"**{source.title}**{': ' + source.note if source.note else ''}")
        if source.url:
            parts.append(f"`{source.url}`")
    return "\n\n".join(parts) or "This lesson names no sources."
