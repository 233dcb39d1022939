"""Sweeps: one thing varied, and what it does to the speed, drawn as it comes and kept point by point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from exercises.aggregate_speed import DEFINITIONS
from exercises.sweep import Axis
from exercises.sweep_points import missing_points, requests_of
from labtui.run_progress import ESTIMATED_FROM, Repeats, usual_seconds
from labtui.screens.lab_boxes import RepeatsBox
from labtui.screens.lab_desk import desk_of
from labtui.screens.lab_server import explained
from labtui.screens.lesson import short_title
from labtui.screens.page import BACK, Page
from labtui.screens.sweep_boxes import PointsBox
from labtui.screens.sweep_desk import SweepDesk, sweep_desk_of
from labtui.sweep_progress import Possible, SweepOrder, SweepOutcome, choice_lines
from labtui.sweeping import sweep_points, sweep_tasks
from labtui.terminal_text import visible_line
from labtui.widgets.commands import Command, bindings
from labtui.widgets.sweep_plot import SweepPlot

if TYPE_CHECKING:
    from lessons.model import Lesson
    from store.opening import Store
    from store.sweeps import SweepRecord

SWEEP_COMMANDS = (
    Command("enter", "sweep", "sweep", "Run the sweep that is chosen; every run and every point is kept"),
    Command("x", "cancel", "stop", "Stop the sweep that is under way; what is finished is kept"),
    Command("k", "axis", "by", "Vary another thing: kinds of prompts, requests at once, cap on denoising steps"),
    Command("t", "task", "task", "Keep another task while requests at once, or the cap, are varied"),
    Command("p", "points", "points", "Choose the points, or all usual ones"),
    Command("r", "rounds", "rounds", "How many rounds and warm-ups each point gets"),
    Command("c", "go_on", "continue", "Run what the sweep that is shown still misses; it keeps its rounds and seed"),
    Command("left", "walk(1)", "earlier", "Show the sweep that was kept before this one"),
    Command("right", "walk(-1)", "later", "Show the sweep that was kept after this one"),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up", "scroll(-1)", "up", "A line up", shown=False),
    Command("space,pagedown", "page(1)", "further", "A page down", shown=False),
    Command("pageup", "page(-1)", "page up", "A page up", shown=False),
    BACK,
)
AXES: tuple[Axis, ...] = get_args(Axis)
KEPT_SHOWN = 50
DEFAULT_TASK = "coding"


class SweepScreen(Page):
    HELP = f"""
A sweep varies one thing and keeps the rest. By kind of prompt: short answer, prose, code, structured; the denoising
steps that a canvas takes depend on it, and so does the speed. By requests at once: 1 to 8 together. By cap on denoising
steps, where the server takes one with a request.

k chooses what is varied, t the task that is kept, p the points, r how many rounds. enter runs it. A round is one
request, or several that start together; all points get the same seeds. It goes on when you leave this screen; x stops
it. Every run is kept when it is finished, and the sweep after each point; c runs what a sweep that was stopped misses.
Tasks that run code are swept by command: labtui run TASK --sweep concurrency --run-code.

end to end: {DEFINITIONS["per_stream_tps"]}
all requests together: {DEFINITIONS["aggregate_tps"]}
steps per canvas: {DEFINITIONS["steps_per_canvas"]}
More requests at once than the server runs together (--max-num-seqs) wait in its queue: such a point measures the queue
too, and says so.

