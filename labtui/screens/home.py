from __future__ import annotations

from collections import Counter
from textwrap import shorten
from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import OptionList, Static

from labtui.next_step import NextStep, next_step
from labtui.program import as_typed
from labtui.screens.home_picture import Event, HomePicture, home_picture
from labtui.screens.page import Page
from labtui.terminal_text import visible, visible_line
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.commands import Command, bindings

if TYPE_CHECKING:
    from store.opening import Store

NEXT = "next"
WHAT_LETTERS = 9

HOME_COMMANDS = (
    Command("n", "next", "next", "Do the one next thing, whatever is chosen in the list"),
    Command("enter", "choose", "open", "Open what is chosen in the list", shown=False),
    Command("s", "server", "server", "The lab: start, watch and stop the model server"),
    Command("r", "recall", "recall", "Answer the recall questions of the chosen lesson"),
    Command("v", "verdict", "verdict", "Write or read the verdict of the chosen lesson", shown=False),
    Command("e", "export", "export", "Write the artifact of the chosen lesson to files"),
    Command("d", "doctor", "doctor", "What this machine can run, and what would stop it"),
    Command("q", "leave", "quit", "Leave labtui; the server stays"),
)


class HomeScreen(Page):
    HELP = """
Home shows the one next thing, your lessons, and what happened lately.

The line marked ▸ is the one that enter opens. The first line is the next thing to do: labtui works it out from
what you have read, run, written and answered, and from what the server is doing.

cards are what you read and mark. Gates are met when you have saved evidence for them. Recall questions come back
on a day that depends on how well you knew them.
"""
    PAGE_COMMANDS = HOME_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*HOME_COMMANDS)]

    class Seen(Message):
        def __init__(self, picture: HomePicture) -> None:
            super().__init__()
            self.picture = picture

    def __init__(self) -> None:
        super().__init__()
        self.picture: HomePicture | None = None
        self.next: NextStep | None = None
        self._told: str | None = None
        self._mark: int | None = None
        self._stale = True

    def compose_body(self) -> ComposeResult:
        yield Static(id="notices", markup=False)
        with Container(id="home"):
            yield Choices(id="home-list")
            with Vertical(id="lately"):
                yield Static("LATELY", classes="heading-small", markup=False)
                yield Static(id="lately-list", markup=False)

    def on_mount(self) -> None:
        self.query_one("#home-list").focus()
        self._show()

    def on_screen_resume(self) -> None:
        self.refresh_picture()

    def refresh_picture(self) -> None:
        """Collect the picture anew, where the store and the lessons are there by now."""
        self._stale = True
        self._look_at_store()

    def _look_at_store(self) -> None:
        """The picture, where it is wanted anew or a command has written something meanwhile."""
        if not (self.is_mounted and self.lab.store_usable and self.lab.lessons is not None):
            return
        lessons, now, known = self.lab.lessons, self.lab.now(), None if self._stale else self._mark

        def newer(store: Store) -> tuple[int, HomePicture | None]:
            mark = store.mark_of_others()
            return mark, None if mark == known else home_picture(store, lessons, now)

        self.read_store(newer, self._store_seen)

    def _store_seen(self, found: tuple[int, HomePicture | None]) -> None:
        self._mark, picture = found
        if picture is not None:
            self._stale = False
            self.post_message(self.Seen(picture))

    def show_fault(self, error: BaseException) -> None:
        # Told once: closing the box brings this page back, which reads the store again.
        if str(error) == self._told:
            self.say("Your store still cannot be read; what stands here may be old.", fault=True)
        else:
            self._told = str(error)
            super().show_fault(error)

    @on(Seen)
    def _seen(self, event: Seen) -> None:
        self._told = None
        self.picture = event.picture
        self._show()

    def server_seen(self) -> None:
        super().server_seen()
        if self.picture is not None:
            wanted = next_step(self.picture.standings, self._server_state)
            if wanted != self.next:
                self._show()
        if self.is_current:
            self._look_at_store()

    @property
    def _server_state(self) -> str:
        """An attached server that answers is as good as one of ours."""
        status = self.lab.server_status
        if status is None:
            return "stopped"
        return "ready" if status.usable else status.state

    def _show(self) -> None:
        choices = self.query_one("#home-list", Choices)
        if self.picture is None:
            self.next = None
            choices.show([Choice(None, "Opening your store and lessons…", remark=True)])
            self.say_next("One moment.")
            return
        self.next = next_step(self.picture.standings, self._server_state)
        rows = [
            Choice(None, "NEXT"),
            Choice(
                NEXT,
                visible_line(self.next.title),
                right="",
                below=(shorten(as_typed(visible_line(self.next.why)), 150, placeholder="…"),),
            ),
            Choice(None, ""),
            Choice(None, "LESSONS"),
        ]
        titles = Counter(standing.lesson.title for standing in self.picture.standings)
        for standing in self.picture.standings:
            lesson = standing.lesson
            if standing.started:
                right = f"{standing.cards_done}/{standing.cards} cards  {standing.gates_met}/{len(lesson.gates)} gates"
                right += f"  {len(standing.due)} due" if standing.due else ""
            else:
                right = "not started"
            apart = f"{lesson.id}: " if titles[lesson.title] > 1 else ""
            rows.append(Choice(f"lesson/{lesson.id}", apart + visible_line(lesson.title), right))
        for fault in self.lab.lesson_faults:
            rows.append(Choice(f"fault/{len(rows)}", f"✗ {visible_line(fault.title)}", "broken: enter shows why"))
        choices.show(rows)
        self._show_lately()
        self.say_next("enter does what stands under NEXT; ↑ ↓ choose a lesson.")
        notices = self.query_one("#notices", Static)
        notices.update("\n".join(f"! {visible(notice)}" for notice in self.lab.store_notices))
        notices.display = bool(self.lab.store_notices)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_lately)

    def _show_lately(self) -> None:
        if self.picture is not None:
            lately = self.query_one("#lately-list", Static)
            lately.update(lately_table(self.picture.lately, lately.size.width))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "back"

    def _lesson_id(self) -> str | None:
        chosen = self.query_one("#home-list", Choices).chosen_id or ""
        if chosen.startswith("lesson/"):
            return chosen.removeprefix("lesson/")
        if self.next is not None and self.next.lesson:
            return self.next.lesson
        return self.picture.standings[0].lesson.id if self.picture and self.picture.standings else None

    @on(OptionList.OptionSelected, "#home-list")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        chosen = self.query_one("#home-list", Choices).chosen_id
        if chosen == NEXT:
            self.action_next()
        elif chosen and chosen.startswith("lesson/"):
            self.lab.open_lesson(chosen.removeprefix("lesson/"))
        elif chosen and chosen.startswith("fault/"):
            faults = [choice.id for choice in self.query_one("#home-list", Choices).choices if choice.id]
            first = next(index for index, value in enumerate(faults) if value.startswith("fault/"))
            self.lab.show_fault(self.lab.lesson_faults[faults.index(chosen) - first])

    def action_next(self) -> None:
        step = self.next
        if step is None:
            return
        match step.kind, step.lesson:
            case _, None:
                self.say(f"{step.title}. {step.why} {step.command}")
            case "recall", str(lesson):
                self.lab.open_recall(lesson)
            case "serve" | "wait" | "run", str(lesson):
                self.lab.open_lab(lesson)
            case "verdict", str(lesson):
                self.lab.open_verdict(lesson)
            case _, str(lesson):
                self.lab.open_lesson(lesson, step.step)

    def action_server(self) -> None:
        if lesson := self._lesson_id():
            self.lab.open_lab(lesson)

    def action_recall(self) -> None:
        if lesson := self._lesson_id():
            self.lab.open_recall(lesson)

    def action_verdict(self) -> None:
        if lesson := self._lesson_id():
            self.lab.open_verdict(lesson)

    def action_export(self) -> None:
        if lesson := self._lesson_id():
            self.lab.open_export(lesson)

    def action_doctor(self) -> None:
        self.lab.open_doctor()

    def action_leave(self) -> None:
        self.app.exit()


def lately_table(events: tuple[Event, ...], width: int) -> Table | str:
    """What happened keeps some letters at any width; how it came out goes on in a second line where it must."""
    if not events:
        return "  Nothing yet."
    outcomes, words = max(len(one.outcome) for one in events), max(len(one.words) for one in events)
    table = Table.grid(expand=True, padding=(0, 2, 0, 0))
    table.add_column(width=0)
    table.add_column(width=max(WHAT_LETTERS, width - outcomes - words - 8), no_wrap=True, overflow="ellipsis")
    table.add_column(ratio=1)
    table.add_column(width=words, no_wrap=True, justify="right")
    for event in events:
        table.add_row("", Text(visible_line(event.what)), Text(visible_line(event.outcome)), event.words)
    return table
