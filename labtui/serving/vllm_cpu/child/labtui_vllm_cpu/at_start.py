"""What has to be in place before the first import of vLLM. A vLLM plugin loads too late for these."""

from __future__ import annotations

import sys

from . import torch_import, vllm_distribution


def prepare() -> None:
    if not any(isinstance(finder, vllm_distribution.Finder) for finder in sys.meta_path):
        sys.meta_path.append(vllm_distribution.Finder())
    if "torch" not in sys.modules:
        sys.meta_path.insert(0, torch_import.Watch())
