"""The lab: the model server beside a task, its run and its result."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import OptionList

from exercises.records import Run
from exercises.tasks import Task
from labtui.latest_runs import newer_runs
from labtui.run_progress import Order, Outcome, Repeats
from labtui.screens.lab_boxes import QuestionBox, RepeatsBox
from labtui.screens.lab_desk import desk_of
from labtui.screens.lab_server import explained
from labtui.screens.lab_tasks import TaskList
from labtui.screens.lab_ways import LabWays
from labtui.screens.lab_words import LAB_HELP, outcome_words
from labtui.screens.lesson import short_title
from labtui.screens.page import BACK
from labtui.screens.sweep_desk import sweep_desk_of
from labtui.widgets.choices import Choices
from labtui.widgets.commands import Command, bindings
from labtui.widgets.run_panel import RunPanel
from labtui.widgets.server_panel import ServerPanel

if TYPE_CHECKING:
    from textual.worker import WorkType

LAB_COMMANDS = (
    Command("enter", "run_task", "run", "Run the chosen task; in the list of runs, show that run"),
    Command("x", "cancel", "stop the run", "Stop the run that is under way; what is finished is kept"),
    Command("s", "server", "start/stop", "Start the server; or stop it, after a question"),
    Command("r", "repeats", "how often", "How many runs and warm-ups enter makes"),
    Command("o", "result", "result", "Your number beside the claims, its conditions and doubts, and how to repeat it"),
    Command("v", "answer", "answer", "The whole answer of the run that is shown, and its picture"),
    Command("p", "plan", "plan", "See and change what the next start does: checkpoint, flags, the whole command"),
    Command("g", "log", "log", "The server's log: follow, scroll, search"),
    Command("w", "verdict", "verdict", "Write or read your verdict"),
    Command("u", "runs", "all runs", "All runs, newest first: open a result, compare two"),
    Command("b", "blind", "blind", "Judge two answers without knowing whose they are", shown=False),
    Command("k", "sweeps", "sweeps", "Speed by kind of prompt, by requests at once, by cap on steps", shown=False),
    Command("a", "attach", "attach", "Use a server that somebody else started, by its address", shown=False),
    Command("l", "latest", "latest runs", "To the latest runs; enter shows one", shown=False),
    Command("t", "tasks", "tasks", "To the tasks", shown=False),
    Command("i", "values", "values", "To the values of the result; the chosen one shows its definition", shown=False),
    Command("1", "choose(1)", "task 1", "Choose task 1", shown=False),
    *(
        Command(
            *(str(n), f"choose({n})", f"task {n}"),
            f"Choose task {n}; after a death, way {n} out of it where there is one",
            shown=False,
        )
        for n in range(2, 4)
    ),
    *(Command(str(n), f"choose({n})", f"task {n}", f"Choose task {n}", shown=False) for n in range(4, 10)),
    BACK,
)


class LabScreen(LabWays):
    HELP = LAB_HELP
    PAGE_COMMANDS = LAB_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*LAB_COMMANDS)]
    CSS_PATH = "lab.tcss"
    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [(0, "-short"), (23, "-tall")]  # type: ignore[misc]

    class RunsSeen(Message):
        def __init__(self, runs: tuple[Run, ...]) -> None:
            super().__init__()
            self.runs = runs

    def __init__(self, lesson_id: str) -> None:
        super().__init__(lesson_id)
        self._chosen: str | None = None
        self._newest_run: str | None = ""
        self._repeats = Repeats()
        self._runs_fault_told = False
        self._faulty_until: str | None = None

    @property
    def crumbs(self) -> tuple[str, ...]:
        return short_title(self.lesson), "Lab"

    def compose_body(self) -> ComposeResult:
        with Container(id="lab"):
            yield ServerPanel(id="lab-server")
            with Vertical(id="lab-work"):
                yield TaskList(id="tasks")
                yield RunPanel(id="run")

    def on_mount(self) -> None:
        self.refresh_title()
        self.query_one("#tasks").focus()
        self.refresh_plan()
        self.desk = desk_of(self.lab)
        self.server_seen()
        self.desk_moved()
        self._look_at_runs()

    def on_screen_resume(self) -> None:
        self.refresh_title()
        self._look_at_runs()

    def server_seen(self) -> None:
        super().server_seen()
        self.fit_tasks()
        if self.desk is not None and self.desk.progress is not None:
            self.desk.show_words()
            self.panel.show_live(self.desk.progress, self.lab.now())
        elif self.is_current:
            # Runs may have been made by command meanwhile.
            self._look_at_runs()
        self._turn_keys()

    def tasks_changed(self) -> None:
        if self.panel.mode == "about":
            self._show_about()
        self._turn_keys()

    def plan_seen(self) -> None:
        self.fit_tasks()
        self._turn_keys()

    # --- the tasks

    @on(OptionList.OptionHighlighted, "#tasks")
    def _task_chosen(self) -> None:
        chosen = self.query_one("#tasks", Choices).chosen_id
        if chosen == self._chosen:
            return
        first, self._chosen = self._chosen is None, chosen
        if not first and self.desk is not None and not self.desk.busy:
            self.quiet()
            self._show_about()

    def action_choose(self, number: int) -> None:
        if 1 < number <= len(self._moment.offers):
            self.take_way_out(number)
            return
        tasks = self.query_one("#tasks", Choices)
        if number <= len(self.tasks):
            tasks.focus()
            tasks.highlighted = number - 1
            self._show_about()

    # --- what the lower panel shows

    def _show_about(self) -> None:
        if self.desk is not None and self.desk.busy:
            return
        task = self.chosen_task
        upcoming = self.upcoming.get(task.id) if task is not None else None
        self.panel.show_about(task, upcoming, self._repeats.words)
        self._turn_keys()

    def say(self, text: str, *, fault: bool = False) -> None:
        """A fault stands until what is next has changed; what was done stands until the person does something."""
        super().say(text, fault=fault)
        self._faulty_until = self._what_next() if fault else None

    def _turn_keys(self) -> None:
        self.refresh_bindings()
        text = self._what_next()
        if not self._notice or (self._faulty_until is not None and text != self._faulty_until):
            self._faulty_until = None
            self.say_next(text)

    def _what_next(self) -> str:
        status, panel = self.lab.server_status, self.panel
        if self.desk is not None and self.desk.busy:
            return "x stops the run and keeps what is finished. You may leave: it goes on."
        if status is None:
            return "One moment."
        if panel.mode == "result":
            run = panel.run_shown
            full = "shows it in full" if run is None or run.practice else "sets it beside the claims"
            return f"o {full}; v the answer; enter runs again; w the verdict."
        if status.usable:
            return "enter runs the chosen task; ↑ ↓ choose another."
        match status.state:
            case "stopped" if self._moment.doing:
                return "It will be listening in a moment; g shows its log."
            case "stopped" if self._moment.offers:
                return "enter shows a plan that avoids this; s starts the plan below; g the log."
            case "stopped" if self._moment.fault is not None or any(
                finding.blocking and not finding.ok for finding in self._moment.findings
            ):
                return "Do what stands after →; p changes the plan, s tries again."
            case "stopped" if status.died:
                return "p changes the plan, s starts it again; g shows the log."
            case "stopped":
                return "s starts the server with this plan; p changes the plan."
            case "starting" | "warming":
                return "It gets ready by itself; you may leave and read on. g shows its log."
            case "foreign":
                return "s lets go of that server; then s starts your own."
        return "One moment: it is going down."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        busy = self.desk is not None and self.desk.busy
        if not self.is_mounted:
            return True
        match action:
            case "cancel":
                return busy
            case "run_task" | "repeats" | "latest" | "result":
                return not busy
            case "attach":
                status = self.lab.server_status
                return status is not None and status.state in ("stopped", "foreign")
            case "answer" | "values":
                return self.panel.mode == "result"
        return True

    async def action_back(self) -> None:
        panel = self.panel
        if panel.mode in ("result", "fault"):
            self.query_one("#tasks").focus()
            self.quiet()
            self._show_about()
        else:
            await super().action_back()

    def action_tasks(self) -> None:
        self.query_one("#tasks").focus()

    def action_latest(self) -> None:
        if not self.query_one("#latest").display:
            self._show_about()
        self.query_one("#latest").focus()

    def action_values(self) -> None:
        self.query_one("#result").focus()

    # --- runs

    def action_run_task(self) -> None:
        task, status, desk = self.chosen_task, self.lab.server_status, self.desk
        if desk is None or desk.busy or task is None:
            return
        if self._moment.offers:
            self.take_way_out(1)
            return
        if status is None or not status.usable:
            self.say(
                "The server is not ready: s starts it."
                if status is None or status.state == "stopped"
                else "The server is not ready yet.",
                fault=True,
            )
            return
        if sweep_desk_of(self.lab).busy:
            self.say("A sweep is under way, and a run would disturb it: k shows it.", fault=True)
            return
        if task.runs_code and not desk.code_allowed:
            box = QuestionBox(
                "Let the code in the answer run?",
                "The checker calls what the model wrote, in a child process that has no network, no files and little "
                "time and memory. This holds until you leave labtui.",
                "run it",
            )
            self.app.push_screen(box, lambda yes: self._allow_code(task) if yes else None)
            return
        self._begin(task)

    def _allow_code(self, task: Task) -> None:
        if self.desk is not None:
            self.desk.code_allowed = True
            self._begin(task)

    def _begin(self, task: Task) -> None:
        upcoming = self.upcoming.get(task.id)
        seed = upcoming.seed if upcoming is not None else secrets.randbelow(2**31)
        self.quiet()
        if self.desk is not None:
            self.desk.begin(Order(task.id, self._repeats, seed, run_code=task.runs_code))

    def action_cancel(self) -> None:
        if self.desk is not None:
            self.desk.stop()

    def desk_moved(self) -> None:
        """The desk calls this when the run under way has moved or ended."""
        desk = self.desk
        if desk is None:
            return
        if desk.progress is not None:
            self.panel.show_live(desk.progress, self.lab.now())
        elif (outcome := desk.take_outcome()) is not None:
            self._show_outcome(outcome)
            self.prepare_next(outcome.progress.order.task_id)
            self._look_at_runs()
        self._turn_keys()

    def _show_outcome(self, outcome: Outcome) -> None:
        run, kept = outcome.shown, len(outcome.progress.kept)
        if outcome.error is not None:
            fault, task_id = explained(outcome.error), outcome.progress.order.task_id
            self.run_worker(self.panel.show_fault(fault, task_id, kept), group="fault", exit_on_error=False)
        elif run is None:
            self.panel.turn_to_about()
            self._show_about()
            self.say("Stopped before anything came; there was nothing to keep.")
        else:
            self.panel.show_result(run, self.lab.now(), outcome_words(outcome))
            stopped = "Stopped. " if outcome.trial is not None and outcome.trial.cancelled else ""
            self.say(f"{stopped}{'Saved.' if kept == 1 else f'{kept} runs saved.'}")

    def _look_at_runs(self) -> None:
        work = cast("WorkType[None]", self._read_runs)
        self.run_worker(work, group="runs", exclusive=True, exit_on_error=False)

    async def _read_runs(self) -> None:
        known = self._newest_run
        try:
            runs = await self.lab.books.ask(lambda store: newer_runs(store, known))
            if runs is not None:
                self._newest_run = runs[0].id if runs else None
                self.post_message(self.RunsSeen(runs))
            self._runs_fault_told = False
        except Exception as error:
            # Told once: closing the box brings this page back, which reads the runs again.
            if not self._runs_fault_told:
                self._runs_fault_told = True
                self.show_fault(error)

    @on(RunsSeen)
    def _runs_seen(self, event: RunsSeen) -> None:
        self._runs = event.runs
        self.panel.show_latest(event.runs, self.lab.now())

    @on(OptionList.OptionSelected, "#tasks")
    def _task_selected(self) -> None:
        self.action_run_task()

    @on(OptionList.OptionSelected, "#latest")
    def _run_selected(self, event: OptionList.OptionSelected) -> None:
        run = next((one for one in self._runs if one.id == event.option_id), None)
        if run is not None:
            self.panel.show_result(run, self.lab.now(), "")
            self.query_one("#result").focus()
            self.quiet()
            self._turn_keys()

    @on(OptionList.OptionSelected, "#result")
    def _value_selected(self) -> None:
        self.action_answer()

    def action_repeats(self) -> None:
        self.app.push_screen(RepeatsBox(self._repeats), self._take_repeats)

    def _take_repeats(self, repeats: Repeats | None) -> None:
        if repeats is not None:
            self._repeats = repeats
            self._show_about()
