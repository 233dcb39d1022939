"""Small boxes over the lab: a question, and how often a task is run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from labtui.run_progress import Repeats
from labtui.terminal_text import visible
from labtui.widgets.commands import Command, bindings

MOST_RUNS = 99
MOST_WARMUPS = 9


class QuestionBox(ModalScreen[bool]):
    """A question that y answers with yes; n and esc leave everything as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(
            Command("y", "answer(True)", "yes", "Yes, do it"),
            Command("n,escape,q", "answer(False)", "no", "No, leave it as it is"),
        )
    ]
    AUTO_FOCUS = ""

    def __init__(self, question: str, consequence: str, yes: str) -> None:
        super().__init__()
        self._question, self._consequence, self._yes = question, consequence, yes

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(visible(self._question), classes="question", markup=False)
            yield Static(visible(self._consequence), classes="consequence", markup=False)
            yield Static(f"y  {self._yes}   n  leave it as it is", classes="box-keys", markup=False)

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


@dataclass(frozen=True, slots=True)
class Address:
    """A server of somebody else. key: empty for the one in LABTUI_API_KEY, or none."""

    url: str
    key: str = field(default="", repr=False)


class AttachBox(ModalScreen[Address | None]):
    """The address of a server that runs already, and its key."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Command("escape", "dismiss", "leave", "Leave it as it was"))]
    AUTO_FOCUS = "#attach-url"

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static("Attach to a server", classes="heading", markup=False)
            yield Static("Its address", classes="muted-line", markup=False)
            yield Input(placeholder="http://127.0.0.1:8000", id="attach-url", compact=True)
            yield Static("Its API key, if it has one", classes="muted-line", markup=False)
            yield Input(password=True, placeholder="empty: LABTUI_API_KEY, or none", id="attach-key", compact=True)
            yield Static(
                "labtui asks it for one token, and never stops it. The key is kept in a file that only you can read.",
                classes="consequence",
                markup=False,
            )
            yield Static("tab  other field   enter  attach   esc  leave", classes="box-keys", markup=False)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        url, key = (self.query_one(name, Input).value.strip() for name in ("#attach-url", "#attach-key"))
        if url:
            self.dismiss(Address(url, key))


class RepeatsBox(ModalScreen[Repeats | None]):
    """How many runs and warm-ups. Arrows change them, digits set the runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(
            Command("enter", "take", "take", "Take this"),
            Command("escape,q", "dismiss", "leave", "Leave it as it was"),
            Command("up,k,down,j,tab", "line", "line", "To the other line"),
            Command("right,l,plus", "change(1)", "more", "One more"),
            Command("left,h,minus", "change(-1)", "less", "One less"),
            *(Command(str(digit), f"digit({digit})", "digit", "Set the number") for digit in range(10)),
        )
    ]
    AUTO_FOCUS = ""

    def __init__(self, repeats: Repeats) -> None:
        super().__init__()
        self.repeats = repeats
        self._line = 0
        self._typed = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static("How often?", classes="heading", markup=False)
            yield Static(id="repeats", markup=False)
            yield Static(
                "Repeated runs make a trial: median and range over them. A warm-up is measured and kept too, but it "
                "does not count.",
                classes="consequence",
                markup=False,
            )
            yield Static("↑ ↓ line   ← → or digits number   enter take   esc leave", classes="box-keys", markup=False)

    def on_mount(self) -> None:
        self._show()

    def _show(self) -> None:
        warmups = "one where needed" if self.repeats.warmups is None else str(self.repeats.warmups)
        rows = (("Runs that are measured", str(self.repeats.runs)), ("Warm-ups before them", warmups))
        lines = [f"{'▸' if at == self._line else ' '} {name:<24}‹ {value} ›" for at, (name, value) in enumerate(rows)]
        self.query_one("#repeats", Static).update("\n".join(lines))

    def action_line(self) -> None:
        self._line, self._typed = 1 - self._line, False
        self._show()

    def action_change(self, by: int) -> None:
        self._typed = False
        if self._line == 0:
            self._set(self.repeats.runs + by)
        elif self.repeats.warmups is None:
            self._set(0 if by > 0 else None)
        else:
            wanted = self.repeats.warmups + by
            self._set(None if wanted < 0 else wanted)

    def action_digit(self, digit: int) -> None:
        before = (self.repeats.runs if self._line == 0 else self.repeats.warmups or 0) if self._typed else 0
        self._typed = True
        self._set(10 * before + digit)

    def _set(self, value: int | None) -> None:
        if self._line == 0:
            self.repeats = replace(self.repeats, runs=max(1, min(MOST_RUNS, value or 1)))
        else:
            self.repeats = replace(self.repeats, warmups=None if value is None else min(MOST_WARMUPS, value))
        self._show()

    def action_take(self) -> None:
        self.dismiss(self.repeats)
