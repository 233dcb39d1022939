from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible
from labtui.widgets.commands import Command, bindings
from lessons.studio.checks import TEACH_BACK_S, WORDS_A_SECOND
from lessons.studio.pieces import TeachBack
from lessons.times import clock
from lessons.words import words_of

TIMER_COMMANDS = (
    Command("space,enter", "press", "start, stop", "Start the clock; the next time: stop it and keep the time"),
    Command("r", "again", "again", "Set the clock back; nothing is kept"),
    BACK,
)
BAR_CELLS = 45


class TeachTimer(Page):
    HELP = """
Say your explanation aloud, to somebody or to the wall. space starts the clock and stops it; the time is kept with
the card. Ninety seconds is the aim: what does not fit, leave out.
"""
    PAGE_COMMANDS = TIMER_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*TIMER_COMMANDS)]

    def __init__(self, crumbs: tuple[str, ...], piece: TeachBack, keep: Callable[[float], object]) -> None:
        super().__init__()
        self._way, self._piece, self._keep = crumbs, piece, keep
        self._began: float | None = None
        self._took: float | None = None

    @property
    def crumbs(self) -> tuple[str, ...]:
        return (*self._way[1:], "Against the clock")

    @property
    def elapsed_s(self) -> float:
        if self._took is not None:
            return self._took
        return 0.0 if self._began is None else monotonic() - self._began

    @property
    def _least_s(self) -> float:
        return max(1.0, len(words_of(self._piece.explanation)) / (2 * WORDS_A_SECOND))

    def compose_body(self) -> ComposeResult:
        yield Static(id="clock", markup=False)
        with VerticalScroll(id="speech", can_focus=False):
            yield Static(visible(self._piece.explanation.strip() or "Nothing is written yet."), markup=False)
            if self._piece.diagram.strip():
                yield Static(visible(self._piece.diagram.strip("\n")), classes="drawing", markup=False)

    def on_mount(self) -> None:
        self.set_interval(0.5, self.tick)
        self.tick()
        self.say_next("space starts the clock. Then say it aloud.")

    def tick(self) -> None:
        elapsed, aim = self.elapsed_s, TEACH_BACK_S
        done = min(BAR_CELLS, int(elapsed / aim * BAR_CELLS))
        left = aim - elapsed
        words = f"{clock(left)} left" if left >= 0 else f"{clock(-left)} over"
        self.query_one("#clock", Static).update(
            f"{clock(elapsed)} of {clock(aim)}  {'■' * done}{'□' * (BAR_CELLS - done)}  {words}"
        )

    def action_press(self) -> None:
        if self._began is None:
            self._began = monotonic()
            self.say_next("space stops the clock when you have said it all.")
        elif self._took is None:
            if self.elapsed_s < self._least_s:
                self.action_again()
                self.say("Nobody says it that fast: this is not kept. space starts again.", fault=True)
                return
            self._took = self.elapsed_s
            self._keep(self._took)
            over = self._took - TEACH_BACK_S
            said = f"{clock(self._took)} is kept." if over <= 0 else f"{clock(self._took)}: leave something out."
            self.say(f"{said} r tries again, esc goes back.")
        self.tick()

    def action_again(self) -> None:
        self._began = self._took = None
        self.tick()
        self.say_next("space starts the clock. Then say it aloud.")
