"""Stopping through the real supervisor, with servers that do not go as they should."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

import psutil
import pytest

from labtui.errors import LabError
from labtui.serving import ports, processes, watching
from labtui.serving.state import StateFile
from labtui.serving.status import Status
from labtui.serving.stopping import stop_processes
from labtui.serving.supervisor import Supervisor

from .conftest import MACHINE, FakePlan

Until = Callable[..., Status]

LAUNCHES = int(os.environ.get("LABTUI_TEST_LAUNCHES", "20"))


def test_stop_ends_the_server_and_its_engine(supervisor: Supervisor, fake_plan: FakePlan, until: Until) -> None:
    state = supervisor.start(fake_plan(), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    assert any("EngineCore" in processes.describe(one) for one in processes.members(state.launch_id))
    said: list[str] = []
    report = supervisor.stop(said.append)
    assert (report.outcome, report.forced, report.exit_code) == ("stopped", False, 0)
    assert said
    assert processes.members(state.launch_id) == []
    assert supervisor.status() == Status("stopped")
    assert ports.port_is_free(state.port or 0)
    assert supervisor.stop().outcome == "nothing"


ENDS_LATE = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda number, frame: (time.sleep(0.4), sys.exit(7)))
print("up", flush=True)
while True: time.sleep(0.01)
"""


