"""The server's side of the lab: its plan, its start and stop, and what is seen of it while it lives."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from labtui.bug_report import reported
from labtui.errors import Explained, LabError, is_explained
from labtui.launch_record import record_launch, record_stop
from labtui.screens.lab_boxes import Address, AttachBox, QuestionBox
from labtui.screens.lab_desk import RunDesk
from labtui.screens.lab_planning import PlanChoice, Planned, choice_of, kept_choice, measured_here, plan_for, planned
from labtui.screens.page import Page
from labtui.screens.sweep_desk import sweep_desk_of
from labtui.widgets.server_lines import ServerMoment, WayOut, changed_flags
from labtui.widgets.server_panel import ServerPanel

if TYPE_CHECKING:
    from labtui.serving.gpu import Gpu
    from labtui.serving.live_figures import FigureReader, Figures
    from labtui.serving.live_history import History
    from labtui.serving.log_tail import LogFollower
    from labtui.serving.status import Status
    from labtui.serving.stopping import StopReport
    from store.opening import Store

LOG_TAIL = 80


@dataclass(frozen=True, slots=True)
class Watched:
    """What one look at a running server gave. log_path: the file that log is the end of."""

    figures: Figures | None
    gpus: tuple[Gpu, ...]
    log: tuple[str, ...]
    log_path: Path | None


class ServerWork(Page):
    """A page with a ServerPanel. Starting and stopping go on when the page is left; handlers own what is shown."""

    class PlanSeen(Message):
        def __init__(self, planned: Planned) -> None:
            super().__init__()
            self.planned = planned

    class EstimateSeen(Message):
        def __init__(self, plan_key: str, estimate_s: float | None) -> None:
            super().__init__()
            self.plan_key, self.estimate_s = plan_key, estimate_s

    class ServerWatched(Message):
        """A newer look replaces one that still waits: a flood of log lines cannot queue up."""

        def __init__(self, watched: Watched) -> None:
            super().__init__()
            self.watched = watched

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ServerWork.ServerWatched)

    class WayOutSeen(Message):
        """Another plan that avoids what ended the server."""

        def __init__(self, way_out: WayOut) -> None:
            super().__init__()
            self.way_out = way_out

    class Doing(Message):
        """What labtui is doing to the server; empty: nothing any more."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ServerWork.Doing)

    class Launched(Message):
        pass

    class Stopped(Message):
        def __init__(self, report: StopReport) -> None:
            super().__init__()
            self.report = report

    class NotDone(Message):
        """A start or a stop that came to nothing."""

        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    def __init__(self) -> None:
        super().__init__()
        self.desk: RunDesk | None = None
        self.planned: Planned | None = None
        self._moment = ServerMoment()
        self._recorded: tuple[object, ...] = ()
        self._estimated_for: str | None = None
        self._watching = False
        self._reader: tuple[str, FigureReader] | None = None
        self._follower: LogFollower | None = None
        self._sought_for: str | None = None
        self._history: tuple[str | None, History] | None = None

    # --- what is shown

    def show_server(self, moment: ServerMoment) -> None:
        self._moment = moment
        wide, tall = self.has_class("-wide"), self.size.height >= 30
        room = max(1, self.size.height - 14) if wide else 4 if tall else 1
        self.query_one(ServerPanel).show(moment, log_room=room, long=wide)

    def server_seen(self) -> None:
        super().server_seen()
        status = self.lab.server_status
        if status is None:
            return
        found = (
            status.state == "ready"
            and self.desk is not None
            and status.launch_id is not None
            and status.launch_id not in self.desk.launched
        )
        self.show_server(replace(self._moment, status=status, found=found, now=self.lab.now()))
        self._record(status)
        self._ask_estimate(status.plan_key if status.state != "stopped" else None)
        self._watch(status)
        if status.died and status.causes and status.launch_id != self._sought_for:
            self._sought_for = status.launch_id
            self.run_worker(partial(self._seek, status), group="way-out", thread=True, exit_on_error=False)

    def plan_seen(self) -> None:
        """The plan of the next start is known."""

    # --- the plan

    def refresh_plan(self) -> None:
        self.run_worker(self._read_choice(), group="plan-choice", exclusive=True, exit_on_error=False)

    async def _read_choice(self) -> None:
        try:
            choice = await self.lab.books.ask(kept_choice)
        except Exception as error:
            self.show_fault(error)
            return
        self.run_worker(partial(self._plan, choice), group="plan", exclusive=True, thread=True, exit_on_error=False)

    def _plan(self, choice: PlanChoice) -> None:
        try:
            self.post_message(self.PlanSeen(planned(choice, measured_here(self.lab.books))))
        except Exception as error:
            self.post_message(self.NotDone(error))

    @on(PlanSeen)
    def _plan_seen(self, event: PlanSeen) -> None:
        self.planned = event.planned
        plan = event.planned.plan
        self.show_server(replace(self._moment, plan=plan, findings=event.planned.findings, fault=event.planned.fault))
        self.plan_seen()

    # --- a way out of a death

    def _seek(self, status: Status) -> None:
        supervisor = self.lab.supervisor
        found = supervisor.offer(status, measured=measured_here(self.lab.books))
        if found is not None and status.launch_id is not None:
            launch, remedy = supervisor.launch, found[1]
            flags = "" if launch is None else changed_flags(remedy.plan, launch.command)
            self.post_message(self.WayOutSeen(WayOut(status.launch_id, remedy, flags)))

    @on(WayOutSeen)
    def _way_out_seen(self, event: WayOutSeen) -> None:
        self.show_server(replace(self._moment, way_out=event.way_out))
        self.plan_seen()

    def open_way_out(self, way_out: WayOut) -> None:
        """Show the other plan; only enter there starts it."""
        from labtui.screens.lab_plan import PlanScreen

        asked = way_out.remedy.plan.asked
        if asked is not None:
            self.app.push_screen(PlanScreen(choice_of(asked), self._take_way_out))

    def _take_way_out(self, planned: Planned) -> None:
        self.planned = planned
        self._ask_to_start(planned)

    # --- what is kept

    def _record(self, status: Status) -> None:
        """Writes down that the launch began, became ready or died, once each."""
        seen = (status.launch_id, status.state, status.ready_after_s)
        if status.launch_id is not None and seen != self._recorded:
            self._recorded = seen
            self.run_worker(self._write_record(status), group="record", exit_on_error=False)

    async def _write_record(self, status: Status) -> None:
        supervisor = self.lab.supervisor

        def write(store: Store) -> None:
            record_launch(store, supervisor.launch, status)

        try:
            await self.lab.books.ask(write)
        except Exception as error:
            self.show_fault(error)

    def _ask_estimate(self, plan_key: str | None) -> None:
        if plan_key is not None and plan_key != self._estimated_for:
            self._estimated_for = plan_key
            self.run_worker(self._read_estimate(plan_key), group="estimate", exit_on_error=False)

    async def _read_estimate(self, plan_key: str) -> None:
        try:
            estimate = await self.lab.books.ask(lambda store: store.launches.ready_estimate(plan_key))
        except Exception as error:
            self.show_fault(error)
        else:
            self.post_message(self.EstimateSeen(plan_key, estimate))

    @on(EstimateSeen)
    def _estimate_seen(self, event: EstimateSeen) -> None:
        if event.plan_key == self._estimated_for:
            self.show_server(replace(self._moment, estimate_s=event.estimate_s))

    # --- watching

    def _watch(self, status: Status) -> None:
        if not self._watching and self.is_current:
            self._watching = True
            self.run_worker(partial(self._look, status), group="watch", thread=True, exit_on_error=False)

    def _look(self, status: Status) -> None:
        from labtui.serving.gpu import gpus

        try:
            figures = self._figures(status)
            log, path = self._log_tail()
            self.post_message(self.ServerWatched(Watched(figures, gpus(), log, path)))
        except Exception as error:
            if not is_explained(error):
                raise
        finally:
            self._watching = False

    def _figures(self, status: Status) -> Figures | None:
        from labtui.serving.live_figures import FigureReader

        name = f"{status.launch_id} {status.url}"
        if not status.usable:
            return None
        if self._reader is None or self._reader[0] != name:
            self._reader = (name, FigureReader(self.lab.supervisor.endpoint()))
        return self._reader[1].look()

    def _log_tail(self) -> tuple[tuple[str, ...], Path | None]:
        from labtui.serving.log_tail import LogFollower

        path = self.lab.supervisor.log_path
        if path is None:
            return (), None
        if self._follower is None or self._follower.path != path:
            self._follower = LogFollower(path)
        self._follower.poll()
        lines = list(self._follower.lines)[-LOG_TAIL:]
        if self._follower.last_line and (not lines or lines[-1] != self._follower.last_line):
            lines.append(self._follower.last_line)
        return tuple(lines), path

    @on(ServerWatched)
    def _server_watched(self, event: ServerWatched) -> None:
        seen = event.watched
        rates, kv = self._past(seen)
        self.show_server(replace(self._moment, figures=seen.figures, gpus=seen.gpus, log=seen.log, rates=rates, kv=kv))

    def _past(self, seen: Watched) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Delivered tokens per second and KV use of this server, look after look."""
        from labtui.serving.live_history import History, Moment

        status = self.lab.server_status
        if status is None or seen.figures is None:
            return (), ()
        if self._history is None or self._history[0] != status.launch_id:
            self._history = (status.launch_id, History())
        history = self._history[1]
        history.add(Moment(time.monotonic(), seen.figures, seen.gpus))
        return tuple(history.series("delivered_tps")), tuple(history.series("kv_share"))

    # --- start and stop

    def action_server(self) -> None:
        status = self.lab.server_status
        if status is None or self._moment.doing:
            self.say("One moment: the server is being looked at.")
        elif status.state != "stopped":
            self._ask_to_stop(status)
        elif self.planned is None:
            self.say("One moment: the plan is being made.")
        else:
            self._ask_to_start(self.planned)

    def _ask_to_start(self, planned: Planned) -> None:
        from labtui.serving.preflight import blocking

        findings = list(planned.findings)
        if planned.plan is None:
            self.say("There is no plan that could start: p changes it.", fault=True)
        elif stops := blocking(findings, anyway=True):
            self.show_server(replace(self._moment, fault=LabError(stops[0].title, stops[0].cause, stops[0].fix)))
            self.refresh_plan()
        elif doubts := blocking(findings):
            box = QuestionBox(
                "Start it all the same?", f"{doubts[0].title}. {doubts[0].cause} This is an estimate.", "start it"
            )
            self.app.push_screen(box, lambda yes: self._start(planned.choice, anyway=True) if yes else None)
        else:
            self._start(planned.choice, anyway=False)

    def _start(self, choice: PlanChoice, *, anyway: bool) -> None:
        self.show_server(replace(self._moment, fault=None, doing="starting"))
        self.app.run_worker(
            partial(self._launch, choice, anyway, self.desk), group="launch", thread=True, exit_on_error=False
        )

    def _launch(self, choice: PlanChoice, anyway: bool, desk: RunDesk | None) -> None:
        try:
            plan = plan_for(choice, measured_here(self.lab.books))
            launch = self.lab.supervisor.start(plan, anyway=anyway)
        except Exception as error:
            self.post_message(self.NotDone(error))
        else:
            if desk is not None:
                desk.launched.add(launch.launch_id)
            self.post_message(self.Launched())

    @on(Launched)
    def _launched(self) -> None:
        self.show_server(replace(self._moment, doing="", fault=None, figures=None, log=()))
        self.lab.look_at_server()

    def action_attach(self) -> None:
        self.app.push_screen(AttachBox(), self._attach_to)

    def _attach_to(self, address: Address | None) -> None:
        if address is not None:
            self.show_server(replace(self._moment, fault=None, doing=f"asking {address.url}"))
            self.app.run_worker(partial(self._attach_there, address), group="launch", thread=True, exit_on_error=False)

    def _attach_there(self, address: Address) -> None:
        try:
            self.lab.supervisor.attach(address.url, address.key or None)
        except Exception as error:
            self.post_message(self.NotDone(error))
        else:
            self.post_message(self.Launched())

    def _ask_to_stop(self, status: Status) -> None:
        if status.state == "foreign":
            question = "Let go of this server?"
            consequence = "labtui did not start it, so it goes on; labtui only forgets it."
            yes = "let go"
        else:
            question = "Stop the server?"
            consequence = f"Everyone and every program that uses {status.url or 'it'} loses it."
            if self.desk is not None and self.desk.busy:
                consequence += " Your run that is under way breaks off."
            if sweep_desk_of(self.lab).busy:
                consequence += " Your sweep that is under way breaks off; what it has is kept."
            yes = "stop it"
        self.app.push_screen(QuestionBox(question, consequence, yes), lambda agreed: self._stop() if agreed else None)

    def _stop(self) -> None:
        self.show_server(replace(self._moment, fault=None, doing="stopping"))
        self.app.run_worker(self._end, group="launch", thread=True, exit_on_error=False)

    def _end(self) -> None:
        supervisor, books = self.lab.supervisor, self.lab.books
        try:
            launch = supervisor.launch
            report = supervisor.stop(self._say_doing)
            if report.outcome == "stopped":
                books.submit(lambda store: record_stop(store, launch)).result()
        except Exception as error:
            self.post_message(self.NotDone(error))
        else:
            self.post_message(self.Stopped(report))

    def _say_doing(self, text: str) -> None:
        self.post_message(self.Doing(f"stopping: {text}"))

    @on(Doing)
    def _doing(self, event: Doing) -> None:
        self.show_server(replace(self._moment, doing=event.text))

    @on(Stopped)
    def _stopped(self, event: Stopped) -> None:
        report = event.report
        fault = None
        if not report.ok:
            fault = LabError(
                "Not all of the server is gone", report.message, "s tries again; labtui doctor says what holds the GPU."
            )
        self.show_server(replace(self._moment, doing="", fault=fault, figures=None))
        self.refresh_plan()
        self.lab.look_at_server()
        if report.ok:
            self.say(report.message)

    @on(NotDone)
    def _not_done(self, event: NotDone) -> None:
        self.show_server(replace(self._moment, doing="", fault=explained(event.error)))
        self.lab.look_at_server()


def explained(error: Exception) -> Explained:
    return error if is_explained(error) else reported(error, "the lab")
