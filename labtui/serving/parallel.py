"""How one model is spread over several GPUs, and what cannot be spread so."""

from __future__ import annotations

from dataclasses import dataclass

from labtui.errors import USAGE, LabError
from labtui.serving.checkpoints import Architecture, Checkpoint
from labtui.serving.flags import Flag, OwnFlag, own_number, own_value

TENSOR, PIPELINE, DATA = "--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"
BACKEND = "--distributed-executor-backend"
TENSOR_WORKS_FROM = (0, 26)
"""Before it a diffusion model split by tensors dies at warm-up (vllm issue 47129)."""
NO_PIPELINE_FROM = (0, 32)
"""The class of DiffusionGemma no longer says that its layers can lie on different GPUs (0.32 and 0.33 sources)."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """tensor: GPUs that share every layer. pipeline: groups that have some of the layers each. data: whole copies.

    ray: a Ray cluster places the parts, so that they may lie on several machines.
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    ray: bool = False

    @property
    def cards(self) -> int:
        return self.tensor * self.pipeline * self.data

    @property
    def weight_shares(self) -> int:
        """Over how many GPUs one copy of the weights is spread."""
        return self.tensor * self.pipeline

    def flags(self) -> tuple[Flag, ...]:
        made = []
        if self.tensor > 1:
            made.append(Flag(TENSOR, str(self.tensor), "the GPUs share every layer"))
        if self.pipeline > 1:
            made.append(Flag(PIPELINE, str(self.pipeline), "groups of GPUs with some of the layers each"))
        if self.data > 1:
            made.append(Flag(DATA, str(self.data), "whole copies of the model that share the requests"))
        if self.ray:
            made.append(Flag(BACKEND, "ray", "a Ray cluster places the parts, on several machines too"))
        return tuple(made)

    def words(self) -> str:
        parts = [f"{self.tensor} by tensors" if self.tensor > 1 else ""]
        parts.append(f"{self.pipeline} by layers" if self.pipeline > 1 else "")
        parts.append(f"{self.data} copies" if self.data > 1 else "")
        return " × ".join(part for part in parts if part)


ONE_CARD = Parallel()


def chosen_parallel(
    checkpoint: Checkpoint,
    architecture: Architecture | None,
    own: tuple[OwnFlag, ...],
    release: tuple[int, ...],
    asked: Parallel,
) -> Parallel:
    """The person's own flags before what was asked for. Raises LabError (exit 2) for what vLLM would refuse."""
    if checkpoint.cpu:
        # A default for the big ones, from the configuration; only a flag of one's own means this one.
        asked = Parallel()
    ray = asked.ray or own_value(own, BACKEND) == "ray"
    spread = Parallel(
        _count(own, TENSOR, asked.tensor), _count(own, PIPELINE, asked.pipeline), _count(own, DATA, asked.data), ray
    )
    for number, option in ((spread.tensor, "--gpus"), (spread.pipeline, "--pipeline"), (spread.data, "--copies")):
        if number < 1:
            raise LabError(f"{number} GPUs cannot serve", "At least one is needed.", f"Give {option} 1 or more.", USAGE)
    if architecture is not None:
        _check_shape(architecture, spread)
    if checkpoint.diffusion and spread.tensor > 1 and release < TENSOR_WORKS_FROM:
        raise LabError(
            "This vLLM cannot split a diffusion model by tensors",
            "Before 0.26 the sampler multiplies matrices of different sizes and dies at warm-up (vllm issue 47129).",
            "Serve on one GPU, or install vLLM 0.26 or newer.",
            USAGE,
        )
    if checkpoint.diffusion and spread.pipeline > 1 and release >= NO_PIPELINE_FROM:
        raise LabError(
            "This vLLM cannot split a diffusion model by layers",
            "From 0.32 its class for DiffusionGemma does not support pipeline parallelism, and vLLM refuses to start.",
            "Split by tensors instead: --gpus 2.",
            USAGE,
        )
    if checkpoint.cpu and spread.cards > 1:
        raise LabError(
            f"{checkpoint.id} is served by one process",
            "It is made for the CPU, and too small to be split.",
            "Leave those flags out.",
            USAGE,
        )
    return spread


def _check_shape(architecture: Architecture, spread: Parallel) -> None:
    heads = architecture.attention_heads
    if heads % spread.tensor:
        sizes = ", ".join(str(size) for size in range(1, heads + 1) if heads % size == 0)
        raise LabError(
            f"{spread.tensor} GPUs cannot share this model",
            f"Its {heads} attention heads must divide evenly among them.",
            f"Give --gpus one of {sizes}.",
            USAGE,
        )
    layers = architecture.global_layers + architecture.sliding_layers
    if spread.pipeline > layers:
        raise LabError(
            f"{layers} layers cannot be spread over {spread.pipeline} groups",
            "Each group needs one layer at least.",
            f"Give --pipeline {layers} or less.",
            USAGE,
        )


def remarks(checkpoint: Checkpoint, spread: Parallel) -> list[str]:
    if spread.tensor > 1 and checkpoint.precision == "nvfp4":
        return ["NVFP4 over several GPUs was reported to fail (vllm pull request 46177): FP8 is the safer choice there"]
    return []


def _count(own: tuple[OwnFlag, ...], name: str, asked: int) -> int:
    value = own_number(own, name, int)
    return asked if value is None else int(value)
