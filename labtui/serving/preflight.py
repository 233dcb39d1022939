"""What would stop a launch, found before it: each with its fix. Quick: nothing of vLLM is imported."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from labtui.serving import ports
from labtui.serving.download_findings import download
from labtui.serving.finding import Finding
from labtui.serving.flags import own_value
from labtui.serving.gpu import GIB
from labtui.serving.gpu_findings import gpu_memory, graphics
from labtui.serving.machine import Machine, parse_version, read_machine
from labtui.serving.plan import Plan
from labtui.serving.software_findings import software

__all__ = ["ENOUGH_FILES", "SMALL_SHM_GIB", "Finding", "blocking", "preflight"]

ENOUGH_FILES = 4096
SMALL_SHM_GIB = 1.0


def preflight(plan: Plan, machine: Machine | None = None) -> list[Finding]:
    """All findings, good ones too, in the order of a launch."""
    machine = machine or read_machine()
    looks: tuple[Callable[[Plan, Machine], Iterator[Finding]], ...] = (
        _vllm,
        _version,
        _flags,
        software,
        graphics,
        _memory,
        gpu_memory,
        download,
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


def _memory(plan: Plan, machine: Machine) -> Iterator[Finding]:
    if plan.fit == "NO":
        if plan.budget is None and not machine.gpus and not plan.checkpoint.cpu:
            return
        yield Finding(
            "fit",
            False,
            f"{plan.checkpoint.title} does not fit",
            "; ".join(plan.why[:2]) + ".",
            f"{_more_room(plan)} This is an estimate; --anyway starts it.",
            blocking=True,
            overridable=True,
        )
    elif _warm_up_will_die(plan):
        yield Finding(
            "fit",
            False,
            "The sampler has no room for so many requests at once",
            f"{plan.why[0]}, and vLLM {plan.vllm_version} tries all of them while it starts.",
            f"{_more_room(plan)} This is an estimate; --anyway starts it.",
            blocking=True,
            overridable=True,
        )
    elif plan.fit == "TIGHT":
        yield Finding("fit", False, "It fits, but only just", plan.why[0] + ".", _more_room(plan))
    else:
        yield Finding("fit", True, plan.why[0])


def _warm_up_will_die(plan: Plan) -> bool:
    """From vLLM 0.26 the start runs the sampler with as many canvases as --max-num-seqs allows.

    Only a number that the person gave can be too high; labtui's own never exceeds what fits.
    """
    release = None if plan.vllm_version is None else parse_version(plan.vllm_version)
    budget = plan.budget
    if release is None or release < (0, 26) or budget is None or plan.checkpoint.cpu or not plan.checkpoint.diffusion:
        return False
    asked = own_value(plan.own_flags, "--max-num-seqs") is not None
    return asked and budget.memory_sequences < budget.wanted_sequences


def _more_room(plan: Plan) -> str:
    """What to change, by which part of the memory is short."""
    budget = plan.budget
    if budget is None or plan.checkpoint.cpu or budget.kv_available_gib < budget.kv_per_request_gib:
        return "Take a smaller checkpoint or a shorter --max-model-len."
    if budget.safe_sequences < 1:
        return "Lower --gpu-memory-utilization: the sampler lives in what it leaves."
    if budget.safe_sequences < budget.wanted_sequences:
        return f"Give --max-num-seqs {budget.safe_sequences}, or lower --gpu-memory-utilization."
    return "Keep other programs off the memory."


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
