from __future__ import annotations

from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.widgets import Static

from labtui.program import as_typed
from labtui.widgets import server_lines
from labtui.widgets.server_lines import ServerMoment

PARTS = (
    *("state", "progress", "message", "title", "cause", "fix", "offers", "plan", "stops", "findings"),
    *("figures", "more", "curves", "gpus", "log"),
)


class ServerPanel(VerticalGroup):
    """The server at one moment. What there is nothing to say about takes no line."""

    DEFAULT_CSS = """
    ServerPanel {
        height: auto;
        & .server-state { text-style: bold; }
        & .server-progress, & .server-curves { color: $accent; }
        & .server-message { color: $warning; }
        & .server-plan, & .server-findings, & .server-more, & .server-log { color: $quiet; }
        & .server-stops { color: $error; }
        & .server-title { color: $error; text-style: bold; }
        & .server-fix { text-style: bold; }
    }
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._moment = ServerMoment()
        self._log_room, self._long = 1, False
        self._shown: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        for part in PARTS:
            yield Static(classes=f"server-{part}", markup=False)

    def on_mount(self) -> None:
        self._show_again()

    def on_resize(self) -> None:
        self._show_again()

    def show(self, moment: ServerMoment, *, log_room: int = 1, long: bool = False) -> None:
        """log_room: lines of the log that may stand here. long: the plan with every reason."""
        self._moment, self._log_room, self._long = moment, log_room, long
        if self.is_mounted:
            self._show_again()

    def _show_again(self) -> None:
        moment = self._moment
        wrong = server_lines.trouble(moment)
        width = self.size.width or 76
        texts = {
            "state": server_lines.state_line(moment),
            "progress": server_lines.progress_line(moment, width),
            "message": "\n".join(server_lines.message_lines(moment)),
            "offers": "\n".join(server_lines.offer_lines(moment, width)),
            "plan": "\n".join(server_lines.plan_lines(moment, long=self._long)),
            "stops": "\n".join(server_lines.stop_lines(moment)),
            "findings": "\n".join(server_lines.finding_lines(moment)),
            "title": f"✗ {wrong.title}" if wrong else "",
            "cause": wrong.cause if wrong else "",
            "fix": as_typed(f"→ {wrong.fix}") if wrong else "",
            "figures": server_lines.figures_line(moment),
            "more": server_lines.more_figures_line(moment) if self._long or self._log_room > 1 else "",
            "curves": server_lines.curve_line(moment, width),
            "gpus": "\n".join(server_lines.gpu_lines(moment)),
            "log": _one_line_each(server_lines.log_lines(moment, self._log_room), width),
        }
        for part, text in texts.items():
            if self._shown.get(part) != text:
                self._shown[part] = text
                line = self.query_one(f".server-{part}", Static)
                line.display = bool(text)
                line.update(text)


def _one_line_each(lines: tuple[str, ...], width: int) -> str:
    room = max(8, width - 2)
    return "\n".join(f"> {Content(line).truncate(room, ellipsis=True).plain}" for line in lines)
