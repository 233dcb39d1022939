"""All runs, newest first: one opens its result, two that are marked are compared."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import OptionList, Static

from exercises.records import Run
from labtui.compare_text import comparison_sections
from labtui.glossary import speed_glossary
from labtui.result_text import PRACTICE, Section
from labtui.screens.home_picture import run_label, run_outcome
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible, visible_line
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.commands import Command, bindings
from labtui.widgets.dates import day_words
from labtui.widgets.result_list import ResultList, section_choices

SHOWN = 200

RUNS_COMMANDS = (
    Command("enter", "open", "result", "Show the result of the chosen run"),
    Command("space,m", "mark", "mark", "Mark the chosen run for a comparison, or take the mark away", display="space"),
    Command("c", "compare", "compare", "Compare the two runs that are marked, the older one first"),
    Command("v", "answer", "answer", "The whole answer of the chosen run"),
    BACK,
)
COMPARE_COMMANDS = (
    Command("c", "copy", "copy", "Copy the comparison"),
    BACK,
)


class RunsScreen(Page):
    HELP = """
Every run that was kept, newest first, with its headline: completion tokens ÷ (last content byte − request sent). A
warm-up and a run that is not valid say so; they count for nothing.

enter opens the result of the chosen run. space marks a run; with two marked, c compares them. The commands: labtui
runs, labtui show RUN, labtui compare RUN RUN.
"""
    PAGE_COMMANDS = RUNS_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*RUNS_COMMANDS)]
    DEFAULT_CSS = "RunsScreen { & #all-runs { height: 1fr; } & #runs-count { color: $quiet; margin-bottom: 1; } }"

    class RunsRead(Message):
        def __init__(self, runs: tuple[Run, ...], there_are: int) -> None:
            super().__init__()
            self.runs, self.there_are = runs, there_are

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[Run, ...] = ()
        self._marked: tuple[str, ...] = ()

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("Lab", "Runs")

    def compose_body(self) -> ComposeResult:
        yield Static(id="runs-count", markup=False)
        yield Choices(id="all-runs")

    def on_mount(self) -> None:
        self.refresh_title()
        self.query_one(Choices).focus()
        self._read()

    def on_screen_resume(self) -> None:
        self.refresh_title()
        self._read()

    def _read(self) -> None:
        self.read_store(
            lambda store: (tuple(store.runs.list(limit=SHOWN)), store.runs.count()),
            lambda found: self.post_message(self.RunsRead(*found)),
        )

    @on(RunsRead)
    def _runs_read(self, event: RunsRead) -> None:
        self._runs = event.runs
        ids = {run.id for run in event.runs}
        self._marked = tuple(run_id for run_id in self._marked if run_id in ids)
        shown, there_are = len(event.runs), event.there_are
        older = f"; labtui runs --all shows the {there_are - shown} older ones" if there_are > shown else ""
        label = f"\n! {PRACTICE}" if any(run.practice for run in event.runs) else ""
        self.query_one("#runs-count", Static).update(f"{shown} run{'' if shown == 1 else 's'}{older}{label}")
        self._show()

    def _show(self) -> None:
        now = self.lab.now()
        rows = [
            Choice(
                run.id,
                visible_line(f"{run_label(run)} · {run_outcome(run)}"),
                day_words(datetime.fromisoformat(run.started_at), now),
                ticked=run.id in self._marked,
            )
            for run in self._runs
        ]
        self.query_one(Choices).show(rows or [Choice(None, "None yet: enter in the lab runs a task.")])
        self.refresh_bindings()
        self.say_next(
            "c compares the two that are marked."
            if len(self._marked) == 2
            else "enter opens a result; space marks two runs to compare."
            if self._runs
            else "esc goes back to the lab."
        )

    @property
    def _chosen(self) -> Run | None:
        chosen = self.query_one(Choices).chosen_id
        return next((run for run in self._runs if run.id == chosen), None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "compare":
                return len(self._marked) == 2
            case "open" | "mark" | "answer":
                return bool(self._runs)
        return True

    @on(OptionList.OptionSelected, "#all-runs")
    def action_open(self) -> None:
        from labtui.screens.result import ResultScreen

        if self._chosen is not None:
            self.app.push_screen(ResultScreen(self._chosen))

    def action_answer(self) -> None:
        from labtui.screens.lab_answer import AnswerScreen

        if self._chosen is not None:
            self.app.push_screen(AnswerScreen(self._chosen))

    def action_mark(self) -> None:
        """At most two are marked: a third takes the place of the first."""
        run = self._chosen
        if run is None:
            return
        if run.id in self._marked:
            self._marked = tuple(one for one in self._marked if one != run.id)
        else:
            self._marked = (*self._marked[-1:], run.id)
        self._show()

    def action_compare(self) -> None:
        two = [run for run in reversed(self._runs) if run.id in self._marked]
        self.app.push_screen(CompareScreen(two[0], two[1]))


class CompareScreen(Page):
    HELP = f"""
Two runs side by side: the older one, an arrow, the newer one, and newer ÷ older where that means something. No ratio is
made of two tasks, of practice and another model, of what is not valid, or of a warm-up; then the reason stands there.

Where both belong to trials, the medians of the trials and the ratio of these stand below, with its interval. The
command: labtui compare RUN RUN, labtui compare TRIAL TRIAL.

{speed_glossary()}
"""
    PAGE_COMMANDS = COMPARE_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*COMPARE_COMMANDS)]
    DEFAULT_CSS = "CompareScreen { & ResultList { height: 1fr; } & #compare-label { color: $warning; } }"

    class TrialsRead(Message):
        def __init__(self, first: tuple[Run, ...], second: tuple[Run, ...]) -> None:
            super().__init__()
            self.first, self.second = first, second

    def __init__(self, first: Run, second: Run) -> None:
        super().__init__()
        self._first, self._second = first, second
        self.parts: tuple[Section, ...] = ()

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("Lab", "Runs", "Two compared")

    def compose_body(self) -> ComposeResult:
        yield Static(id="compare-label", markup=False)
        yield ResultList(id="compared")

    def on_mount(self) -> None:
        self.refresh_title()
        label = self.query_one("#compare-label", Static)
        label.display = self._first.practice or self._second.practice
        label.update(f"! {PRACTICE}")
        self.query_one(ResultList).focus()
        names = self._first.trial, self._second.trial
        self.read_store(
            lambda store: tuple(tuple(store.runs.list(trial=name)[::-1]) if name else () for name in names),
            lambda trials: self.post_message(self.TrialsRead(*trials)),
        )

    @on(TrialsRead)
    def _trials_read(self, event: TrialsRead) -> None:
        self.parts = comparison_sections(self._first, self._second, event.first, event.second)
        self.query_one(ResultList).show(section_choices(self.parts))
        self.say_next("↑ ↓ walk the lines; the chosen one says what it means.")

    def action_copy(self) -> None:
        lines = [line for part in self.parts for line in (part.title, *(f"  {r.label}: {r.value}" for r in part.rows))]
        practice = [PRACTICE] if self._first.practice or self._second.practice else []
        self.say(self.lab.copied(visible("\n".join((*practice, *lines))), "The comparison"))
