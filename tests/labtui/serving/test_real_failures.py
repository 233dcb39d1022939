"""The real vLLM, told to do what it cannot: labtui names the cause, offers what helps, and nothing stays behind.

Preflight would stop most of these before they start; here it is left out on purpose.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from labtui.serving import processes
from labtui.serving.machine import installed_vllm
from labtui.serving.plan import Plan, make_plan
from labtui.serving.status import Status
from labtui.serving.supervisor import Supervisor

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(600),
    pytest.mark.skipif(installed_vllm() is None, reason="vLLM is not installed"),
]

Until = Callable[..., Status]


@pytest.fixture
def dies(tmp_path: Path, until: Until, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Plan], Status]]:
    monkeypatch.setattr("labtui.serving.supervisor.preflight", lambda plan, machine: [])
    supervisor = Supervisor(tmp_path / "state")

    def start(plan: Plan) -> Status:
        supervisor.start(plan)
        status = until(supervisor, lambda status: status.state == "stopped", 300)
        assert status.died and status.exit_code not in (None, 0)
        assert processes.leftovers(supervisor.state_dir) == []
        return status

    yield start
    supervisor.stop()


def offered(status: Status, folder: Path) -> str | None:
    found = Supervisor(folder / "state").offers(status)
    return found[0][1].words if found else None


def test_a_flag_that_it_does_not_know(dies: Callable[[Plan], Status], tmp_path: Path) -> None:
    status = dies(make_plan("practice", extra_flags=["--max-num-sekquences", "2"]))
    assert [cause.id for cause in status.causes] == ["flag-unknown"]
    assert offered(status, tmp_path) == "without --max-num-sekquences"


def test_a_cache_too_small_for_one_request(dies: Callable[[Plan], Status], tmp_path: Path) -> None:
    status = dies(make_plan("practice", extra_flags=["--kv-cache-memory-bytes", "700000"]))
    assert status.causes[0].id in ("kv-cache-too-small", "kv-cache-too-small-for-any", "no-cache-blocks")
    words = offered(status, tmp_path)
    assert words is not None and words.startswith("requests of ")


def test_a_folder_without_a_model(dies: Callable[[Plan], Status], tmp_path: Path) -> None:
    plan = make_plan("practice")
    empty = replace(plan.checkpoint, model=str(tmp_path / "no-such-model"))
    status = dies(replace(plan, checkpoint=empty))
    assert status.causes, status.last_line
    assert offered(status, tmp_path) is None


def test_a_port_that_is_taken(dies: Callable[[Plan], Status], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        status = dies(make_plan("practice", port=port))
    assert [cause.id for cause in status.causes] == ["port-taken"]
    words = offered(status, tmp_path)
    assert words is not None and words.endswith(f"instead of {port}")
