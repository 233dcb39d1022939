"""A small box over the sweeps: which points."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from exercises.sweep import Axis
from exercises.sweep_panels import TITLES
from labtui.widgets.commands import Command, bindings


class PointsBox(ModalScreen[tuple[str, ...] | None]):
    """Labels of points with commas between them; nothing stands for all usual ones."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Command("escape", "dismiss", "leave", "Leave it as it was"))]
    AUTO_FOCUS = "#sweep-points"

    def __init__(self, axis: Axis, chosen: tuple[str, ...], usual: tuple[str, ...]) -> None:
        super().__init__()
        self._axis, self._chosen, self._usual = axis, chosen, usual

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static("Which points?", classes="heading", markup=False)
            yield Input(",".join(self._chosen), placeholder=",".join(self._usual), id="sweep-points", compact=True)
            yield Static(
                f"By {TITLES[self._axis]}, with commas between them. Empty: all usual ones.",
                classes="consequence",
                markup=False,
            )
            yield Static("enter  take   esc  leave", classes="box-keys", markup=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(tuple(part.strip() for part in event.value.split(",") if part.strip()))
