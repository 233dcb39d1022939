from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalGroup, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from labtui.program import as_typed
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible, visible_line
from labtui.widgets.commands import Command, bindings

if TYPE_CHECKING:
    from labtui.serving.preflight import Finding

DOCTOR_COMMANDS = (
    Command("d", "look", "look again", "Look at this machine again"),
    Command("c", "copy", "copy", "Copy the findings, for a question to somebody; they hold no secrets"),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up,k", "scroll(-1)", "up", "A line up", shown=False),
    Command("space,pagedown", "scroll(10)", "further", "A page down", shown=False),
    Command("b,pageup", "scroll(-10)", "up", "A page up", shown=False),
    BACK,
)


class DoctorScreen(Page):
    HELP = """
What this machine can run, and what would stop it. Each fault stands with its cause and what to do.

✗ stops a launch. ! is worth knowing. ✓ is in order. The command `labtui doctor` prints the same.
"""
    PAGE_COMMANDS = DOCTOR_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*DOCTOR_COMMANDS)]

    class Looked(Message):
        def __init__(self, findings: tuple[Finding, ...]) -> None:
            super().__init__()
            self.findings = findings

    class NotLooked(Message):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    def __init__(self) -> None:
        super().__init__()
        self._findings: tuple[Finding, ...] = ()

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("labtui", "Doctor")

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="findings", can_focus=False):
            yield Static("Looking at this machine…", markup=False)

    def on_mount(self) -> None:
        self.action_look()

    def action_look(self) -> None:
        self.say_next("This takes a few seconds.")
        self.run_worker(self._look, group="doctor", exclusive=True, thread=True, exit_on_error=False)

    def _look(self) -> None:
        try:
            from labtui.serving.doctor import findings

            self.post_message(self.Looked(tuple(findings())))
        except Exception as error:
            self.post_message(self.NotLooked(error))

    @on(NotLooked)
    def _not_looked(self, event: NotLooked) -> None:
        self.show_fault(event.error)

    @on(Looked)
    async def _looked(self, event: Looked) -> None:
        self._findings = event.findings
        scroll = self.query_one("#findings")
        await scroll.remove_children()
        await scroll.mount(*map(_shown, event.findings))
        stops = sum(finding.blocking and not finding.ok for finding in event.findings)
        faults = "Nothing stops a launch." if not stops else f"{stops} of these stop a launch; → says what to do."
        self.say_next(faults)

    def action_copy(self) -> None:
        from labtui.serving.doctor import to_text

        self.say(self.lab.copied(as_typed(to_text(self._findings)), "What was found"))

    def action_scroll(self, lines: int) -> None:
        self.query_one("#findings").scroll_relative(y=lines, animate=False)


def _shown(finding: Finding) -> VerticalGroup:
    sign, kind = ("✓", "-fine") if finding.ok else ("✗", "-stops") if finding.blocking else ("!", "-warns")
    parts = [Static(f"{sign} {visible_line(finding.title)}", classes="finding-title", markup=False)]
    if finding.cause:
        parts.append(Static(as_typed(visible(finding.cause)), classes="finding-body", markup=False))
    if finding.fix:
        parts.append(Static(as_typed(f"→ {visible(finding.fix)}"), classes="finding-body", markup=False))
    return VerticalGroup(*parts, classes=f"finding {kind}")
