"""What would stop a launch, found before it: each with its fix. Quick: nothing of vLLM is imported, no network."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from labtui.serving import hub_cache, ports
from labtui.serving.checkpoints import PACKAGE_PREFIX
from labtui.serving.finding import Finding
from labtui.serving.flags import own_value
from labtui.serving.gpu import GIB, Gpu
from labtui.serving.machine import Machine, parse_version, read_machine
from labtui.serving.plan import Plan

__all__ = ["ENOUGH_FILES", "SMALL_SHM_GIB", "Finding", "blocking", "preflight"]

DISK_MARGIN = 1.05
ENOUGH_FILES = 4096
SMALL_SHM_GIB = 1.0


def preflight(plan: Plan, machine: Machine | None = None) -> list[Finding]:
    """All findings, good ones too, in the order of a launch."""
    machine = machine or read_machine()
    looks: tuple[Callable[[Plan, Machine], Iterator[Finding]], ...] = (
        _vllm,
        _version,
        _flags,
        _graphics,
        _memory,
        _gpu_memory,
        _model,
        _disk,
        _port,
        _limits,
    )
    return [finding for look in looks for finding in look(plan, machine)]


def blocking(findings: list[Finding], *, anyway: bool = False) -> list[Finding]:
    """Those that forbid the launch; with anyway, those that no word can override."""
    return [one for one in findings if one.blocking and not (anyway and one.overridable)]


def _vllm(plan: Plan, machine: Machine) -> Iterator[Finding]:
    program = plan.program[0]
    if Path(program).exists() or shutil.which(program):
        yield Finding("vllm", True, f"vLLM {plan.vllm_version or 'of another environment'} is installed")
        return
    extra = "cpu" if plan.on_cpu else "gpu"
    yield Finding(
        "vllm",
        False,
        "vLLM is not installed here",
        f"Neither this Python environment nor PATH has a program called {program!r}.",
        f"Start labtui with ./lab, which sets everything up, or: pip install 'labtui[{extra}]'",
        blocking=True,
    )


def _version(plan: Plan, machine: Machine) -> Iterator[Finding]:
    if plan.vllm_version is None:
        return
    have, least = parse_version(plan.vllm_version), parse_version(plan.checkpoint.min_vllm)
    upgrade = "Install the version that labtui asks for: ./lab, or pip install 'labtui[gpu]'."
    if have < least:
        yield Finding(
            "vllm-version",
            False,
            f"vLLM {plan.vllm_version} is too old for {plan.checkpoint.title}",
            f"It needs {plan.checkpoint.min_vllm}: older versions do not know the architecture and fall back to "
            "Transformers, which dies.",
            upgrade,
            blocking=True,
        )
    elif plan.checkpoint.diffusion and have[:2] == (0, 25):
        yield Finding(
            "vllm-version",
            False,
            f"vLLM {plan.vllm_version} kills its engine under some prompts",
            "In 0.25 a prefill remainder of one token becomes a span of 257 (vllm issue 49495).",
            upgrade,
            blocking=True,
            overridable=True,
        )
    elif plan.checkpoint.diffusion and have[:2] == (0, 24):
        yield Finding(
            "vllm-version",
            False,
            f"vLLM {plan.vllm_version} stops denoising a step early",
            "Its speeds cannot be compared with those of 0.26 and later (vllm pull request 45965).",
            upgrade,
        )
    else:
        yield Finding("vllm-version", True, f"vLLM {plan.vllm_version} serves this checkpoint")


def _flags(plan: Plan, machine: Machine) -> Iterator[Finding]:
    known = machine.known_flags
    if known is None or plan.vllm_version is None:
        return
    names = [flag.name for flag in plan.flags] + [flag.name for flag in plan.own_flags]
    unknown = known.unknown(names)
    for name in unknown:
        near = known.nearest(name)
        yield Finding(
            f"flag-{name.strip('-')}",
            False,
            f"vLLM {known.version} has no flag {name}",
            "It ends at once with 'unrecognized arguments' for a flag that it does not know.",
            (f"Did you mean {near}? " if near else "") + "labtui serve flags WORD looks through those that it has.",
            blocking=True,
            overridable=True,
        )
    for own in plan.own_flags:
        flag = known.find(own.name)
        if flag is not None and flag.choices and own.values and own.values[-1] not in flag.choices:
            yield Finding(
                f"flag-{own.name.strip('-')}",
                False,
                f"{own.name} does not take {own.values[-1]}",
                f"vLLM {known.version} takes {', '.join(flag.choices)}.",
                "Give one of these.",
                blocking=True,
                overridable=True,
            )
    if not unknown:
        yield Finding("flags", True, f"vLLM {known.version} knows every flag of the command")


def _graphics(plan: Plan, machine: Machine) -> Iterator[Finding]:
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
    elif len(machine.gpus) < plan.gpus:
        yield Finding(
            "gpu",
            False,
            f"The plan wants {plan.gpus} GPUs, {len(machine.gpus)} answer",
            "Others may be hidden by CUDA_VISIBLE_DEVICES or by the container.",
            f"Plan with --gpus {len(machine.gpus)}.",
            blocking=True,
            overridable=True,
        )
    else:
        names = ", ".join(f"{card.name} ({card.total_gib:.0f} GiB)" for card in machine.gpus[: plan.gpus])
        yield Finding("gpu", True, names)


def _memory(plan: Plan, machine: Machine) -> Iterator[Finding]:
    if plan.fit == "NO":
        if plan.budget is None and not machine.gpus and not plan.checkpoint.cpu:
            return
        yield Finding(
            "fit",
            False,
            f"{plan.checkpoint.title} does not fit",
            "; ".join(plan.why[:2]) + ".",
            "Take a smaller checkpoint or a shorter --max-model-len. This is an estimate; --anyway starts it.",
            blocking=True,
            overridable=True,
        )
    elif plan.fit == "TIGHT":
        yield Finding("fit", False, "It fits, but only just", plan.why[0] + ".", "Keep other programs off the memory.")
    else:
        yield Finding("fit", True, plan.why[0])


def _gpu_memory(plan: Plan, machine: Machine) -> Iterator[Finding]:
    if plan.budget is None or plan.checkpoint.cpu:
        return
    for card in machine.gpus[: plan.gpus]:
        wanted = plan.budget.utilization * plan.budget.total_gib
        if card.free_gib >= wanted:
            yield Finding(f"gpu-memory-{card.index}", True, f"{card.free_gib:.1f} GiB are free on {card.name}")
            continue
        yield Finding(
            f"gpu-memory-{card.index}",
            False,
            f"{card.name} has {card.free_gib:.1f} GiB free, vLLM wants {wanted:.1f}",
            f"Memory is held by {_holders(card)}.",
            "End what you no longer need there, or plan with less: -- --gpu-memory-utilization "
            f"{max(0.0, (card.free_gib - 0.5) / card.total_gib):.2f}. labtui ends nothing that it did not start.",
            blocking=True,
            overridable=True,
        )


def _holders(card: Gpu) -> str:
    names = []
    for process in card.processes:
        try:
            name = psutil.Process(process.pid).name()
        except psutil.Error:
            name = "a process outside this container"
        used = "" if process.used_gib is None else f", {process.used_gib:.1f} GiB"
        names.append(f"{name} (pid {process.pid}{used})")
    return ", ".join(names) or "processes that the driver does not show to you"


def _model(plan: Plan, machine: Machine) -> Iterator[Finding]:
    checkpoint = plan.checkpoint
    if checkpoint.folder is not None:
        if own_value(plan.own_flags, "--load-format") == "dummy" and (checkpoint.folder / "config.json").exists():
            yield Finding("model", True, f"The shape is that of {checkpoint.folder}; its weights will be random")
            return
        if hub_cache.snapshot_complete(checkpoint.folder):
            yield Finding("model", True, f"The weights lie in {checkpoint.folder}")
            return
        own = checkpoint.model.startswith(PACKAGE_PREFIX)
        yield Finding(
            "model",
            False,
            "The weights are not all there",
            f"{checkpoint.folder} lacks config.json or a weight file.",
            "Get the repository again (git checkout, or git lfs pull)." if own else "Copy the model folder again.",
            blocking=True,
        )
        return
    cached = hub_cache.cached_model(checkpoint.model)
    if cached is not None and cached.complete:
        yield Finding("model", True, f"{checkpoint.model} is in the Hugging Face cache; no network is needed")
    elif os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        yield Finding(
            "model",
            False,
            f"{checkpoint.model} is not complete in the cache, and downloads are switched off",
            f"HF_HUB_OFFLINE is set, and {hub_cache.hub_cache_folder()} does not hold all of it.",
            "Unset HF_HUB_OFFLINE for one start, or copy the model into that folder.",
            blocking=True,
        )
    else:
        have = 0 if cached is None else cached.bytes
        yield Finding(
            "model",
            True,
            f"{checkpoint.model} will be downloaded: {checkpoint.disk_gb - have / 1e9:.1f} of {checkpoint.disk_gb} GB",
        )


def _disk(plan: Plan, machine: Machine) -> Iterator[Finding]:
    checkpoint = plan.checkpoint
    if checkpoint.folder is not None:
        return
    cached = hub_cache.cached_model(checkpoint.model)
    if cached is not None and cached.complete:
        return
    needed = max(0.0, checkpoint.disk_gb * DISK_MARGIN - (0 if cached is None else cached.bytes / 1e9))
    folder = hub_cache.hub_cache_folder()
    existing = next(one for one in (folder, *folder.parents) if one.exists())
    free = shutil.disk_usage(existing).free / 1e9
    if not os.access(existing, os.W_OK):
        yield Finding(
            "disk",
            False,
            "The Hugging Face cache cannot be written to",
            f"{existing} belongs to another user (often root, from a container).",
            "Take it over with chown, or set HF_HOME to a folder of your own.",
            blocking=True,
        )
    elif free < needed:
        yield Finding(
            "disk",
            False,
            f"The download needs {needed:.0f} GB, {free:.0f} GB are free",
            f"It goes to {folder}.",
            "Free some space there, or set HF_HOME to a folder on a larger disk.",
            blocking=True,
        )
    else:
        yield Finding("disk", True, f"{free:.0f} GB are free for the {needed:.0f} GB of the download")


def _port(plan: Plan, machine: Machine) -> Iterator[Finding]:
    if ports.port_is_free(plan.port, plan.host):
        yield Finding("port", True, f"Port {plan.port} is free")
        return
    holder = ports.port_holder(plan.port)
    yield Finding(
        "port",
        False,
        f"Port {plan.port} is taken",
        f"It is held by {holder}." if holder else "It is held by a process that this user cannot see.",
        "Leave --port out to get the next free one, or name another.",
        blocking=True,
    )


def _limits(plan: Plan, machine: Machine) -> Iterator[Finding]:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < ENOUGH_FILES:
        yield Finding(
            "open-files",
            False,
            f"At most {hard} files may be open",
            "vLLM opens many sockets and may end with 'Too many open files'.",
            "Raise it before you start: ulimit -n 65535",
        )
    shared = Path("/dev/shm")
    if plan.gpus > 1 and shared.exists() and shutil.disk_usage(shared).total / GIB < SMALL_SHM_GIB:
        yield Finding(
            "shared-memory",
            False,
            "Shared memory is small",
            "/dev/shm has less than 1 GiB, as containers do by default; GPUs that work together need more.",
            "Start the container with --ipc=host or --shm-size=16g.",
            blocking=True,
            overridable=True,
        )
