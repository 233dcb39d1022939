from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from labtui.errors import USAGE, LabError
from labtui.serving.docker import docker_command, docker_text
from labtui.serving.gpu import Gpu
from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import make_plan

from .conftest import MACHINE

H100 = Gpu(0, "NVIDIA H100", 79.65, 79.0, (9, 0))
BOX = Machine((H100, H100), 100.0, Vllm("0.33.0", cpu=False, program=("vllm",)))


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)


def test_the_container_runs_the_flags_of_the_plan(tmp_path: Path) -> None:
    plan = make_plan(
        "bf16", machine=BOX, port=8123, sampler=["t_min=0.3"], state_dir=tmp_path, extra_flags=["--seed", "4"]
    )  # fmt: skip
    words = docker_command(plan)
    image = words.index("vllm/vllm-openai:v0.33.0")
    inside = words[image + 1 :]
    own = [word for flag in plan.flags if flag.name not in ("--host", "--port") for word in flag.argv]
    own[own.index("--generation-config") + 1] = "/sampler"
    assert inside == ["google/diffusiongemma-26B-A4B-it", *own, "--seed", "4"]
    assert f"{plan.sampler.folder}:/sampler:ro" in words[:image]  # type: ignore[union-attr]
    assert f"{tmp_path / 'hf'}:/root/.cache/huggingface" in words[:image]
    assert "127.0.0.1:8123:8000" in words, "reachable from this machine only"


def test_no_key_is_in_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "sk-secret")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    text = docker_text(make_plan("bf16", machine=BOX))
    assert "secret" not in text
    assert " -e VLLM_API_KEY -e HF_TOKEN " in text
    assert "labtui serve attach http://127.0.0.1:" in text


def test_several_cards_and_nothing_of_this_machines_python() -> None:
    words = docker_command(make_plan("bf16", machine=BOX, gpus=2))
    assert words[words.index("--gpus") + 1] == "2"
    assert "--ipc=host" in words
    assert not any("PYTHONPATH" in word for word in words)
    alone = docker_command(make_plan("bf16", vram_gib=80, machine=MACHINE))
    assert '"device=0"' in alone
    assert "vllm/vllm-openai:v0.32.0" in alone, "the version here is the CPU build's"
    assert shlex.split(shlex.join(alone)) == alone


def test_practice_and_a_cluster_are_refused() -> None:
    for choices in ({"checkpoint_id": "practice"}, {"checkpoint_id": "bf16", "ray": True}):
        with pytest.raises(LabError) as raised:
            docker_command(make_plan(**choices, machine=BOX))  # type: ignore[arg-type]
        assert raised.value.exit_code == USAGE
