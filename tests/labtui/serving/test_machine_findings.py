from __future__ import annotations

import io
import os
import resource
import shutil
import socket
from types import SimpleNamespace

import pytest

from labtui.serving import machine_findings as looks
from labtui.serving.gpu import Gpu

GIB = 2**30


def card(**changes: object) -> Gpu:
    values = {
        "index": 0,
        "name": "NVIDIA H200",
        "total_gib": 140.0,
        "free_gib": 139.0,
        "compute_capability": (9, 0),
        "driver": "580.65.06",
        "cuda": "13.0",
    }
    return Gpu(**(values | changes))  # type: ignore[arg-type]


def test_no_gpu_is_no_fault(monkeypatch):
    monkeypatch.setattr(looks, "gpus", lambda: ())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    [finding] = looks.graphics()
    assert finding.ok
    assert "practice checkpoint" in finding.title
    assert "CUDA_VISIBLE_DEVICES" in finding.cause


def test_a_gpu_is_shown_with_its_memory_and_driver(monkeypatch):
    monkeypatch.setattr(looks, "gpus", lambda: (card(),))
    [finding] = looks.graphics()
    assert finding.ok
    assert finding.title == "GPU 0: NVIDIA H200, 139.0 of 140.0 GiB free"
    assert finding.cause == "Compute capability 9.0, driver 580.65.06, CUDA 13.0."


@pytest.mark.parametrize(("driver", "old"), [("570.86.15", True), ("580.1", False), (None, False), ("odd", False)])
def test_an_old_driver_is_named(monkeypatch, driver, old):
    monkeypatch.setattr(looks, "gpus", lambda: (card(driver=driver),))
    assert [finding.id for finding in looks.graphics() if not finding.ok] == (["driver"] if old else [])


@pytest.mark.parametrize(
    ("free", "limit", "ok"), [(20, None, True), (1.5, None, False), (20, 1.0, False), (20, 64.0, True)]
)
def test_memory_and_the_container_s_share_of_it(monkeypatch, free, limit, ok):
    monkeypatch.setattr(looks.psutil, "virtual_memory", lambda: SimpleNamespace(available=free * GIB, total=32 * GIB))
    monkeypatch.setattr(looks, "_container_limit", lambda: limit)
    finding = looks.memory()
    assert finding.ok is ok
    assert ("container may use" in finding.cause) == (limit == 1.0)


def test_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "not" / "there" / "yet"))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=30e9, total=1e12))
    [finding] = looks.disk()
    assert finding.ok
    assert "30 GB" in finding.title
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=3e9, total=1e12))
    [finding] = looks.disk()
    assert not finding.ok
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    [finding] = looks.disk()
    assert "chown" in finding.fix


@pytest.fixture
def no_token(monkeypatch, tmp_path):
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    return tmp_path


def test_a_token_is_told_of_and_never_shown(monkeypatch, no_token):
    assert looks.token().title.startswith("No Hugging Face token")
    (no_token / "token").write_text("hf_secret")
    finding = looks.token()
    assert "lies in" in finding.title
    assert "hf_secret" not in repr(finding)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    finding = looks.token()
    assert "in the environment" in finding.title
    assert "hf_secret" not in repr(finding)


def test_offline_variables(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TRANSFORMERS_OFFLINE", "0")
    [finding] = looks.offline()
    assert finding.id == "offline-hf-hub-offline"
    assert not finding.ok


def test_a_taken_port_says_by_whom(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(looks.ports, "DEFAULT_PORT", taken.getsockname()[1])
        assert f"pid {os.getpid()}" in looks.port().title
    assert looks.port().title.endswith("is free")


def test_limits(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, 1024))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(total=64 * 2**20))
    faults = {finding.id: finding for finding in looks.limits() if not finding.ok}
    assert "ulimit -n 65535" in faults["open-files"].fix
    if looks.Path("/dev/shm").exists():
        assert "--shm-size" in faults["shared-memory"].fix


def test_a_compiler_is_wanted_on_a_gpu_only(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(looks, "gpus", lambda: ())
    assert looks.compiler().ok
    monkeypatch.setattr(looks, "gpus", lambda: (card(),))
    assert not looks.compiler().ok


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    def put(encoding: str = "utf-8", size: tuple[int, int] = (120, 40), **variables: str):
        monkeypatch.setattr(looks.sys, "stdout", Terminal(io.BytesIO(), encoding=encoding))
        monkeypatch.setattr(shutil, "get_terminal_size", lambda fallback: os.terminal_size(size))
        for name in ("TMUX", "STY", "SSH_CONNECTION", "NO_COLOR", "COLORTERM"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm-256color")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return {finding.id: finding for finding in looks.terminal()}

    return put


def test_a_good_terminal(terminal):
    here = terminal(TMUX="/tmp/tmux-1000/default,1,0", SSH_CONNECTION="10.0.0.7 1 10.0.0.8 22", COLORTERM="truecolor")
    assert here["terminal"].ok
    assert here["terminal"].title == "Terminal xterm-256color, 120×40, all colours"
    assert here["terminal"].cause == "Inside tmux and SSH."
    assert here["encoding"].ok


def test_terminals_with_a_fault(terminal):
    assert not terminal(TERM="dumb")["terminal"].ok
    assert "60×20" in terminal(size=(60, 20))["terminal"].title
    assert not terminal(encoding="ascii")["encoding"].ok
    assert terminal(NO_COLOR="1")["terminal"].ok