← → show the sweeps that were kept; labtui sweeps SWEEP shows one by command, --svg FILE draws it, and the export has
them. Numbers of the practice checkpoint are labelled so: they say nothing about DiffusionGemma.
"""
    PAGE_COMMANDS = SWEEP_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*SWEEP_COMMANDS)]
    CSS_PATH = "sweeps.tcss"

    class PossibleSeen(Message):
        def __init__(self, possible: Possible) -> None:
            super().__init__()
            self.possible = possible

    class SweepsSeen(Message):
        def __init__(self, records: tuple[SweepRecord, ...], show: str | None) -> None:
            super().__init__()
            self.records, self.show = records, show

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self._order = SweepOrder("kinds", None)
        self._task_id = DEFAULT_TASK
        self._possible: Possible | None = None
        self._fitted_to: tuple[object, ...] | None = None
        self._kept: tuple[SweepRecord, ...] = ()
        self._shown: str | None = None

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def crumbs(self) -> tuple[str, ...]:
        return short_title(self.lesson), "Lab", "Sweeps"

    @property
    def desk(self) -> SweepDesk:
        return sweep_desk_of(self.lab)

    @property
    def plot(self) -> SweepPlot:
        return self.query_one(SweepPlot)

    @property
    def document(self) -> Mapping[str, Any] | None:
        """The sweep that is drawn."""
        return self.plot.document

    def compose_body(self) -> ComposeResult:
        with Vertical(id="sweeps"):
            yield Static(id="sweep-choice", markup=False)
            yield Static(id="sweep-now", markup=False)
            with VerticalScroll(id="sweep-scroll", can_focus=False):
                yield Static(id="sweep-fault", markup=False)
                yield SweepPlot()

    def on_mount(self) -> None:
        self.refresh_title()
        moment = self.desk.progress
        if moment is not None:
            self._order = replace(moment.order, earlier=None)
            self._task_id = moment.order.task_id or self._task_id
        self._show_choice()
        self._read_kept(None)
        self.server_seen()
        self.desk_moved()

    def server_seen(self) -> None:
        super().server_seen()
        status = self.lab.server_status
        fits = None if status is None else (status.usable, status.checkpoint, status.launch_id, status.url)
        if fits != self._fitted_to:
            self._fitted_to = fits
            self._fit()
        if self.desk.busy:
            self.desk.show_words()
            self._show_progress()

    # --- what is chosen

    def _fit(self) -> None:
        """Ask which points the chosen sweep has on this server."""
        status = self.lab.server_status
        if status is None or not status.usable:
            self._possible = None
            self._show_choice()
            return
        work = partial(self._find_points, self._order)
        self.run_worker(work, group="points", exclusive=True, thread=True, exit_on_error=False)

    def _find_points(self, order: SweepOrder) -> None:
        found = Possible(order)
        try:
            endpoint = self.lab.supervisor.endpoint()
            found = replace(found, tasks=sweep_tasks(endpoint))
            points = sweep_points(order.axis, endpoint, order.task_id, order.wanted)
            earlier = self.lab.books.submit(
                lambda store: store.runs.list(checkpoint=endpoint.checkpoint, limit=ESTIMATED_FROM)
            ).result()
            found = replace(
                found,
                labels=tuple(point.label for point in points),
                requests=requests_of(points, order.rounds, order.warmup),
                usual_s=usual_seconds(earlier),
            )
        except Exception as error:
            found = replace(found, fault=explained(error))
        self.post_message(self.PossibleSeen(found))

    @on(PossibleSeen)
    def _possible_seen(self, event: PossibleSeen) -> None:
        if event.possible.order == self._order:
            self._possible = event.possible
            self._show_choice()

    def _choose(self, order: SweepOrder) -> None:
        self._order, self._possible = order, None
        self.quiet()
        self._show_choice()
        self._fit()

    def action_axis(self) -> None:
        axis = AXES[(AXES.index(self._order.axis) + 1) % len(AXES)]
        self._choose(replace(self._order, axis=axis, task_id=None if axis == "kinds" else self._task_id, wanted=()))
        newest = next((one for one in self._kept if one.axis == axis), None)
        self._draw(None if newest is None else newest.document)

    def action_task(self) -> None:
        tasks = () if self._possible is None else self._possible.tasks
        if tasks:
            at = tasks.index(self._task_id) if self._task_id in tasks else -1
            self._task_id = tasks[(at + 1) % len(tasks)]
            self._choose(replace(self._order, task_id=self._task_id))

    def action_points(self) -> None:
        usual = () if self._possible is None else self._possible.labels
        self.app.push_screen(PointsBox(self._order.axis, self._order.wanted, usual), self._take_points)

    def _take_points(self, wanted: tuple[str, ...] | None) -> None:
        if wanted is not None:
            self._choose(replace(self._order, wanted=wanted))

    def action_rounds(self) -> None:
        self.app.push_screen(RepeatsBox(Repeats(self._order.rounds, self._order.warmup)), self._take_rounds)

    def _take_rounds(self, repeats: Repeats | None) -> None:
        if repeats is not None:
            self._choose(replace(self._order, rounds=repeats.runs, warmup=repeats.warmups or 0))

    def _show_choice(self) -> None:
        possible = self._possible
        self.query_one("#sweep-choice", Static).update("\n".join(choice_lines(self._order, possible)))
        fault = None if possible is None else possible.fault
        line = self.query_one("#sweep-fault", Static)
        line.display = fault is not None
        if fault is not None:
            self.query_one("#sweep-scroll", VerticalScroll).scroll_home(animate=False)
            line.update(f"✗ {visible_line(fault.title)}: {visible_line(fault.cause)}\n→ {visible_line(fault.fix)}\n")
        self._turn_keys()

    def _turn_keys(self) -> None:
        self.refresh_bindings()
        if not self._notice:
            self.say_next(self._what_next())

    def _what_next(self) -> str:
        status, possible = self.lab.server_status, self._possible
        if self.desk.busy:
            return "x stops the sweep and keeps what is finished. You may leave: it goes on."
        if status is None:
            return "One moment."
        if not status.usable:
            return "No server is ready: esc, then s in the lab starts one."
        if possible is not None and possible.fault is not None:
            return "k varies another thing; p chooses other points."
        return "enter runs it; k varies another thing."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or not self.stands:
            return True
        busy = self.desk.busy
        match action:
            case "cancel":
                return busy
            case "sweep" | "axis" | "points" | "rounds":
                return not busy
            case "task":
                return not busy and self._order.axis != "kinds"
            case "go_on":
                return not busy and self.document is not None and bool(missing_points(self.document))
            case "walk":
                return not busy and len(self._kept) > 1
        return True

    # --- the sweep under way

    def action_sweep(self) -> None:
        possible = self._possible
        if not self._may_begin():
            return
        if possible is None:
            self.say("One moment: the points are being looked up.")
        elif possible.fault is not None:
            self.say(f"{possible.fault.title}.", fault=True)
        else:
            self.quiet()
            self.desk.begin(self._order)

    def action_go_on(self) -> None:
        """With the sweep that is shown; whether it can be is known where its points are looked up."""
        document = self.document
        if document is None or not self._may_begin():
            return
        task = None if document["axis"] == "kinds" else str(document["points"][0]["task"])
        self.quiet()
        self.desk.begin(
            SweepOrder(document["axis"], task, (), document["rounds"], document["warmup"], earlier=document)
        )

    def _may_begin(self) -> bool:
        status = self.lab.server_status
        if status is None or not status.usable:
            self.say("The server is not ready: esc, then s in the lab starts it.", fault=True)
        elif desk_of(self.lab).busy:
            self.say("A run is under way: it would be in the way of the sweep. x in the lab stops it.", fault=True)
        else:
            return True
        return False

    def action_cancel(self) -> None:
        self.desk.stop()

    def desk_moved(self) -> None:
        """The desk calls this when the sweep under way has moved or ended."""
        if self.desk.busy:
            self._show_progress()
        elif (outcome := self.desk.take_outcome()) is not None:
            self._show_outcome(outcome)
        self.query_one("#sweep-now").display = self.desk.busy
        self._turn_keys()

    def _show_progress(self) -> None:
        moment = self.desk.progress
        if moment is not None:
            self.query_one("#sweep-now", Static).update("\n".join(moment.lines(self.lab.now())))
            self._draw(moment.so_far or moment.order.earlier)

    def _show_outcome(self, outcome: SweepOutcome) -> None:
        sweep, kept = outcome.sweep, outcome.moment.kept
        if outcome.error is not None:
            self.show_fault(outcome.error)
        saved = f"{kept} run{'' if kept == 1 else 's'} saved" if kept else "nothing was finished"
        if sweep is not None and sweep.points:
            stopped = "Stopped: " if sweep.cancelled else ""
            rest = " c runs the rest." if sweep.cancelled or len(sweep.points) < sweep.asked else ""
            self.say(f"{stopped}{len(sweep.points)} of {sweep.asked} points, {saved}.{rest}")
        elif outcome.error is None:
            self.say(f"Stopped: {saved}.")
        self._read_kept(None if sweep is None else sweep.id)

    # --- the sweeps that are kept

    def _read_kept(self, show: str | None) -> None:
        def read(store: Store) -> tuple[SweepRecord, ...]:
            return tuple(store.sweeps.list(KEPT_SHOWN))

        self.read_store(read, lambda records: self.post_message(self.SweepsSeen(records, show)))

    @on(SweepsSeen)
    def _sweeps_seen(self, event: SweepsSeen) -> None:
        self._kept = event.records
        if not self.desk.busy:
            self._show_kept(event.show or self._shown)
        self._turn_keys()

    def _show_kept(self, sweep_id: str | None) -> None:
        found = next((one for one in self._kept if one.id == sweep_id), self._kept[0] if self._kept else None)
        self._draw(None if found is None else found.document)

    def _draw(self, document: Mapping[str, Any] | None) -> None:
        other = self._shown
        self._shown = None if document is None else str(document["id"])
        self.plot.show(document)
        if self._shown != other:
            self.query_one("#sweep-scroll", VerticalScroll).scroll_home(animate=False)

    def action_walk(self, by: int) -> None:
        ids = [one.id for one in self._kept]
        at = ids.index(self._shown) if self._shown in ids else 0
        to = max(0, min(len(ids) - 1, at + by))
        self._show_kept(ids[to])
        self.say(f"Sweep {len(ids) - to} of {len(ids)} that are kept.")

    def action_scroll(self, by: int) -> None:
        self.query_one("#sweep-scroll", VerticalScroll).scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        scroll = self.query_one("#sweep-scroll", VerticalScroll)
        scroll.scroll_relative(y=by * max(1, scroll.size.height - 1), animate=False)
