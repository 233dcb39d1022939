"""Tries the variations of a plan, one launch each. Can be stopped at any moment and goes on where it was."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from labtui.errors import USAGE, LabError, is_explained
from labtui.serving.launching import hardware
from labtui.serving.machine import Machine
from labtui.serving.plan import Plan, make_plan
from labtui.serving.supervisor import Supervisor
from labtui.serving.tuning import (
    TOGETHER,
    Rate,
    Row,
    Table,
    TableFile,
    Variation,
    remaining,
    together,
    variations,
)

if TYPE_CHECKING:
    from exercises.endpoint import Endpoint
    from exercises.tasks import Task

ROUNDS = 5
WARMUP = 1

Measure = Callable[["Endpoint", Sequence[int], threading.Event], Mapping[int, Rate]]


@dataclass(frozen=True, slots=True)
class Step:
    """number and of: which launch of how many are planned now. left_s: None before one launch has shown how long."""

    number: int
    of: int
    variation: Variation
    doing: str
    left_s: float | None = None


@dataclass(frozen=True, slots=True)
class Tuned:
    table: Table
    finished: bool


class Tuner:
    """requests: how many at once the plan is to be good at; one request alone is measured too.

    measure: what a trial is; by default the checkpoint's coding task through exercises.sweep.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        plan: Plan,
        machine: Machine,
        *,
        requests: int = 1,
        measure: Measure | None = None,
        tried: Sequence[Variation] | None = None,
    ) -> None:
        if plan.asked is None:
            raise ValueError("a plan of make_plan is needed, which knows what was asked for")
        self.plan, self.asked, self.machine, self.requests = plan, plan.asked, machine, requests
        self._supervisor = supervisor
        self._measure = measure or measure_coding
        self._tried = tuple(tried) if tried is not None else variations(plan, machine)
        key = "\0".join((plan.key, *hardware(machine), *sorted(f"{name}={value}" for name, value in plan.env.items())))
        self.file = TableFile(supervisor.state_dir, hashlib.sha256(key.encode()).hexdigest()[:16])

    @property
    def at_once(self) -> tuple[int, ...]:
        return tuple(sorted({1, self.requests}))

    def table(self) -> Table:
        """What there is so far, kept by an earlier call or empty."""
        found = self.file.read()
        if found is not None:
            return found
        plan = self.plan
        name = self.file.path.stem
        checkpoint = plan.checkpoint
        return Table(name, checkpoint.id, checkpoint.practice, hardware(self.machine), plan.vllm_version)

    def run(self, on_step: Callable[[Step], None] | None = None, cancel: threading.Event | None = None) -> Tuned:
        """Launch, measure and stop until every variation has a row. Raises LabError where another server runs."""
        cancel = cancel or threading.Event()
        tell = on_step or (lambda step: None)
        table = self._without_own_server(self.table())
        self._refuse_a_server_in_use()
        spent: list[float] = []
        done = 0
        while not cancel.is_set():
            left = remaining(table, self._tried, self.at_once)
            if not left:
                last = together(table, self.requests)
                if last is None or any(row.variation.group == TOGETHER for row in table.rows):
                    return Tuned(table, True)
                left = [last]
            estimate = len(left) * sum(spent) / len(spent) if spent else None
            began = time.monotonic()
            step = Step(done + 1, done + len(left), left[0], "planning", estimate)
            row = self._try(table, step, tell, cancel)
            if row is None:
                break
            table = replace(table.with_row(row), launch_id=None)
            self.file.write(table)
            spent.append(time.monotonic() - began)
            done += 1
        return Tuned(self.table(), False)

    def _try(self, table: Table, step: Step, tell: Callable[[Step], None], cancel: threading.Event) -> Row | None:
        """None where it was stopped before it was measured: it is tried again the next time."""
        variation = step.variation

        def say(words: str) -> None:
            tell(replace(step, doing=words))

        made = make_plan(**variation.of(self.asked).choices(), machine=self.machine)
        plan = replace(made, env={**made.env, **variation.env})
        row = Row(variation, command=tuple(plan.argv), measured_at=datetime.now(UTC).isoformat(timespec="seconds"))
        try:
            state = self._supervisor.start(plan, anyway=True, machine=self.machine)
            self.file.write(replace(table, launch_id=state.launch_id))
            status = self._supervisor.wait_ready(lambda now: say(now.stage or now.state), cancel)
            if cancel.is_set():
                return None
            say("measuring")
            rates = self._measure(self._supervisor.endpoint(), self.at_once, cancel)
            if cancel.is_set():
                return None
            return replace(row, rates=rates, ready_after_s=status.ready_after_s)
        except Exception as error:
            if not is_explained(error):
                raise
            if cancel.is_set():
                return None
            return replace(row, failed=error.title)
        finally:
            say("stopping")
            self._supervisor.stop()

    def _without_own_server(self, table: Table) -> Table:
        """A tuning that was killed has left its server running."""
        launch = self._supervisor.launch
        if table.launch_id is not None and launch is not None and launch.launch_id == table.launch_id:
            self._supervisor.stop()
        return replace(table, launch_id=None)

    def _refuse_a_server_in_use(self) -> None:
        status = self._supervisor.status(wait_s=0)
        if status.state != "stopped":
            raise LabError(
                "A server is in use",
                f"It is {status.state}"
                + (f" on {status.url}" if status.url else "")
                + ", and each setting is tried with a server of its own.",
                "End it first: labtui serve stop",
                USAGE,
            )


def measure_coding(endpoint: Endpoint, at_once: Sequence[int], cancel: threading.Event) -> Mapping[int, Rate]:
    """The coding task, ROUNDS rounds for each number of requests at once. Raises ExerciseError."""
    from exercises.errors import ExerciseError
    from exercises.records import NotMeasurable
    from exercises.sweep import run_sweep
    from exercises.sweep_points import points_by_concurrency

    points = points_by_concurrency(_task(endpoint), at_once)
    # The same seed for every launch: the same prompts. Answers are drawn at random all the same.
    sweep = run_sweep(
        "concurrency", points, endpoint, rounds=ROUNDS, warmup=WARMUP, seed=1, cancel=cancel, run_code=False
    )
    if sweep.error is not None:
        raise sweep.error
    rates = {}
    for result in sweep.points:
        found = result.aggregate
        if not isinstance(found, NotMeasurable):
            rates[result.point.streams] = Rate(found.median, found.lowest, found.highest, found.n)
    if not rates and not cancel.is_set():
        raise ExerciseError("Nothing could be measured", "no round gave a rate", "labtui run coding shows more.")
    return rates


def _task(endpoint: Endpoint) -> Task:
    from exercises.tasks import find_task, task_set_for

    return find_task("coding", task_set_for(endpoint.checkpoint, endpoint.practice))
