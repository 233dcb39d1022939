from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from labtui.serving import download_findings, processes, software_findings
from labtui.serving import preflight as module
from labtui.serving.gpu import Gpu, GpuProcess
from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import Plan, make_plan
from labtui.serving.preflight import Finding, blocking, preflight
from labtui.serving.vllm_cpu.obstacles import Obstacle

from .conftest import FakePlan

REACH = download_findings.reach
VLLM = Vllm("0.32.0", cpu=False, program=(sys.executable,))
H100 = Gpu(0, "NVIDIA H100", 79.65, 79.0, (9, 0))
BOX = Machine((H100,), 100.0, VLLM, flashinfer=True)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: SimpleNamespace(total=2e12, free=1e12))
    # This machine's torch is the CPU's and the hub is out of reach: a box with a card has others.
    monkeypatch.setattr(software_findings, "torch_cuda", lambda: "13.0")
    monkeypatch.setattr(software_findings, "compiled_parts", list)
    monkeypatch.setattr(download_findings, "reach", lambda address: None)


def found(plan: Plan, machine: Machine, name: str) -> Finding:
    return next(one for one in preflight(plan, machine) if one.id == name)


def test_a_good_box_has_no_fault() -> None:
    findings = preflight(make_plan("bf16", machine=BOX), BOX)
    assert all(one.ok for one in findings), [one for one in findings if not one.ok]
    assert {"vllm", "vllm-version", "gpu", "fit", "gpu-memory-0", "model", "disk", "port"} <= {
        one.id for one in findings
    }


def test_every_fault_has_cause_and_fix(fake_plan: FakePlan) -> None:
    bare = Machine((), 1.0, None)
    for checkpoint in ("bf16", "practice"):
        for one in preflight(make_plan(checkpoint, machine=bare), bare):
            assert one.ok or (one.title and one.cause and one.fix)


def test_no_vllm_gives_the_way_to_get_it() -> None:
    machine = Machine((), 16.0, None)
    plan = replace(make_plan("practice", machine=machine), program=("vllm-that-nobody-has",))
    one = found(plan, machine, "vllm")
    assert one.blocking and not one.overridable
    assert "./lab" in one.fix and "labtui[cpu]" in one.fix
    on_gpu = replace(make_plan("bf16", machine=BOX), program=("vllm-that-nobody-has",))
    assert "labtui[gpu]" in found(on_gpu, BOX, "vllm").fix


@pytest.mark.parametrize(
    ("version", "ok", "blocks"),
    [
        ("0.23.0", False, True),
        ("0.24.0", False, False),
        ("0.25.1", False, True),
        ("0.26.0", True, False),
        ("0.33.0", True, False),
    ],
)
def test_the_version_is_held_against_the_checkpoint(version: str, ok: bool, blocks: bool) -> None:
    machine = replace(BOX, vllm=replace(VLLM, version=version))
    one = found(make_plan("bf16", machine=machine), machine, "vllm-version")
    assert (one.ok, one.blocking) == (ok, blocks)


def test_memory_that_others_hold_is_named_and_never_touched() -> None:
    """The report that led here: an engine of an earlier server keeps the card (vllm issue 50282)."""
    held = replace(H100, free_gib=4.0, processes=(GpuProcess(1, 66.5), GpuProcess(999_999_999, None)))
    machine = replace(BOX, gpus=(held,))
    one = found(make_plan("bf16", machine=machine), machine, "gpu-memory-0")
    assert one.blocking and one.overridable
    assert "(pid 1, 66.5 GiB), not labtui's" in one.cause
    assert "outside this container (pid 999999999), not labtui's" in one.cause
    assert "--leftovers" not in one.fix
    assert "--gpu-memory-utilization" in one.fix


def test_an_engine_of_ours_on_the_card_is_named_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = dict(os.environ) | processes.marks("20261130-1", Path("/somewhere"))
    code = "print(1, flush=True); import threading; threading.Event().wait()"
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) as engine:
        assert engine.stdout is not None
        engine.stdout.readline()
        held = replace(H100, free_gib=4.0, processes=(GpuProcess(engine.pid, 60.0),))
        machine = replace(BOX, gpus=(held,))
        one = found(make_plan("bf16", machine=machine), machine, "gpu-memory-0")
        engine.kill()
    assert f"(pid {engine.pid}, 60.0 GiB), labtui's" in one.cause
    assert "serve stop --leftovers" in one.fix


