from __future__ import annotations

from pathlib import Path

from labtui.screens.doctor import DoctorScreen
from labtui.serving.doctor import findings
from labtui.serving.preflight import Finding

STOPS = Finding("vllm", False, "vLLM is not installed", "no package vllm", "Install labtui with extra gpu.", True)
WARNS = Finding("shm", False, "Little shared memory", "64 MiB", "Start the container with --shm-size 1g.")
FINE = Finding("python", True, "Python 3.11")


async def test_it_looks_at_this_machine(running, monkeypatch) -> None:
    monkeypatch.setattr("labtui.serving.doctor.findings", lambda: findings(time_limit_s=0))
    async with running(size=(100, 60), keys=("d",)) as lab:
        assert isinstance(lab.screen, DoctorScreen)
        assert "✓" in lab.text
        assert "Looking at this machine" not in lab.text


async def test_faults_stand_with_what_to_do(running, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("labtui.serving.doctor.findings", lambda: [FINE, STOPS, WARNS])
    async with running(keys=("d",)) as lab:
        for words in ("✓ Python 3.11", "✗ vLLM is not installed", "→ Install labtui", "! Little shared memory"):
            assert words in lab.text
        assert "1 of these stop" in lab.line
        await lab.press("c")
        assert "vLLM is not installed" in (tmp_path / "state" / "labtui" / "copied.txt").read_text()
