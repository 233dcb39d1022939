"""Do vLLM's compiled parts, torch, the driver and the compiler fit together? From files alone, nothing is imported."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from labtui.serving.finding import Finding
from labtui.serving.machine import Machine
from labtui.serving.plan import Plan
from labtui.serving.shared_library import find_library, needs_of, symbol_versions
from labtui.serving.vllm_cpu import obstacles

COMPILED = ("_C*.so", "_moe_C*.so", "vllm_flash_attn/_vllm_fa*_C*.so")
COMPILERS = ("cc", "gcc", "clang")
STANDARD_CXX = "libstdc++.so.6"
SAME_INDEX = "Install vllm and torch from the same index (cu130 or cu129): ./lab --reinstall"


def software(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """Nothing of a vLLM of another environment: its files are not looked for."""
    vllm = machine.vllm
    if vllm is None or vllm.version is None or plan.vllm_version is None:
        return
    if vllm.cpu:
        yield from cpu_build()
        yield from standard_cxx()
        return
    if machine.gpus:
        yield from driver(machine)
        yield from cuda_runtime()
        yield compiler(blocking=True)
    yield from standard_cxx()


def cpu_build() -> Iterator[Finding]:
    """What labtui's own server gets round is no matter here; the doctor tells it."""
    hindering = [one for one in obstacles.obstacles() if one.blocking]
    for obstacle in hindering:
        yield Finding(obstacle.id, False, obstacle.title, obstacle.cause, f"{obstacle.by_hand}.", blocking=True)
    if not hindering:
        yield Finding("cpu-build", True, "torchvision and the kernels for the CPU are in place")


def driver(machine: Machine) -> Iterator[Finding]:
    offered, wanted = machine.gpus[0].cuda, torch_cuda()
    if wanted == "":
        yield Finding(
            "torch-build",
            False,
            "torch is a build without CUDA",
            "vLLM's GPU build needs torch for CUDA, and this one sees no GPU.",
            f"{SAME_INDEX}.",
            blocking=True,
        )
        return
    if offered is None or wanted is None:
        return
    if _major(offered) < _major(wanted):
        yield Finding(
            "driver",
            False,
            f"The NVIDIA driver {machine.gpus[0].driver or ''} offers CUDA {offered}, torch is built for {wanted}",
            "A driver runs programs of its own CUDA major and older ones. CUDA 13 needs driver 580 or newer.",
            "Bring the driver up to date, or install vLLM and torch for CUDA 12.9. On datacentre cards NVIDIA's "
            "compat libraries help: VLLM_ENABLE_CUDA_COMPATIBILITY=1.",
            blocking=True,
            overridable=True,
        )
    else:
        yield Finding("driver", True, f"Driver {machine.gpus[0].driver or ''} (CUDA {offered}) runs torch for {wanted}")


def cuda_runtime() -> Iterator[Finding]:
    wanted = sorted(
        {name for file in compiled_parts() for name in needs_of(file).libraries if name.startswith("libcudart.so.")}
    )
    for name in wanted:
        # torch loads its own CUDA libraries before vLLM's are loaded, so one of the same major is there already.
        brought = [file for folder in _pip_library_folders() if (file := folder / name).exists()]
        torch = torch_cuda()
        if brought and torch and name.endswith(f".{_major(torch)}"):
            yield Finding("cuda-runtime", True, f"{name} comes with torch")
        elif (elsewhere := find_library(name)) is not None:
            yield Finding("cuda-runtime", True, f"{name} is {elsewhere}")
        else:
            cause = f"vLLM's compiled parts need it, torch is built for CUDA {torch or 'unknown'}."
            fix = f"{SAME_INDEX}."
            if brought:
                fix = f"LD_LIBRARY_PATH={brought[0].parent} labtui serve start, or: {SAME_INDEX}."
            title = f"The CUDA runtime library {name} is not found"
            yield Finding("cuda-runtime", False, title, cause, fix, blocking=True, overridable=True)


def standard_cxx() -> Iterator[Finding]:
    files = compiled_parts()
    wanted = {one for file in files for one in needs_of(file).symbols if one.startswith(("GLIBCXX_", "CXXABI_"))}
    library = find_library(STANDARD_CXX) if wanted else None
    if library is None:
        return
    missing = sorted(wanted - symbol_versions(library), key=_numbers)
    if missing:
        yield Finding(
            "libstdcxx",
            False,
            f"{library} is older than vLLM's wheels need",
            f"It lacks {missing[-1]}.",
            "Put a newer libstdc++ first in LD_LIBRARY_PATH; in conda: LD_LIBRARY_PATH=$CONDA_PREFIX/lib.",
            blocking=True,
            overridable=True,
        )
    else:
        yield Finding("libstdcxx", True, f"{library} has what vLLM's compiled parts need")


def compiler(*, blocking: bool = False) -> Finding:
    """Triton compiles a small C program for each kernel that it launches."""
    own = os.environ.get("CC")
    found = next((name for name in ((own,) if own else COMPILERS) if shutil.which(name)), None)
    if found is None:
        what = f"CC names {own!r}, which is not there" if own else "Neither cc, gcc nor clang is on PATH"
        cause = f"{what}; Triton, torch.compile and CUDA graphs need one. Eager mode on the CPU does not."
        fix = "apt-get install build-essential, or set CC to a compiler."
        return Finding("compiler", False, "There is no C compiler", cause, fix, blocking=blocking, overridable=True)
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        cause = f"{header} is missing; what Triton compiles includes it."
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        fix = f"apt-get install python{version}-dev, or use a Python of uv."
        title = "The headers of Python are not installed"
        return Finding("compiler", False, title, cause, fix, blocking=blocking, overridable=True)
    return Finding("compiler", True, f"A C compiler is there ({found})")


def torch_cuda() -> str | None:
    """The CUDA that the installed torch was built for, like "13.0"; "" for a build without, None where unknown."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return None
    try:
        text = (Path(found.origin).parent / "version.py").read_text(encoding="utf-8")
    except OSError:
        return None
    match = re.search(r"^cuda(?:: [^=]+)? = (?:'([\d.]+)'|None)", text, re.MULTILINE)
    return None if match is None else match.group(1) or ""


def compiled_parts() -> list[Path]:
    found = importlib.util.find_spec("vllm")
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parent
    return [file for pattern in COMPILED for file in sorted(folder.glob(pattern))]


def _pip_library_folders() -> list[Path]:
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return []
    return sorted((Path(found.origin).parents[1] / "nvidia").glob("*/lib"))


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def _numbers(symbol: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", symbol))