@pytest.mark.parametrize(
    ("driver_cuda", "torch", "name", "blocks"),
    [
        ("12.8", "13.0", "driver", True),
        ("13.0", "13.0", "driver", False),
        ("13.1", "12.9", "driver", False),
        ("12.8", "", "torch-build", True),
    ],
)
def test_the_driver_is_held_against_the_cuda_of_torch(
    monkeypatch: pytest.MonkeyPatch, driver_cuda: str, torch: str, name: str, blocks: bool
) -> None:
    monkeypatch.setattr(software_findings, "torch_cuda", lambda: torch)
    machine = replace(BOX, gpus=(replace(H100, driver="570.1", cuda=driver_cuda),))
    one = found(make_plan("bf16", machine=machine), machine, name)
    assert one.blocking is blocks


def test_a_card_is_held_against_the_format() -> None:
    turing = replace(BOX, gpus=(replace(H100, name="Tesla T4", compute_capability=(7, 5)),))
    assert found(make_plan("bf16", machine=turing), turing, "compute-capability-0").blocking
    slow = found(make_plan("nvfp4", machine=BOX), BOX, "compute-capability-0")
    assert not slow.ok and not slow.blocking
    assert found(make_plan("fp8", machine=BOX), BOX, "compute-capability-0").ok


def test_a_hub_out_of_reach_is_said_before_the_download(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_findings, "reach", lambda address: "Network is unreachable")
    one = found(make_plan("bf16", machine=BOX), BOX, "hub")
    assert one.blocking and one.overridable and "unreachable" in one.cause


def test_a_hub_is_reached_by_its_address_or_the_proxys() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert REACH(f"http://127.0.0.1:{port}/x") is None
    assert REACH(f"http://127.0.0.1:{port}") is not None


def test_a_token_is_told_of_and_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_verysecret")
    findings = preflight(make_plan("bf16", machine=BOX), BOX)
    assert any(one.id == "hub-token" and "is set" in one.title for one in findings)
    assert "verysecret" not in str(findings)


def test_a_cache_of_root_is_named_with_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks = tmp_path / "hub" / ".locks"
    locks.mkdir(parents=True)
    monkeypatch.setattr(download_findings.os, "access", lambda path, mode: path != locks)
    one = found(make_plan("bf16", machine=BOX), BOX, "disk")
    assert one.blocking
    assert f"{locks} belongs to" in one.cause


def test_no_compiler_stops_a_card_and_not_the_cpu(monkeypatch: pytest.MonkeyPatch, fake_plan: FakePlan) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    one = found(make_plan("bf16", machine=BOX), BOX, "compiler")
    assert one.blocking and "no-such-compiler" in one.cause
    cpu = replace(BOX, gpus=(), vllm=replace(VLLM, cpu=True))
    assert not any(one.id == "compiler" for one in preflight(fake_plan(), cpu))


def test_a_torchvision_that_hinders_refuses_practice(monkeypatch: pytest.MonkeyPatch, fake_plan: FakePlan) -> None:
    hindering = Obstacle("cpu-torchvision", "torchvision is missing", "why", "pip install it", False, True)
    monkeypatch.setattr(
        software_findings.obstacles, "obstacles", lambda: (hindering, replace(hindering, blocking=False))
    )
    cpu = replace(BOX, gpus=(), vllm=replace(VLLM, cpu=True))
    assert [one.id for one in blocking(preflight(fake_plan(), cpu))] == ["cpu-torchvision"]


def test_what_does_not_fit_can_be_overridden() -> None:
    machine = replace(BOX, gpus=(replace(H100, total_gib=24.0, free_gib=23.9),))
    findings = preflight(make_plan("bf16", machine=machine), machine)
    assert [one.id for one in blocking(findings)] == ["fit"]
    assert blocking(findings, anyway=True) == []
    assert (
        "24.0" in found(make_plan("bf16", machine=machine), machine, "fit").cause
        or "too small" in found(make_plan("bf16", machine=machine), machine, "fit").cause
    )


def test_no_gpu_points_to_practice() -> None:
    machine = replace(BOX, gpus=())
    one = found(make_plan("bf16", machine=machine), machine, "gpu")
    assert one.blocking
    assert "practice" in one.fix


def test_fewer_gpus_than_planned() -> None:
    plan = make_plan("bf16", gpus=2, vram_gib=80, machine=BOX)
    assert "--gpus 1" in found(plan, BOX, "gpu").fix


