from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import Plan, make_plan
from labtui.serving.status import Status
from labtui.serving.supervisor import Supervisor

TESTS = Path(__file__).parents[2]
FAKE = TESTS / "fakes" / "fake_vllm.py"
LOGS = TESTS / "fixtures" / "logs"

MACHINE = Machine(
    gpus=(),
    memory_available_gib=16.0,
    vllm=Vllm("0.32.0", cpu=True, program=(sys.executable, str(FAKE))),
)

FakePlan = Callable[..., Plan]


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def practice_weights(tmp_path: Path) -> Path:
    """A folder that looks complete: the fake never opens it."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


@pytest.fixture
def fake_plan(practice_weights: Path) -> FakePlan:
    """Plans for the fake: keywords are its behaviour (see fake_vllm.py)."""

    def plan(*, port: int | None = None, **behaviour: Any) -> Plan:
        made = make_plan("practice", port=port or unused_port(), machine=MACHINE)
        checkpoint = replace(made.checkpoint, model=str(practice_weights))
        texts = {key: str(value) if isinstance(value, Path) else value for key, value in behaviour.items()}
        env = {**made.env, "FAKE_VLLM": json.dumps(texts)}
        return replace(made, checkpoint=checkpoint, env=env, port_asked=port is not None)

    return plan


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    one = Supervisor(tmp_path / "state")
    yield one
    one.stop(grace_s=0.2)


@pytest.fixture
def until() -> Callable[..., Status]:
    """Looks until the status is as wanted; the deadline is only there so that a broken test ends."""

    def wait(supervisor: Supervisor, wanted: Callable[[Status], bool], limit_s: float = 120.0) -> Status:
        deadline = time.monotonic() + limit_s
        while True:
            status = supervisor.status(wait_s=0.1)
            if wanted(status):
                return status
            assert time.monotonic() < deadline, status
            time.sleep(0.02)

    return wait
