from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from labtui.serving import doctor
from labtui.serving.gpu import Gpu
from labtui.serving.machine import Vllm
from labtui.serving.preflight import Finding
from labtui.serving.vllm_cpu.obstacles import Obstacle

CARD = Gpu(index=0, name="NVIDIA H200", total_gib=140, free_gib=139)
CPU = Vllm("0.32.0", cpu=True, program=("vllm",))
CUDA = Vllm("0.32.0", cpu=False, program=("vllm",))


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "LABTUI_STORE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def by_id(found: list[Finding]) -> dict[str, Finding]:
    return {finding.id: finding for finding in found}


def test_everything_is_looked_at_once_and_said_in_full():
    found = doctor.findings(time_limit_s=0)
    assert {"python", "labtui", "vllm", "memory", "disk", "port", "hub-token", "terminal", "store"} <= set(by_id(found))
    assert len(by_id(found)) == len(found)
    for finding in found:
        assert finding.title
        assert finding.ok or (finding.cause and finding.fix), finding


def test_nothing_secret_and_no_home_in_it(monkeypatch, own_home):
    monkeypatch.setenv("HF_TOKEN", "hf_not_for_others")
    monkeypatch.setenv("VLLM_API_KEY", "key_not_for_others")
    text = doctor.to_text(doctor.findings(time_limit_s=0))
    assert "not_for_others" not in text
    assert str(own_home) not in text
    assert "~/.cache/huggingface/hub" in text


def test_text_and_json_say_the_same():
    found = [
        Finding("a", True, "Good", "For your information."),
        Finding("b", False, "Bad", "Because.", "Mend it.", blocking=True),
        Finding("c", False, "So so", "Because.", "Mend it some time."),
    ]
    assert doctor.to_text(found).splitlines() == [
        "✓ Good",
        "    For your information.",
        "✗ Bad",
        "    Because.",
        "  → Mend it.",
        "! So so",
        "    Because.",
        "  → Mend it some time.",
    ]
    rows = json.loads(doctor.to_json(found))["findings"]
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert rows[1] == {
        "id": "b",
        "ok": False,
        "blocking": True,
        "title": "Bad",
        "cause": "Because.",
        "fix": "Mend it.",
    }


@pytest.mark.parametrize(
    ("vllm", "cards", "faults"),
    [
        (CPU, (), {}),
        (CUDA, (CARD,), {}),
        (None, (), {"vllm": True}),
        (CPU, (CARD,), {"vllm-build": False}),
        (CUDA, (), {"vllm-build": True}),
        (Vllm("0.31.0", cpu=True, program=("vllm",)), (), {"vllm": False}),
        (Vllm("0.34.0", cpu=False, program=("vllm",)), (CARD,), {"vllm": False}),
        (Vllm(None, cpu=False, program=("/usr/bin/vllm",)), (CARD,), {}),
    ],
)
def test_the_installed_vllm_against_what_is_wanted(monkeypatch, vllm, cards, faults):
    """faults: the findings that are not in order, and whether they stop a launch."""
    monkeypatch.setattr(doctor, "gpus", lambda: cards)
    monkeypatch.setattr(doctor, "_wanted", lambda name: "==0.32.0" if name == "vllm-cpu" else "<0.34,>=0.32")
    found = list(doctor._vllm(vllm))
    assert {finding.id: finding.blocking for finding in found if not finding.ok} == faults


def test_what_is_wanted_is_read_from_the_package_itself():
    assert doctor._wanted("vllm-cpu") == "==0.32.0"
    assert doctor._wanted("vllm").startswith((">=", "<"))
    assert doctor._wanted("no-such-package") == ""


def test_obstacles_become_findings(monkeypatch):
    here = (
        Obstacle("cpu-a", "A stands in the way", "Cause.", "pip install a"),
        Obstacle("cpu-b", "B stands in the way", "Cause.", "pip install b", removed=False, blocking=True),
    )
    monkeypatch.setattr(doctor.obstacles, "obstacles", lambda: here)
    removed, blocking = doctor._obstacles()
    assert removed.ok
    assert "pip install a" in removed.cause
    assert not blocking.ok
    assert blocking.blocking
    assert blocking.fix == "pip install b"


def child(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def test_the_import_that_is_tried():
    good = child("")
    assert doctor._torchvision(good, 30).ok  # type: ignore[union-attr]
    bad = child("raise RuntimeError('operator torchvision::nms does not exist')")
    finding = doctor._torchvision(bad, 30)
    assert finding is not None
    assert finding.blocking
    assert finding.cause == "RuntimeError: operator torchvision::nms does not exist"


def test_an_import_that_takes_too_long_is_ended_and_not_judged(monkeypatch):
    slow = child("import time; time.sleep(60)")
    monkeypatch.setattr(doctor.obstacles, "obstacles", lambda: (Obstacle("cpu-a", "A", "B", "C"),))
    monkeypatch.setattr(doctor.obstacles, "start_torchvision_import", lambda: slow)
    found = by_id(doctor.findings(time_limit_s=0.05))
    assert "cpu-torchvision-import" not in found
    assert slow.returncode is not None


def test_the_store(monkeypatch, tmp_path):
    path = tmp_path / "kept.db"
    monkeypatch.setenv("LABTUI_STORE", str(path))
    assert doctor._store().title.startswith("Nothing is kept yet")
    with sqlite3.connect(path) as store:
        store.execute("PRAGMA journal_mode=wal")
        store.execute("CREATE TABLE run (id)")
    store.close()
    assert "journal mode wal" in doctor._store().title
    path.write_bytes(b"no database" * 100)
    finding = doctor._store()
    assert finding.blocking
    assert "labtui store check" in finding.fix


def test_home_alone_is_shortened(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))
    long = Finding("a", True, "/home/ann/x and /home/anna/x", "In /home/ann.", "cd '/home/ann'")
    short = doctor._without_home(long)
    assert (short.title, short.cause, short.fix) == ("~/x and /home/anna/x", "In ~.", "cd '~'")