def test_offline_without_the_model_is_said_before_vllm_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    one = found(make_plan("bf16", machine=BOX), BOX, "model")
    assert one.blocking
    assert "HF_HUB_OFFLINE" in one.cause


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: SimpleNamespace(total=1e12, free=20e9))
    one = found(make_plan("bf16", machine=BOX), BOX, "disk")
    assert one.blocking
    assert "54 GB" in one.title and "20 GB" in one.title
    assert "HF_HOME" in one.fix


def test_half_a_download_needs_the_rest_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = tmp_path / "hub" / "models--google--diffusiongemma-26B-A4B-it" / "blobs"
    blobs.mkdir(parents=True)
    with (blobs / "a.incomplete").open("wb") as file:
        file.truncate(50 * 10**9)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: SimpleNamespace(total=1e12, free=20e9))
    assert found(make_plan("bf16", machine=BOX), BOX, "disk").ok


def test_weights_that_are_not_all_there(fake_plan: FakePlan, practice_weights: Path) -> None:
    plan = fake_plan()
    machine = Machine((), 16.0, VLLM)
    assert found(plan, machine, "model").ok
    (practice_weights / "model.safetensors").unlink()
    assert found(plan, machine, "model").blocking
    shutil.rmtree(practice_weights)
    assert found(plan, machine, "model").blocking


@pytest.mark.parametrize(
    ("version", "own", "blocked"),
    [
        ("0.26.0", ("--max-num-seqs", "24", "--gpu-memory-utilization", "0.97"), True),
        ("0.24.0", ("--max-num-seqs", "24", "--gpu-memory-utilization", "0.95"), False),
        ("0.26.0", ("--max-num-seqs", "4"), False),
        ("0.26.0", (), False),
    ],
)
def test_more_canvases_at_once_than_the_sampler_has_room_for(version: str, own: tuple[str, ...], blocked: bool) -> None:
    """24 at 0.97 ended the start of vLLM 0.26 on an H200: fail-sampler-while-warming-up.log."""
    h200 = Gpu(0, "NVIDIA H200", 140.4, 139.9, (9, 0))
    machine = Machine((h200,), 100.0, Vllm(version, cpu=False, program=(sys.executable,)), flashinfer=True)
    one = found(make_plan("bf16", machine=machine, extra_flags=own), machine, "fit")
    assert one.blocking is blocked
    if blocked:
        assert one.overridable
        assert "--max-num-seqs 1," in one.fix and "--gpu-memory-utilization" in one.fix


def test_random_weights_need_the_shape_only(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text(
        f"""format_version = 1
        [[checkpoint]]
        id = "mine"
        title = "a folder of mine"
        model = "{tmp_path}/shape"
        practice = false
        disk_gb = 1.0
        resident_gib = 1.0
        min_vllm = "0.24.0"
        architecture = "gemma4-26b-a4b"
        source = "mine"
        """
    )
    dummy = ("--load-format", "dummy")
    assert found(make_plan("mine", machine=BOX, tables=[table], extra_flags=dummy), BOX, "model").blocking
    (tmp_path / "shape").mkdir()
    (tmp_path / "shape" / "config.json").write_text("{}")
    random = found(make_plan("mine", machine=BOX, tables=[table], extra_flags=dummy), BOX, "model")
    assert random.ok and "random" in random.title
    assert found(make_plan("mine", machine=BOX, tables=[table]), BOX, "model").blocking


def test_a_taken_port_names_its_holder(fake_plan: FakePlan) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        one = found(fake_plan(port=port), BOX, "port")
    assert one.blocking and not one.overridable
    assert "pid" in one.cause


def test_little_main_memory_for_practice(fake_plan: FakePlan) -> None:
    machine = Machine((), 1.0, VLLM)
    plan = make_plan("practice", machine=machine)
    assert found(plan, machine, "fit").blocking


def test_few_open_files_are_a_warning(fake_plan: FakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.resource, "getrlimit", lambda which: (1024, 1024))
    one = found(fake_plan(), BOX, "open-files")
    assert not one.ok and not one.blocking


def test_small_shared_memory_for_several_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: SimpleNamespace(total=64e6, free=1e12))
    plan = make_plan("bf16", gpus=2, vram_gib=80, machine=BOX)
    assert "--ipc=host" in found(plan, BOX, "shared-memory").fix
