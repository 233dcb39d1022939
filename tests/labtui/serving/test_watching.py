"""What only the parts of a status show; whole lives are in test_supervisor.py."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from labtui.serving import processes, readiness
from labtui.serving.readiness import Health
from labtui.serving.state import StateFile
from labtui.serving.status import status_to_json
from labtui.serving.watching import Watch

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
