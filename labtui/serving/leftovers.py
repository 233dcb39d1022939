"""vLLM processes beside the server in use: what an earlier one of ours left behind, and what is not ours at all."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from labtui.serving import gpu, processes

SERVER_WORDS = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.cli.main")


@dataclass(frozen=True, slots=True)
class Engine:
    """One process. launch_id: None where labtui did not start it. memory: GiB of GPU, where the driver tells."""

    pid: int
    name: str
    launch_id: str | None = None
    for_s: float | None = None
    gpu_gib: float | None = None

    def words(self) -> str:
        parts = [f"pid {self.pid}"]
        if self.gpu_gib is not None:
            parts.append(f"{self.gpu_gib:.1f} GiB of GPU memory")
        if self.for_s is not None:
            parts.append(f"for {_span(self.for_s)}")
        return f"{self.name} ({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class OtherEngines:
    """ours: started by labtui from this state folder, and not part of the server in use. foreign: everybody else's."""

    ours: tuple[Engine, ...] = ()
    foreign: tuple[Engine, ...] = ()


def other_engines(folder: Path, in_use: Iterable[str]) -> OtherEngines:
    """in_use: the launches that are no leftovers. Nothing is signalled here, and what is foreign never will be."""
    used = set(in_use)
    found = [process for process in psutil.process_iter() if processes.is_alive(process)]
    memory: dict[int, float | None] | None = None
    ours: list[Engine] = []
    foreign: list[Engine] = []
    for process in found:
        launch = processes.launch_of(process)
        own = launch is not None and processes.folder_of(process) == str(folder)
        if own and launch in used:
            continue
        if not own and not is_vllm(process):
            continue
        if memory is None:
            memory = gpu.memory_holders()
        (ours if own else foreign).append(_engine(process, launch if own else None, memory))
    return OtherEngines(tuple(ours), tuple(foreign))


def is_vllm(process: psutil.Process) -> bool:
    """By the name that vLLM gives its engines, or by the words of its server."""
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    if not words:
        return False
    if words[0].startswith(processes.VLLM_TITLE):
        return True
    serving = any(Path(word).name == "vllm" and words[index + 1 :][:1] == ["serve"] for index, word in enumerate(words))
    return serving or any(word in SERVER_WORDS for word in words)


def _engine(process: psutil.Process, launch_id: str | None, memory: dict[int, float | None]) -> Engine:
    since: float | None = None
    with contextlib.suppress(psutil.Error):
        since = max(0.0, time.time() - process.create_time())
    name = processes.describe(process).rpartition(" (pid")[0]
    return Engine(process.pid, name, launch_id, since, memory.get(process.pid))


def _span(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
