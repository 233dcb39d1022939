"""The cards that a plan wants: are they there, can they compute it, is their memory free, and who holds it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import psutil

from labtui.serving import processes
from labtui.serving.finding import Finding
from labtui.serving.gpu import Gpu
from labtui.serving.machine import Machine
from labtui.serving.plan import Plan


def graphics(plan: Plan, machine: Machine) -> Iterator[Finding]:
    if plan.checkpoint.cpu:
        return
    if not machine.gpus:
        yield Finding(
            "gpu",
            False,
            "No NVIDIA GPU answers",
            "The driver's library finds none on this machine.",
            "See what nvidia-smi says. Without a GPU serve the practice checkpoint: --checkpoint practice",
            blocking=True,
            overridable=True,
        )
        return
    if len(machine.gpus) < plan.gpus and not plan.parallel.ray:
        yield Finding(
            "gpu",
            False,
            f"The plan wants {plan.gpus} GPUs, {len(machine.gpus)} answer",
            "Others may be hidden by CUDA_VISIBLE_DEVICES or by the container.",
            f"Plan with --gpus {len(machine.gpus)}, or with --ray where a Ray cluster has the others.",
            blocking=True,
            overridable=True,
        )
    else:
        names = ", ".join(f"{card.name} ({card.total_gib:.0f} GiB)" for card in machine.gpus[: plan.gpus])
        yield Finding("gpu", True, names)
    yield from _capability(plan, machine)
    if plan.parallel.ray and importlib.util.find_spec("ray") is None:
        yield Finding(
            "ray",
            False,
            "Ray is not installed here",
            "vLLM asks it to place the parts, and ends where it cannot be imported.",
            "pip install 'ray[default]', then ray start --head here and ray start --address on the other machines.",
            blocking=True,
            overridable=True,
        )


def _capability(plan: Plan, machine: Machine) -> Iterator[Finding]:
    least, native = (
        tuple(int(part) for part in (text or "0.0").split("."))
        for text in (plan.checkpoint.min_compute_capability, plan.checkpoint.native_compute_capability)
    )
    for card in machine.gpus[: plan.gpus]:
        have = card.compute_capability
        if have is None:
            continue
        if have < least:
            yield Finding(
                f"compute-capability-{card.index}",
                False,
                f"{card.name} is too old for {plan.checkpoint.title}",
                f"It has compute capability {card.capability_text}, "
                f"{plan.checkpoint.min_compute_capability} is needed.",
                "Use a newer card, or serve the practice checkpoint: --checkpoint practice",
                blocking=True,
            )
        elif have < native:
            yield Finding(
                f"compute-capability-{card.index}",
                False,
                f"{card.name} does not compute in {plan.checkpoint.precision}",
                f"It has compute capability {card.capability_text}, that format starts at "
                f"{plan.checkpoint.native_compute_capability}: weights are unpacked first.",
                "It works and is slower. Another precision may be faster on this card.",
            )
        else:
            title = f"Compute capability {card.capability_text} is enough for {plan.checkpoint.precision}"
            yield Finding(f"compute-capability-{card.index}", True, title)


def gpu_memory(plan: Plan, machine: Machine) -> Iterator[Finding]:
    if plan.budget is None or plan.checkpoint.cpu:
        return
    for card in machine.gpus[: plan.gpus]:
        wanted = plan.budget.utilization * plan.budget.total_gib
        if card.free_gib >= wanted:
            yield Finding(f"gpu-memory-{card.index}", True, f"{card.free_gib:.1f} GiB are free on {card.name}")
            continue
        names, ours = _holders(card)
        share = max(0.0, (card.free_gib - 0.5) / card.total_gib)
        mine = "labtui serve stop --leftovers ends what is labtui's own. " if ours else ""
        yield Finding(
            f"gpu-memory-{card.index}",
            False,
            f"{card.name} has {card.free_gib:.1f} GiB free, vLLM wants {wanted:.1f}",
            f"Memory is held by {names}.",
            f"{mine}End what you no longer need there, or plan with less: -- --gpu-memory-utilization {share:.2f}. "
            "labtui ends nothing that it did not start.",
            blocking=True,
            overridable=True,
        )


def _holders(card: Gpu) -> tuple[str, bool]:
    """Each with its name, pid and GiB, and whether it is labtui's own, proved by its mark."""
    names = []
    ours = False
    for process in card.processes:
        own = False
        try:
            holder = psutil.Process(process.pid)
            name = processes.describe(holder).rpartition(" (pid")[0]
            own = processes.launch_of(holder) is not None
        except psutil.Error:
            name = "a process outside this container"
        ours = ours or own
        used = "" if process.used_gib is None else f", {process.used_gib:.1f} GiB"
        names.append(f"{name} (pid {process.pid}{used}), {'' if own else 'not '}labtui's")
    return "; ".join(names) or "processes that the driver does not show to you", ours
