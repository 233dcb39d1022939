"""What only the parts of a status show; whole lives are in test_supervisor.py."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from labtui.serving import live_figures, processes, readiness
from labtui.serving.live_figures import Reading, look_once
from labtui.serving.readiness import Health
from labtui.serving.state import StateFile
from labtui.serving.status import status_to_json
from labtui.serving.supervisor import Supervisor
from labtui.serving.watching import Watch

from .conftest import MACHINE, FakePlan
from .test_state import STATE


@pytest.fixture
def file(tmp_path: Path) -> StateFile:
    return StateFile(tmp_path / "state")


def test_bytes_in_the_cache_are_the_progress_of_a_download(
    file: StateFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM hides its bar: 52 GB arrive in silence."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(readiness, "health", lambda url: Health.ABSENT)
    blobs = tmp_path / "models--google--diffusiongemma-26B-A4B-it" / "blobs"
    blobs.mkdir(parents=True)
    with (blobs / "a.incomplete").open("wb") as half:
        half.truncate(13 * 10**9)
    log = file.new_log("launch")
    log.write_text("(EngineCore pid=2) INFO 06-10 21:08:44 [x.py:1] Loading model from scratch...\n")
    state = replace(STATE, log_path=str(log), root="google/diffusiongemma-26B-A4B-it", download_gb=52.0)
    status = Watch(file, lambda key: None).running(state, 0)
    assert (status.state, status.stage, status.share) == ("starting", "downloading weights, 13.0 of 52.0 GB", 0.25)


@pytest.mark.parametrize(
    ("health", "state", "said"),
    [
        (Health.ALIVE, "ready", ""),
        (Health.SILENT, "ready", "busy"),
        (Health.DEAD, "dying", "engine has died"),
        (Health.ABSENT, "dying", "no longer listens"),
    ],
)
def test_a_ready_server_is_looked_at_again(
    file: StateFile, monkeypatch: pytest.MonkeyPatch, health: Health, state: str, said: str
) -> None:
    monkeypatch.setattr(readiness, "health", lambda url: health)
    status = Watch(file, lambda key: None).running(replace(STATE, ready_at=STATE.started_at + 20), 0)
    assert status.state == state
    assert said in status.message
    assert status.ready_after_s == 20


def test_a_vllm_whose_log_nobody_knows_is_ready_when_it_answers(
    file: StateFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "health", lambda url: Health.ALIVE)
    monkeypatch.setattr(readiness, "ask_for_one_token", lambda *_: None)
    log = file.new_log("launch")
    log.write_text("words of a vLLM that comes after this program\n")
    file.write(replace(STATE, log_path=str(log)))
    status = Watch(file, lambda key: None).running(replace(STATE, log_path=str(log)), 30)
    assert status.state == "ready"
    kept = file.read()
    assert kept is not None and kept.ready_at is not None


def test_json_has_the_shape_of_the_design(file: StateFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "health", lambda url: Health.ALIVE)
    data = status_to_json(Watch(file, lambda key: 41.0).running(replace(STATE, ready_at=1.0, plan_key="k"), 0))
    assert data.keys() >= {"state", "stage", "pid", "url", "checkpoint", "since_s"}
    assert (data["state"], data["practice"], data["estimate_s"]) == ("ready", True, 41.0)
    assert "secret" not in str(data)


def test_a_process_proves_itself_by_all_marks() -> None:
    me = psutil.Process(os.getpid())
    state = replace(STATE, pid=me.pid, process_start=processes.start_of(me), command=tuple(me.cmdline()))
    assert processes.leader(state) is None, "this process carries no mark of a launch"
    assert processes.leader(replace(state, pid=None)) is None
    with pytest.raises(psutil.NoSuchProcess):
        processes.start_of(_gone())


def _gone() -> psutil.Process:
    """A process that has ended: its number may be anything later."""
    import subprocess
    import sys

    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = psutil.Process(child.pid)
        child.communicate(b"\n")
    return process


def test_a_request_that_gets_nothing_shows_as_stalled_with_its_time(
    supervisor: Supervisor, fake_plan: FakePlan, until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first two requests at once got nothing for 38 s on an H200, and the log said nothing."""
    page = tmp_path / "metrics"

    def shows(running: int, tokens: int) -> None:
        partial = tmp_path / "partial"
        partial.write_text(f"vllm:num_requests_running {running}\nvllm:generation_tokens_total {tokens}\n")
        partial.rename(page)

    shows(0, 1)
    clock = [0.0]

    def look(url: str, timeout_s: float) -> Reading | None:
        seen = look_once(url, 10.0)
        return None if seen is None else replace(seen, at_s=clock[0])

    monkeypatch.setattr(live_figures, "look_once", look)
    supervisor.start(fake_plan(metrics=page), machine=MACHINE)
    assert until(supervisor, lambda status: status.state == "ready").stalled_s is None
    shows(2, 1)
    for _ in range(39):
        clock[0] += 1
        status = supervisor.status()
    assert status.state == "ready"
    assert status.stalled_s == 38
    assert status.message == "stalled: requests are running and have got nothing for 38 s"
    assert status_to_json(status)["stalled_s"] == 38
    shows(2, 257)
    assert supervisor.status().stalled_s is None
