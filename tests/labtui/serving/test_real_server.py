"""The life of a real vLLM server. The fake's part is what the real one cannot be made to show."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labtui.serving import processes, readiness
from labtui.serving.machine import installed_vllm
from labtui.serving.state import StateFile
from labtui.serving.status import Status
from labtui.serving.supervisor import Supervisor

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(600),
    pytest.mark.skipif(installed_vllm() is None, reason="vLLM is not installed"),
]

Until = Callable[..., Status]
ROOT = Path(__file__).parents[3]

START = """
import os, sys
from pathlib import Path
from labtui.serving.plan import make_plan
from labtui.serving.supervisor import Supervisor
supervisor = Supervisor(Path(sys.argv[1]))
supervisor.start(make_plan("practice"))
supervisor.wait_ready()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "state"
    Supervisor(tmp_path / "state").stop()


def test_it_outlives_its_starter_is_used_by_the_next_and_dies_with_its_engine(folder: Path, until: Until) -> None:
    done = subprocess.run([sys.executable, "-c", START, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    supervisor = Supervisor(folder)
    status = supervisor.status()
    assert (status.state, status.checkpoint, status.practice) == ("ready", "practice", True)
    assert status.ready_after_s is not None
    assert status.facts["kv_tokens"] > 0

    endpoint = supervisor.endpoint()
    readiness.ask_for_one_token(endpoint.root, endpoint.api_key, endpoint.model, 120)
    with pytest.raises(readiness.Unanswered) as refused:
        readiness.served(endpoint.root, "a wrong key")
    assert refused.value.status == 401

    launch = supervisor.launch
    assert launch is not None
    named = {processes.describe(one).partition(" ")[0]: one for one in processes.members(launch.launch_id)}
    assert "VLLM::EngineCore" in named, "vLLM's own processes carry the mark"
    named["VLLM::EngineCore"].kill()
    died = until(supervisor, lambda status: status.state == "stopped")
    assert died.died
    assert [cause.id for cause in died.causes] == ["engine-vanished"]
    assert processes.leftovers(folder) == []
    assert supervisor.stop().outcome == "nothing"
    assert StateFile(folder).read() is None