def test_a_process_that_lost_its_mark_while_ending_is_waited_for() -> None:
    """As the kernel shows it for a moment: no environment any more, no exit code yet."""
    with subprocess.Popen([sys.executable, "-c", ENDS_LATE], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        report = stop_processes(watching.unrecorded("no-such-mark"), [psutil.Process(child.pid)], reap=child.poll)
    assert (report.outcome, report.forced, report.exit_code) == ("stopped", False, 7)


def test_a_server_that_ignores_the_signal_is_killed(supervisor: Supervisor, fake_plan: FakePlan, until: Until) -> None:
    state = supervisor.start(fake_plan(on_term="ignore"), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    report = supervisor.stop(grace_s=0.3)
    assert (report.outcome, report.forced) == ("stopped", True)
    assert processes.members(state.launch_id) == []


def test_an_engine_that_its_server_leaves_behind_is_ended_too(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    state = supervisor.start(fake_plan(on_term="leave-engine"), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    report = supervisor.stop(grace_s=0.5)
    assert (report.outcome, report.forced) == ("stopped", True)
    assert processes.members(state.launch_id) == []


def test_an_orphan_is_found_named_and_offered_for_stopping(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    plan = fake_plan()
    state = supervisor.start(plan, machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    os.kill(state.pid or 0, signal.SIGKILL)
    status = until(supervisor, lambda status: "VLLM::EngineCore" in status.message)
    assert (status.state, status.stage) == ("dying", None)
    assert "serve stop" in status.message
    with pytest.raises(LabError, match="Something of an earlier server") as raised:
        Supervisor(supervisor.state_dir).start(plan, machine=MACHINE)
    assert "VLLM::EngineCore" in raised.value.cause
    assert supervisor.stop(grace_s=5).outcome == "stopped"
    assert processes.members(state.launch_id) == []
    assert supervisor.status() == Status("stopped")


def test_an_orphan_without_a_record_is_found_by_its_mark(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    state = supervisor.start(fake_plan(), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    StateFile(supervisor.state_dir).remove()
    with pytest.raises(LabError, match="Something of an earlier server"):
        Supervisor(supervisor.state_dir).start(fake_plan(), machine=MACHINE)
    assert supervisor.stop(grace_s=5).outcome == "stopped"
    assert processes.members(state.launch_id) == []


def test_leftovers_are_ended_and_the_server_in_use_goes_on(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    earlier = supervisor.start(fake_plan(), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    os.kill(earlier.pid or 0, signal.SIGKILL)
    until(supervisor, lambda status: "VLLM::EngineCore" in status.message)
    assert [one.launch_id for one in supervisor.others().ours] == [earlier.launch_id]
    StateFile(supervisor.state_dir).remove()
    elsewhere = Supervisor(supervisor.state_dir.parent / "another")
    try:
        theirs = elsewhere.start(fake_plan(), machine=MACHINE)
        # A server that was started before this one was looked for: as after a crash between the two.
        StateFile(supervisor.state_dir).write(theirs)
        assert supervisor.stop_leftovers(grace_s=5).outcome == "stopped"
        assert processes.members(earlier.launch_id) == []
        assert processes.members(theirs.launch_id) != []
        assert supervisor.stop_leftovers().outcome == "nothing"
        assert until(elsewhere, lambda status: status.state == "ready").pid == theirs.pid
    finally:
        StateFile(supervisor.state_dir).remove()
        elsewhere.stop(grace_s=1)


def test_an_engine_of_others_is_named_and_not_touched(supervisor: Supervisor) -> None:
    code = "print(1, flush=True); import threading; threading.Event().wait()"
    words = ["VLLM::EngineCore", "-c", code]
    with subprocess.Popen(words, executable=sys.executable, stdout=subprocess.PIPE) as foreign:
        assert foreign.stdout is not None
        foreign.stdout.readline()
        others = supervisor.others()
        assert foreign.pid in [one.pid for one in others.foreign]
        assert others.ours == ()
        assert f"VLLM::EngineCore (pid {foreign.pid}, for " in " ".join(one.words() for one in others.foreign)
        assert supervisor.stop_leftovers().outcome == "nothing"
        assert supervisor.stop().outcome == "nothing"
        assert foreign.poll() is None
        foreign.kill()


def test_many_launches_ended_at_random_moments_leave_nothing(supervisor: Supervisor, fake_plan: FakePlan) -> None:
    """No process left, no record that lies, and a bystander that nobody touches."""
    chance = random.Random(20)
    with subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"]) as bystander:
        try:
            for _ in range(LAUNCHES):
                behaviour = chance.choice([{}, {"on_term": "ignore"}, {"on_term": "leave-engine"}, {"health": 503}])
                state = supervisor.start(fake_plan(**behaviour), machine=MACHINE)
                moment = chance.choice(["at once", "soon", "ready"])
                if moment == "ready" and "health" not in behaviour:
                    supervisor.wait_ready()
                elif moment == "soon":
                    threading.Event().wait(chance.uniform(0, 0.3))
                for process in processes.members(state.launch_id):
                    if chance.random() < 0.4:
                        process.kill()
                one = chance.choice([supervisor, Supervisor(supervisor.state_dir)])
                one.status(wait_s=0.05)
                report = one.stop(grace_s=0.2)
                assert report.ok, report
                assert processes.leftovers(supervisor.state_dir) == []
                assert supervisor.launch is None
                assert supervisor.status() == Status("stopped")
            assert bystander.poll() is None
        finally:
            bystander.kill()


def test_looking_while_another_labtui_stops_it_is_no_death(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    supervisor.start(fake_plan(), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    seen: list[Status] = []
    stopping = threading.Thread(target=Supervisor(supervisor.state_dir).stop)
    stopping.start()
    while stopping.is_alive():
        seen.append(supervisor.status(wait_s=0))
    stopping.join()
    seen.append(supervisor.status())
    assert {status.state for status in seen} <= {"ready", "dying", "stopped"}
    assert seen[-1] == Status("stopped")
    assert not any(status.died for status in seen)


def test_a_stop_that_was_interrupted_is_no_crash(supervisor: Supervisor, fake_plan: FakePlan, until: Until) -> None:
    state = supervisor.start(fake_plan(), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    file = StateFile(supervisor.state_dir)
    file.write(replace(state, stopping_at=state.started_at))
    assert supervisor.status().message == "it was asked to stop"
    for process in processes.members(state.launch_id):
        process.kill()
    assert until(supervisor, lambda status: status.state == "stopped") == Status("stopped")
