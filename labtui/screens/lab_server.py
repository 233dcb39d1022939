"""The server's side of the lab: its plan, its start and stop, and what is seen of it while it lives."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from labtui.bug_report import reported
from labtui.errors import Explained, LabError, is_explained
from labtui.launch_record import record_stop
from labtui.screens.lab_boxes import Address, AttachBox, QuestionBox
from labtui.screens.lab_desk import RunDesk
from labtui.screens.lab_planning import PlanChoice, Planned, choice_of, kept_choice, measured_here, plan_for, planned
from labtui.screens.lab_watch import ServerWatch
from labtui.screens.sweep_desk import sweep_desk_of
from labtui.widgets.server_lines import WayOut, changed_flags

if TYPE_CHECKING:
    from labtui.serving.status import Status
    from labtui.serving.stopping import StopReport


class ServerWork(ServerWatch):
    """A page with a ServerPanel. Starting and stopping go on when the page is left; handlers own what is shown."""

    class PlanSeen(Message):
        def __init__(self, planned: Planned) -> None:
            super().__init__()
            self.planned = planned

    class EstimateSeen(Message):
        def __init__(self, plan_key: str, estimate_s: float | None) -> None:
            super().__init__()
            self.plan_key, self.estimate_s = plan_key, estimate_s

    class WaysOutSeen(Message):
        """Other plans that avoid what ended the server, best first."""

        def __init__(self, ways_out: tuple[WayOut, ...]) -> None:
            super().__init__()
            self.ways_out = ways_out

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
        self._estimated_for: str | None = None
        self._sought_for: str | None = None

    # --- what is shown

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
        found = supervisor.offers(status, measured=measured_here(self.lab.books))
        if found and status.launch_id is not None:
            launch = supervisor.launch
            before = () if launch is None else launch.command
            ways = [
                WayOut(status.launch_id, remedy, changed_flags(remedy.plan, before) if before else "")
                for _, remedy in found
            ]
            self.post_message(self.WaysOutSeen(tuple(ways)))

    @on(WaysOutSeen)
    def _ways_out_seen(self, event: WaysOutSeen) -> None:
        self.show_server(replace(self._moment, ways_out=event.ways_out))
        self.plan_seen()

    def take_way_out(self, number: int) -> None:
        """number: from 1, as the panel lists them."""
        self.open_way_out(self._moment.offers[number - 1])

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
