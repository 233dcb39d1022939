"""One launch before it happens: checkpoint, flags, memory budget and the command that they make."""

from __future__ import annotations

import hashlib
import ipaddress
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from labtui.errors import USAGE, LabError
from labtui.serving import hub_cache, ports
from labtui.serving.asked import Asked, asked_for
from labtui.serving.budget import Budget, Fit
from labtui.serving.checkpoints import Checkpoint, find_checkpoint, table
from labtui.serving.flags import Flag, OwnFlag, own_number, own_value, read_own_flags, remarks_on
from labtui.serving.launch_settings import ASSUMED_VLLM, Choice
from labtui.serving.machine import Machine, parse_version, read_machine
from labtui.serving.measured import MeasuredLaunch
from labtui.serving.parallel import ONE_CARD, Parallel, chosen_parallel
from labtui.serving.parallel import remarks as parallel_remarks
from labtui.serving.sampler import SamplerChange, edited, read_settings
from labtui.serving.state import default_state_folder
from labtui.serving.vllm_cpu import child_environment


@dataclass(frozen=True, slots=True)
class Plan:
    """What `start` needs. env holds no secret; the API key joins it only in the child.

    fit and why answer "will it fit?"; budget is None where the memory is not known, and why says so.
    """

    checkpoint: Checkpoint
    program: tuple[str, ...]
    flags: tuple[Flag, ...]
    host: str
    port: int
    fit: Fit
    why: tuple[str, ...]
    budget: Budget | None = None
    own_flags: tuple[OwnFlag, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    parallel: Parallel = ONE_CARD
    port_asked: bool = False
    vllm_version: str | None = None
    on_cpu: bool = False
    on_cpu_build: bool = False
    revision: str | None = None
    sampler: SamplerChange | None = None
    asked: Asked | None = None

    @property
    def gpus(self) -> int:
        """How many cards it takes, on all machines together."""
        return self.parallel.cards

    @property
    def argv(self) -> list[str]:
        words = [*self.program, "serve", self.checkpoint.model_argument]
        for flag in self.flags:
            words.extend(flag.argv)
        for own in self.own_flags:
            words.extend(own.typed)
        return words

    @property
    def served_name(self) -> str:
        return own_value(self.own_flags, "--served-model-name") or self.checkpoint.name

    @property
    def url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}.get(self.host, self.host)
        return f"http://{host}:{self.port}"

    @property
    def key(self) -> str:
        """The same for two plans that start the same server, whatever the port: launches are compared by it."""
        parts = [self.checkpoint.id, self.checkpoint.model, self.vllm_version or "", *self._words_without_port()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def pasteable(self) -> str:
        """The line for a shell, quoted; without the API key."""
        program = list(self.program)
        found = shutil.which("vllm")
        if len(program) == 1 and found is not None and Path(found) == Path(program[0]):
            program = ["vllm"]
        settings = [f"{name}={shlex.quote(value)}" for name, value in sorted(self.env.items())]
        return " ".join([*settings, shlex.join([*program, *self.argv[len(self.program) :]])])

    def _words_without_port(self) -> list[str]:
        kept = [word for flag in self.flags if flag.name not in ("--port", "--host") for word in flag.argv]
        return kept + [word for own in self.own_flags for word in own.typed]


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The shape of `labtui serve plan --json`: a value that is not known is null, with its reason beside it."""
    names = (
        "weights_gib",
        "kv_available_gib",
        "kv_per_request_gib",
        "outside_gib",
        "sampler_per_sequence_gib",
        "safe_sequences",
    )
    budget: dict[str, Any]
    if plan.budget is None:
        budget = dict.fromkeys(names)
        budget |= {f"{name}_reason": plan.why[0] for name in names}
        budget["weights_gib"] = plan.checkpoint.resident_gib
        del budget["weights_gib_reason"]
    else:
        shares = plan.budget
        budget = {
            "weights_gib": round(shares.weights_gib, 2),
            "kv_available_gib": round(shares.kv_available_gib, 2),
            "kv_per_request_gib": round(shares.kv_per_request_gib, 4),
            "outside_gib": round(shares.outside_gib, 2),
            "sampler_per_sequence_gib": round(shares.sampler.per_sequence_gib, 4),
            "safe_sequences": shares.safe_sequences,
            "sampler_once_gib": round(shares.sampler.once_gib, 4),
            "total_gib": round(shares.total_gib, 2),
            "utilization": shares.utilization,
            "activation_gib": shares.activation_gib,
        }
    return {
        "checkpoint": plan.checkpoint.id,
        "title": plan.checkpoint.title,
        "practice": plan.checkpoint.practice,
        "model": plan.checkpoint.model_argument,
        "command": plan.argv,
        "env": dict(plan.env),
        "fit": plan.fit,
        "why": list(plan.why),
        "budget": budget,
        "flags": [
            {"name": flag.name, "value": flag.value, "why": flag.why, "origin": flag.origin} for flag in plan.flags
        ]
        + [
            {"name": own.name, "value": " ".join(own.values) or None, "why": "you added it", "origin": "you"}
            for own in plan.own_flags
        ],
        "sampler": None
        if plan.sampler is None
        else {
            "changed": dict(plan.sampler.changed),
            "settings": plan.sampler.values,
            "folder": None if plan.sampler.folder is None else str(plan.sampler.folder),
        },
        "gpus": plan.gpus,
        "parallel": {"tensor": plan.parallel.tensor, "pipeline": plan.parallel.pipeline, "data": plan.parallel.data},
        "host": plan.host,
        "port": plan.port,
        "vllm": plan.vllm_version,
        "pasteable": plan.pasteable(),
    }


def default_checkpoint(machine: Machine | None = None, vram_gib: float | None = None) -> str:
    """Practice where no GPU is; else the largest DiffusionGemma that fits, a tight one before none at all."""
    machine = machine or read_machine()
    if vram_gib is None and not machine.gpus:
        return "practice"
    candidates = [one for one in table().checkpoints.values() if one.diffusion and not one.practice and not one.cpu]
    candidates.sort(key=lambda one: one.resident_gib, reverse=True)
    plans = [make_plan(one.id, machine=machine, vram_gib=vram_gib) for one in candidates]
    for wanted in ("PASS", "TIGHT"):
        for plan in plans:
            if plan.fit == wanted:
                return plan.checkpoint.id
    return "practice"


def make_plan(
    checkpoint_id: str | None = None,
    *,
    port: int | None = None,
    vram_gib: float | None = None,
    gpus: int = 1,
    max_model_len: int | None = None,
    extra_flags: Sequence[str] = (),
    host: str | None = None,
    expose: bool = False,
    pipeline: int = 1,
    copies: int = 1,
    ray: bool = False,
    sampler: Iterable[str] = (),
    machine: Machine | None = None,
    tables: Iterable[Path] = (),
    measured: Iterable[MeasuredLaunch] = (),
    state_dir: Path | None = None,
) -> Plan:
    """Plan one launch. Raises LabError (exit 2) for a choice that cannot be.

    vram_gib: memory of one card as its name says it, for a machine that is not this one.
    gpus, pipeline, copies: GPUs that share every layer, groups that share the layers out, whole copies of the model.
    expose: the word that is needed to listen on another address than 127.0.0.1.
    sampler: "key=value" changes of the diffusion sampler; `Plan.sampler.write` makes the file that they need.
    measured: earlier launches, newest first; what one like this told takes the place of estimates.
    """
    machine = machine or read_machine()
    tables, sampler = tuple(tables), tuple(sampler)
    known = table(tables)
    checkpoint = find_checkpoint(checkpoint_id or default_checkpoint(machine, vram_gib), tables)
    asked = asked_for(
        checkpoint.id,
        port=port,
        vram_gib=vram_gib,
        gpus=gpus,
        max_model_len=max_model_len,
        extra_flags=extra_flags,
        host=host,
        expose=expose,
        pipeline=pipeline,
        copies=copies,
        ray=ray,
        sampler=sampler,
        tables=tables,
    )
    own = read_own_flags(extra_flags)
    host, port, port_asked, own = _address(host, port, own, expose=expose)
    architecture = known.architectures[checkpoint.architecture] if checkpoint.architecture is not None else None
    release = (machine.vllm.release if machine.vllm is not None else None) or parse_version(ASSUMED_VLLM)
    spread = chosen_parallel(checkpoint, architecture, own, release, Parallel(gpus, pipeline, copies, ray))
    change = edited(checkpoint, read_settings(sampler), (state_dir or default_state_folder()) / "sampler")
    if change is not None:
        _refuse_two_samplers(own, change)
    if max_model_len is not None:
        own = tuple(flag for flag in own if flag.name != "--max-model-len")
        own = (*own, OwnFlag("--max-model-len", (str(max_model_len),), ("--max-model-len", str(max_model_len))))
    steps = None if change is None else change.max_steps
    choice = Choice(checkpoint, known, machine, own, spread, vram_gib, tuple(measured), steps)
    settings = choice.on_cpu() if checkpoint.cpu else choice.on_gpu()

    address = (
        Flag("--host", host, "only this machine can reach it" if is_loopback(host) else "others can reach it"),
        Flag(
            "--port",
            str(port),
            "the one you named" if port_asked else "the first free one",
            "you" if port_asked else "labtui",
        ),
    )
    named = {flag.name for flag in own}
    edits: tuple[Flag, ...] = ()
    if change is not None and change.folder is not None:
        edits = (Flag("--generation-config", str(change.folder), "holds the sampler settings that you changed", "you"),)
    flags = tuple(flag for flag in (*settings.flags, *edits, *address) if flag.name not in named)
    cached = None if checkpoint.folder is not None else hub_cache.cached_model(checkpoint.model)
    env = dict(settings.env)
    if checkpoint.folder is not None or (cached is not None and cached.complete):
        env["HF_HUB_OFFLINE"] = "1"
    if machine.vllm is not None and machine.vllm.cpu and vram_gib is None:
        env |= child_environment(vllm_cpu_version=machine.vllm.version)
    why = [*settings.why, *(change.words() if change is not None else ()), *parallel_remarks(checkpoint, spread)]
    why += remarks_on(own)
    if machine.known_flags is not None and vram_gib is None:
        why += machine.known_flags.remarks([*(flag.name for flag in flags), *(flag.name for flag in own)])
    if not is_loopback(host):
        why.append(f"{host} is reachable from other machines: whoever knows the API key can use this GPU, unencrypted")
    vllm = machine.vllm
    return Plan(
        checkpoint=checkpoint,
        program=vllm.program if vllm is not None else ("vllm",),
        flags=flags,
        own_flags=own,
        host=host,
        port=port,
        port_asked=port_asked,
        fit=settings.fit,
        why=tuple(why),
        budget=settings.budget,
        env=MappingProxyType(env),
        parallel=spread,
        sampler=change,
        asked=asked,
        vllm_version=None if vllm is None else vllm.version,
        on_cpu=checkpoint.cpu and not machine.gpus,
        on_cpu_build=vllm is not None and vllm.cpu,
        revision=None if cached is None else cached.revision,
    )


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(
    host: str | None, port: int | None, own: tuple[OwnFlag, ...], *, expose: bool
) -> tuple[str, int, bool, tuple[OwnFlag, ...]]:
    host = own_value(own, "--host") or host or "127.0.0.1"
    own_port = own_number(own, "--port", int)
    asked = int(own_port) if own_port is not None else port
    if asked is not None and not 1 <= asked <= 65535:
        raise LabError(f"There is no port {asked}", "Ports go from 1 to 65535.", "Name another with --port.", USAGE)
    if not is_loopback(host) and not expose:
        raise LabError(
            f"Listening on {host} opens the server to other machines",
            "Whoever reaches that address and knows the API key can use this GPU; nothing is encrypted.",
            "If that is what you want, say so: --expose. Otherwise leave the host out and use an SSH tunnel.",
            USAGE,
        )
    rest = tuple(flag for flag in own if flag.name not in ("--host", "--port"))
    return host, asked if asked is not None else ports.next_free_port(host=host), asked is not None, rest


def _refuse_two_samplers(own: tuple[OwnFlag, ...], change: SamplerChange) -> None:
    named = {flag.name for flag in own}
    for flag, clashes in (
        ("--generation-config", change.folder is not None),
        ("--diffusion-config", change.max_steps is not None),
    ):
        if clashes and flag in named:
            raise LabError(
                f"The sampler is set twice: by --sampler and by {flag}",
                f"labtui writes {flag} itself for what --sampler changes, and vLLM takes one.",
                f"Leave out one of the two; --sampler {' --sampler '.join(change.changed)} can be values of yours.",
                USAGE,
            )
