"""The life of the one server: start, watch, find again, stop.

What is known of it lies in the state folder and not in a process, so the server outlives the terminal, and the next
labtui takes over.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from labtui.errors import LabError
from labtui.serving import attaching, launching, processes, watching
from labtui.serving.asked import asked_from_json
from labtui.serving.diagnosis import Cause
from labtui.serving.leftovers import OtherEngines, other_engines
from labtui.serving.log_tail import last_lines
from labtui.serving.machine import Machine, read_machine
from labtui.serving.measured import MeasuredLaunch
from labtui.serving.plan import Plan, make_plan
from labtui.serving.preflight import blocking, preflight
from labtui.serving.remedies import Remedy, remedies
from labtui.serving.run_conditions import run_conditions
from labtui.serving.server_errors import already_running, not_there
from labtui.serving.state import Ending, ServerState, StateFile, default_state_folder
from labtui.serving.status import Status
from labtui.serving.stopping import GRACE_S, OnProgress, StopReport, stop_processes

if TYPE_CHECKING:
    from exercises.endpoint import Endpoint

POLL_S = 0.5
NEVER_STARTED_AFTER_S = 10.0


class Supervisor:
    """All calls may block for some seconds: make them from a worker. Threads may share one object.

    ready_estimate: seconds that a launch of this plan key took the last time, for those who keep such figures.
    """

    def __init__(
        self, state_dir: Path | None = None, *, ready_estimate: Callable[[str], float | None] | None = None
    ) -> None:
        self.state_dir = state_dir or default_state_folder()
        self._file = StateFile(self.state_dir)
        self._watch = watching.Watch(self._file, ready_estimate or (lambda key: None))
        self._watching = threading.Lock()
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    # --- starting

    def start(self, plan: Plan, *, anyway: bool = False, machine: Machine | None = None) -> ServerState:
        """Start the server and return at once; `wait_ready` or `status` tell how it goes.

        A server of the same plan that runs already is returned as it is. Raises LabError where another one runs, where
        something of an earlier one is left, or where preflight finds what would stop it (anyway overrides estimates).
        """
        with self._file.locked("start it"):
            state = self._read()
            if state is not None and state.kind == "launched" and state.ended is None:
                if state.pid is None:
                    state = self._adopt(state)
                if self._is_running(state):
                    if state.plan_key == plan.key and (not plan.port_asked or state.port == plan.port):
                        return state
                    raise already_running(state)
                self._forget_children()
            self._refuse_leftovers()
            machine = machine or read_machine()
            problems = blocking(preflight(plan, machine), anyway=anyway)
            if problems:
                first = problems[0]
                more = f" ({len(problems) - 1} more: {', '.join(one.title for one in problems[1:])})"
                raise LabError(first.title, first.cause + (more if len(problems) > 1 else ""), first.fix)
            return self._launch(plan, machine)

    def _launch(self, plan: Plan, machine: Machine) -> ServerState:
        state = launching.intent(plan, machine, self._file)
        # Written before the process exists: if we die in between, its mark still finds it.
        self._file.write(state)
        try:
            child = launching.start_process(plan, state, self.state_dir)
        except LabError:
            self._file.remove()
            raise
        self._children[child.pid] = child
        return self._record_process(state, child.pid)

    def _record_process(self, state: ServerState, pid: int) -> ServerState:
        state = replace(state, pid=pid)
        with contextlib.suppress(psutil.Error):
            state = replace(state, process_start=processes.settled_start_of(psutil.Process(pid)))
        self._file.write(state)
        return state

    def _refuse_leftovers(self) -> None:
        left = processes.leftovers(self.state_dir)
        if left:
            names = ", ".join(processes.describe(one) for one in left)
            raise LabError(
                "Something of an earlier server is still running",
                f"{names}, started by labtui, and its server is gone. It may hold the GPU's memory.",
                "End it with `labtui serve stop --leftovers`, then start again.",
            )

    # --- watching

    def status(self, *, wait_s: float = 2.0) -> Status:
        """What is true now. wait_s: how long to wait for the answer that makes a warming server ready."""
        state = self._read()
        if state is None:
            return Status("stopped")
        if state.kind == "attached":
            return attaching.status_of(state)
        with self._watching:
            return self._launched_status(state, wait_s)

    def _launched_status(self, state: ServerState, wait_s: float) -> Status:
        if state.ended is None and state.pid is None:
            with self._file.try_locked() as free:
                state = self._adopt(state) if free else state
        if state.ended is None and not self._is_running(state):
            left = processes.members(state.launch_id)
            if left:
                return self._watch.leftover(state, left)
            now = self._note_death(state)
            if now is None or now.launch_id != state.launch_id:
                return Status("stopped")
            state = now
        if state.ended == "stopped":
            return Status("stopped")
        if state.ended == "died":
            return self._watch.ended(state)
        return self._watch.running(state, wait_s)

    def wait_ready(
        self,
        on_status: Callable[[Status], None] | None = None,
        cancel: threading.Event | None = None,
        timeout_s: float | None = None,
    ) -> Status:
        """Wait until the server has answered our request, telling on_status twice a second where it stands.

        Returns the last status: "ready", or another one where cancel was set or timeout_s is over (the server goes on).
        Raises LabError (exit 3) with the named cause where the server is not there or died. A slow start is no failure.
        """
        began = time.monotonic()
        going_since: float | None = None
        cancel = cancel or threading.Event()
        while True:
            status = self.status(wait_s=POLL_S)
            if on_status is not None:
                on_status(status)
            if status.state in ("ready", "foreign"):
                return status
            now = time.monotonic()
            going_since = (going_since or now) if status.state == "dying" else None
            if status.state == "stopped" or (going_since is not None and now - going_since > GRACE_S):
                raise not_there(status)
            if timeout_s is not None and now - began >= timeout_s:
                return status
            if cancel.wait(POLL_S):
                return status

    def endpoint(self) -> Endpoint:
        """Where to send requests. Raises LabError (exit 3) where no server is ready."""
        from exercises.endpoint import Endpoint

        status = self.status()
        state = self._read()
        if state is None or not status.usable:
            raise not_there(status)
        evidence = {
            "launch": state.launch_id if state.kind == "launched" else None,
            "attached": state.kind == "attached",
            "command": list(state.command),
            "env": dict(state.env),
            "hardware": list(state.hardware),
            "sampler": dict(state.sampler),
            "model": state.root or state.model,
            "revision": state.revision,
            "vllm_version": status.vllm_version,
            "max_model_len": status.max_model_len,
            "server_started_at": state.started_at if state.kind == "launched" else None,
            **run_conditions(state.checkpoint, state.command, state.revision, status.facts),
        }
        return Endpoint(
            base_url=state.url,
            api_key=state.api_key,
            model=state.model,
            checkpoint=state.checkpoint,
            practice=state.practice,
            vllm_version=status.vllm_version,
            evidence={name: value for name, value in evidence.items() if value not in (None, [], {})},
        )

    @property
    def launch(self) -> ServerState | None:
        """What is recorded of the server, if anything; whether it lives is what `status` says."""
        return self._read()

    @property
    def log_path(self) -> Path | None:
        """The log of the recorded launch, else the newest one that is kept."""
        state = self._read()
        if state is not None and state.log_path is not None:
            return Path(state.log_path)
        kept = self._file.log_files()
        return kept[0] if kept else None

    def log_lines(self, count: int = 200) -> list[str]:
        path = self.log_path
        return [] if path is None else last_lines(path, count)

    def offers(
        self, status: Status, *, machine: Machine | None = None, measured: Iterable[MeasuredLaunch] = ()
    ) -> tuple[tuple[Cause, Remedy], ...]:
        """For a server that died: plans that avoid what ended it, best first, where a change of the plan does."""
        state = self._read()
        asked = None if state is None or not status.died else asked_from_json(state.asked)
        if asked is None or not status.causes:
            return ()
        try:
            before = make_plan(**asked.choices(), machine=machine)
        except LabError:
            return ()
        if state is not None and state.port is not None:
            before = replace(before, port=state.port)
        return remedies(before, status.causes, machine=machine, measured=measured)

    # --- another server

    def attach(self, url: str, api_key: str | None = None) -> ServerState:
        """Use a server that somebody else started. Our own, by its address, is returned as it is.

        Raises LabError (exit 3) where nothing usable answers there. The key may also come from LABTUI_API_KEY.
        """
        url = attaching.normalized(url)
        with self._file.locked("attach"):
            state = self._read()
            if state is not None and state.kind == "launched" and state.ended is None and self._is_running(state):
                if state.url == url:
                    return state
                raise already_running(state)
            attached = attaching.look_at(url, api_key or os.environ.get(launching.API_KEY_VARIABLE))
            self._file.write(attached)
            return attached

    # --- stopping

    def stop(self, on_progress: OnProgress | None = None, *, grace_s: float = GRACE_S) -> StopReport:
        """Stop our server and all of it. What is not proved ours is not touched; an attached server is only let go."""
        with self._file.locked("stop it"):
            state = self._read()
            if state is not None and state.kind == "attached":
                self._file.remove()
                message = f"{state.url} was not started by labtui: it goes on. labtui no longer uses it."
                return StopReport("foreign", message)
            found = [] if state is None else processes.members(state.launch_id)
            others = [one for one in processes.leftovers(self.state_dir) if one not in found]
            if not found and not others:
                self._forget_children()
                self._file.remove()
                died = state is not None and state.ended is None
                message = "The server had ended by itself." if died else "No server of ours is running."
                return StopReport("nothing", message)
            reports: list[StopReport] = []
            if state is not None and found:
                self._file.write(replace(state, stopping_at=time.time()))
                reports.append(self._stop(state, found, grace_s, on_progress))
            reports += self._stop_launches(others, grace_s, on_progress)
            if all(report.ok for report in reports):
                self._file.remove()
            return next((report for report in reports if not report.ok), reports[0])

    def others(self) -> OtherEngines:
        """What else of vLLM runs here: leftovers of ours, and engines of others, which are only named."""
        return other_engines(self.state_dir, self._in_use())

    def stop_leftovers(self, on_progress: OnProgress | None = None, *, grace_s: float = GRACE_S) -> StopReport:
        """End what earlier servers of ours left behind. The server in use goes on, and so does all that is not ours."""
        with self._file.locked("stop leftovers"):
            used = self._in_use()
            left = [one for one in processes.leftovers(self.state_dir) if processes.launch_of(one) not in used]
            if not left:
                return StopReport("nothing", "Nothing of an earlier server is running.")
            names = ", ".join(processes.describe(one) for one in left)
            reports = self._stop_launches(left, grace_s, on_progress)
            bad = next((report for report in reports if not report.ok), None)
            if bad is not None:
                return bad
            state = self._read()
            if state is not None and state.kind == "launched" and state.launch_id not in used:
                self._file.remove()
            return replace(reports[0], message=f"Ended what an earlier server had left: {names}.")

    def _in_use(self) -> tuple[str, ...]:
        """The launch that the record is of, while its own process lives or is just being started."""
        state = self._read()
        if state is None or state.kind != "launched" or state.ended is not None:
            return ()
        starting = state.pid is None and time.time() - state.started_at < NEVER_STARTED_AFTER_S
        return (state.launch_id,) if starting or self._is_running(state) else ()

    def _stop_launches(
        self, left: Sequence[psutil.Process], grace_s: float, on_progress: OnProgress | None
    ) -> list[StopReport]:
        launches = {launch_id for one in left if (launch_id := processes.launch_of(one)) is not None}
        return [
            self._stop(watching.unrecorded(launch_id), processes.members(launch_id), grace_s, on_progress)
            for launch_id in launches
        ]

    def _stop(
        self, state: ServerState, found: list[psutil.Process], grace_s: float, on_progress: OnProgress | None
    ) -> StopReport:
        return stop_processes(
            state, found, grace_s=grace_s, on_progress=on_progress, reap=lambda: self._exit_code(state.pid)
        )

    # --- what is recorded

    def _read(self) -> ServerState | None:
        return self._file.read()

    def _is_running(self, state: ServerState) -> bool:
        if state.pid in self._children:
            return self._exit_code(state.pid) is None
        return processes.leader(state) is not None

    def _exit_code(self, pid: int | None) -> int | None:
        """Collects a child of this very process, so that it is no zombie; None for a server that another started."""
        child = self._children.get(pid) if pid is not None else None
        return None if child is None else child.poll()

    def _forget_children(self) -> None:
        for pid in list(self._children):
            if self._children[pid].poll() is not None:
                del self._children[pid]

    def _adopt(self, state: ServerState) -> ServerState:
        """A starter died between its intent and its record: the mark finds the process, if there is one.

        The lock must be held.
        """
        head = processes.head_of(processes.members(state.launch_id))
        return state if head is None else self._record_process(state, head.pid)

    def _note_death(self, state: ServerState) -> ServerState | None:
        """The record, now that no process of it is left. A labtui that is stopping it has the last word."""
        if state.pid is None and time.time() - state.started_at < NEVER_STARTED_AFTER_S:
            return state
        with self._file.try_locked() as free:
            now = self._read()
            if not free or now is None or now.launch_id != state.launch_id or now.ended is not None:
                return now
            how: Ending = "died" if now.stopping_at is None else "stopped"
            ended = replace(now, ended=how, ended_at=time.time(), exit_code=self._exit_code(state.pid), api_key=None)
            self._file.write(ended)
            return ended
