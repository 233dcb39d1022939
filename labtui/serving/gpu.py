"""What the GPUs of this machine are and who uses them, through NVIDIA's management library.

Every function answers with nothing where there is no driver, no library or no permission: never an exception.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

GIB = 2.0**30
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that holds memory of a GPU. used_gib is None where the driver does not tell (containers)."""

    pid: int
    used_gib: float | None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. Memory in GiB as the driver reports it; a value that cannot be read is None."""

    index: int
    name: str
    total_gib: float
    free_gib: float
    compute_capability: tuple[int, int] | None = None
    driver: str | None = None
    cuda: str | None = None
    utilization_percent: int | None = None
    power_w: float | None = None
    temperature_c: int | None = None
    processes: tuple[GpuProcess, ...] = ()

    @property
    def capability_text(self) -> str:
        return "unknown" if self.compute_capability is None else "{}.{}".format(*self.compute_capability)


def gpus() -> tuple[Gpu, ...]:
    """All GPUs that the driver shows, empty where there is none. Takes some milliseconds: call it from a worker."""
    with _library() as nvml:
        if nvml is None:
            return ()
        driver = _read(lambda: _text(nvml.nvmlSystemGetDriverVersion()))
        cuda = _read(lambda: _cuda_version(nvml.nvmlSystemGetCudaDriverVersion_v2()))
        count = _read(lambda: int(nvml.nvmlDeviceGetCount())) or 0
        found = (_gpu(nvml, index, driver, cuda) for index in range(count))
        return tuple(gpu for gpu in found if gpu is not None)


def memory_holders() -> dict[int, float | None]:
    """GiB of GPU memory by process id, over all GPUs."""
    held: dict[int, float | None] = {}
    for gpu in gpus():
        for process in gpu.processes:
            before = held.get(process.pid)
            known = [used for used in (before, process.used_gib) if used is not None]
            held[process.pid] = sum(known) if known else None
    return held


@contextlib.contextmanager
def _library() -> Iterator[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pynvml  # type: ignore[import-untyped]
        pynvml.nvmlInit()
    except Exception:
        yield None
        return
    try:
        yield pynvml
    finally:
        with contextlib.suppress(Exception):
            pynvml.nvmlShutdown()


def _gpu(nvml: Any, index: int, driver: str | None, cuda: str | None) -> Gpu | None:
    handle = _read(lambda: nvml.nvmlDeviceGetHandleByIndex(index))
    memory = None if handle is None else _read(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
    if memory is None:
        return None
    capability = _read(lambda: nvml.nvmlDeviceGetCudaComputeCapability(handle))
    running = _read(lambda: nvml.nvmlDeviceGetComputeRunningProcesses(handle)) or []
    return Gpu(
        index=index,
        name=_read(lambda: _text(nvml.nvmlDeviceGetName(handle))) or "GPU",
        total_gib=memory.total / GIB,
        free_gib=memory.free / GIB,
        compute_capability=None if capability is None else (int(capability[0]), int(capability[1])),
        driver=driver,
        cuda=cuda,
        utilization_percent=_read(lambda: int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
        power_w=_read(lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000),
        temperature_c=_read(lambda: int(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))),
        processes=tuple(
            GpuProcess(int(entry.pid), None if entry.usedGpuMemory is None else entry.usedGpuMemory / GIB)
            for entry in running
        ),
    )


def _read(get: Callable[[], Value]) -> Value | None:
    """The library raises for every value that a card, a container or a driver does not give."""
    try:
        return get()
    except Exception:
        return None


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _cuda_version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
