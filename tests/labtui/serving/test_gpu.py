from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from labtui.serving import gpu

GIB = 2**30


class Missing(Exception):
    """What the library raises for a value that is not there."""


def missing(*_: Any) -> Any:
    raise Missing


def library(**changes: Any) -> SimpleNamespace:
    """NVIDIA's library on a machine with one H200, as far as labtui asks it."""
    functions: dict[str, Any] = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: "580.159.04",
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 13000,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=143771 * 2**20, free=17072 * 2**20),
        "nvmlDeviceGetName": lambda handle: b"NVIDIA H200",
        "nvmlDeviceGetCudaComputeCapability": lambda handle: (9, 0),
        "nvmlDeviceGetComputeRunningProcesses": lambda handle: [SimpleNamespace(pid=1074, usedGpuMemory=123 * GIB)],
        "nvmlDeviceGetUtilizationRates": lambda handle: SimpleNamespace(gpu=97),
        "nvmlDeviceGetPowerUsage": lambda handle: 412_000,
        "nvmlDeviceGetTemperature": lambda handle, sensor: 61,
        "NVML_TEMPERATURE_GPU": 0,
    }
    return SimpleNamespace(**(functions | changes))


def test_a_card_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library())
    (card,) = gpu.gpus()
    assert card.name == "NVIDIA H200"
    assert (round(card.total_gib, 1), round(card.free_gib, 1)) == (140.4, 16.7)
    assert (card.compute_capability, card.capability_text) == ((9, 0), "9.0")
    assert (card.driver, card.cuda) == ("580.159.04", "13.0")
    assert (card.utilization_percent, card.power_w, card.temperature_c) == (97, 412.0, 61)
    assert gpu.memory_holders() == {1074: 123.0}


@pytest.mark.parametrize(
    "name",
    [
        "nvmlSystemGetDriverVersion",
        "nvmlSystemGetCudaDriverVersion_v2",
        "nvmlDeviceGetName",
        "nvmlDeviceGetCudaComputeCapability",
        "nvmlDeviceGetComputeRunningProcesses",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetTemperature",
    ],
)
def test_a_value_that_a_card_does_not_give_leaves_the_others(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library(**{name: missing}))
    (card,) = gpu.gpus()
    assert card.total_gib > 140


@pytest.mark.parametrize(
    "name", ["nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetHandleByIndex"]
)
def test_no_driver_is_no_card_and_no_exception(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library(**{name: missing}))
    assert gpu.gpus() == ()
    assert gpu.memory_holders() == {}


def test_no_library_is_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert gpu.gpus() == ()


def test_memory_that_a_container_hides_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = library(nvmlDeviceGetComputeRunningProcesses=lambda handle: [SimpleNamespace(pid=7, usedGpuMemory=None)])
    monkeypatch.setitem(sys.modules, "pynvml", hidden)
    assert gpu.memory_holders() == {7: None}
