"""One real vLLM on the practice checkpoint, in a home of its own, for all tests marked real."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

START_LIMIT_S = 850
"""Only so that a broken test ends: on a busy machine a start takes minutes, and that is no failure."""


@dataclass
class RealLab:
    """`labtui` as a person runs it: its own process each time, one home for all.

    environment: what a process needs to be in that home. started: what `labtui serve start --wait` printed.
    """

    home: Path
    environment: dict[str, str]
    started: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *arguments: str, given: str = "", limit_s: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "labtui", *arguments],
            input=given,
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=limit_s,
        )

    def json(self, *arguments: str, code: int | None = 0, limit_s: float = 120) -> Any:
        done = self(*arguments, "--json", limit_s=limit_s)
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)


def home_environment(home: Path) -> dict[str, str]:
    """The variables that put everything labtui keeps below one folder."""
    return {
        "HOME": str(home),
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "STATE", "CACHE")},
    }


@pytest.fixture(scope="session")
def real_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealLab]:
    """A started and ready server; it is stopped at the end, and nothing of it may be left."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed here: ./lab test installs it")
    home = tmp_path_factory.mktemp("real-home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LABTUI_", "XDG_"))}
    lab = RealLab(home, {**kept, **home_environment(home)})
    try:
        lab.started = lab.json("serve", "start", "--checkpoint", "practice", "--wait", limit_s=START_LIMIT_S)
        yield lab
    finally:
        stopped = lab("serve", "stop")
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert lab.json("serve", "status")["state"] == "stopped"


@pytest.fixture
def in_real_home(real_lab: RealLab, monkeypatch: pytest.MonkeyPatch) -> RealLab:
    """As real_lab, with this very process in its home, for tests that drive the app in process."""
    for name, value in home_environment(real_lab.home).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("LABTUI_STORE", raising=False)
    return real_lab
