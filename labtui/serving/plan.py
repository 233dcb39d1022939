"""One launch before it happens: checkpoint, flags, memory budget and the command that they make."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from labtui.errors import USAGE, LabError
from labtui.serving import hub_cache, ports
from labtui.serving.budget import (
    DRIVER_GIB,
    Budget,
    Fit,
    Request,
    Sampler,
    cpu_budget,
    gpu_budget,
    kv_per_request_gib,
    sampler_for,
)
from labtui.serving.checkpoints import (
    Architecture,
    CardDefaults,
    Checkpoint,
    Table,
    find_checkpoint,
    table,
)
from labtui.serving.flags import Flag, OwnFlag, json_value, own_number, own_value, read_own_flags, remarks_on
from labtui.serving.machine import Machine, parse_version, read_machine
from labtui.serving.vllm_cpu import child_environment

ASSUMED_VLLM = "0.32.0"
CPU_KV_SPACE_GIB = 1
SHORTEST_LENGTH = 8192
FIT_RANK: Mapping[Fit, int] = MappingProxyType({"NO": 0, "TIGHT": 1, "PASS": 2})
CACHE_BYTES = {"auto": 2, "bfloat16": 2, "float16": 2, "float32": 4}


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
    gpus: int = 1
    port_asked: bool = False
    vllm_version: str | None = None
    on_cpu: bool = False
    revision: str | None = None

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
        "gpus": plan.gpus,
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
    machine: Machine | None = None,
    tables: Iterable[Path] = (),
) -> Plan:
    """Plan one launch. Raises LabError (exit 2) for a choice that cannot be.

    vram_gib: memory of one card as its name says it, for a machine that is not this one.
    expose: the word that is needed to listen on another address than 127.0.0.1.
    """
    machine = machine or read_machine()
    known = table(tuple(tables))
    checkpoint = find_checkpoint(checkpoint_id or default_checkpoint(machine, vram_gib), tables)
    own = read_own_flags(extra_flags)
    host, port, asked, own = _address(host, port, own, expose=expose)
    gpus = _gpu_count(checkpoint, known, gpus, own)
    if max_model_len is not None:
        own = tuple(flag for flag in own if flag.name != "--max-model-len")
        own = (*own, OwnFlag("--max-model-len", (str(max_model_len),), ("--max-model-len", str(max_model_len))))
    on_cpu = checkpoint.cpu and vram_gib is None and not machine.gpus
    choice = _Choice(checkpoint, known, machine, own, gpus, vram_gib)
    settings = choice.on_cpu() if on_cpu or checkpoint.cpu else choice.on_gpu()

    address = (
        Flag("--host", host, "only this machine can reach it" if is_loopback(host) else "others can reach it"),
        Flag("--port", str(port), "you asked for it" if asked else "the first free one", "you" if asked else "labtui"),
    )
    named = {flag.name for flag in own}
    flags = tuple(flag for flag in (*settings.flags, *address) if flag.name not in named)
    cached = None if checkpoint.folder is not None else hub_cache.cached_model(checkpoint.model)
    env = dict(settings.env)
    if checkpoint.folder is not None or (cached is not None and cached.complete):
        env["HF_HUB_OFFLINE"] = "1"
    if machine.vllm is not None and machine.vllm.cpu and vram_gib is None:
        env |= child_environment(vllm_cpu_version=machine.vllm.version)
    why = [*settings.why, *remarks_on(own)]
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
        port_asked=asked,
        fit=settings.fit,
        why=tuple(why),
        budget=settings.budget,
        env=MappingProxyType(env),
        gpus=gpus,
        vllm_version=None if vllm is None else vllm.version,
        on_cpu=checkpoint.cpu and not machine.gpus,
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


def _gpu_count(checkpoint: Checkpoint, known: Table, gpus: int, own: tuple[OwnFlag, ...]) -> int:
    own_count = own_number(own, "--tensor-parallel-size", int)
    count = int(own_count) if own_count is not None else gpus
    if count < 1:
        raise LabError(f"{count} GPUs cannot serve", "At least one is needed.", "Give --gpus 1 or more.", USAGE)
    if checkpoint.architecture is not None:
        heads = known.architectures[checkpoint.architecture].attention_heads
        if heads % count:
            sizes = ", ".join(str(size) for size in range(1, heads + 1) if heads % size == 0)
            raise LabError(
                f"{count} GPUs cannot share this model",
                f"Its {heads} attention heads must divide evenly among them.",
                f"Give --gpus one of {sizes}.",
                USAGE,
            )
    return count


@dataclass(frozen=True, slots=True)
class _Settings:
    flags: tuple[Flag, ...]
    fit: Fit
    why: tuple[str, ...]
    budget: Budget | None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Choice:
    """All that decides the settings of one launch."""

    checkpoint: Checkpoint
    known: Table
    machine: Machine
    own: tuple[OwnFlag, ...]
    gpus: int
    vram_gib: float | None

    @property
    def release(self) -> tuple[int, ...]:
        installed = None if self.machine.vllm is None else self.machine.vllm.release
        return installed or parse_version(ASSUMED_VLLM)

    @property
    def batches_in_flight(self) -> int:
        """Asynchronous scheduling, the default from 0.26, computes one batch ahead."""
        return 2 if self.release >= (0, 26) else 1

    @property
    def wanted_sequences(self) -> int:
        return int(own_number(self.own, "--max-num-seqs", int) or self.checkpoint.max_num_seqs)

    def sampler(self, vocabulary: int) -> Sampler:
        checkpoint = self.checkpoint
        canvas = checkpoint.canvas or 256
        return sampler_for(self.release, diffusion=checkpoint.diffusion, canvas=canvas, vocabulary=vocabulary)

    # --- a GPU

    def on_gpu(self) -> _Settings:
        total = self.vram_gib
        cards = self.machine.gpus[: self.gpus]
        if total is None and len(cards) == self.gpus:
            total = min(card.total_gib for card in cards)
        if total is None:
            found = f"{len(self.machine.gpus)} GPUs were found" if self.machine.gpus else "no NVIDIA GPU was found"
            why = (f"{found}; this checkpoint needs {self.gpus}. To plan for another machine give its memory: --vram",)
            row = self.known.cards[0]
            return _Settings(self._gpu_flags(row, self.wanted_sequences, None), "NO", why, None, self._gpu_env())
        usable = total - DRIVER_GIB
        settings = [self._gpu_settings(row, total, usable) for row in self._rows(total)]
        return max(settings, key=lambda one: FIT_RANK[one.fit])

    def _rows(self, total: float) -> list[CardDefaults]:
        """Settings to try, best first. A larger card tries all that a smaller one does: it never fits less."""
        rows: list[CardDefaults] = []
        asked_length = own_number(self.own, "--max-model-len", int)
        utilization = own_number(self.own, "--gpu-memory-utilization", float)
        batched = own_number(self.own, "--max-num-batched-tokens", int)
        dtype = own_value(self.own, "--kv-cache-dtype")
        context = self._architecture.context
        for card in self.known.cards:
            if card.from_gib > total:
                continue
            length = min(card.max_model_len, self.checkpoint.max_model_len or context)
            while True:
                row = CardDefaults(
                    from_gib=card.from_gib,
                    gpu_memory_utilization=float(utilization or card.gpu_memory_utilization),
                    max_model_len=int(asked_length or length),
                    kv_cache_dtype=dtype or (card.kv_cache_dtype if self._fp8_cache else "auto"),
                    max_num_batched_tokens=int(batched or card.max_num_batched_tokens),
                )
                if row not in rows:
                    rows.append(row)
                length //= 2
                if asked_length or length < SHORTEST_LENGTH:
                    break
        return rows

    @property
    def _architecture(self) -> Architecture:
        """What the folder says, where the weights lie in one; else what the table says."""
        folder = self.checkpoint.folder
        if folder is not None:
            try:
                return Architecture.from_config(json.loads((folder / "config.json").read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError):
                pass
        named = self.checkpoint.architecture
        return self.known.architectures[named] if named else next(iter(self.known.architectures.values()))

    @property
    def _fp8_cache(self) -> bool:
        """An fp8 cache is computed from capability 8.9 on; a card that is only named is taken for a new one."""
        cards = self.machine.gpus if self.vram_gib is None else ()
        return all(card.compute_capability is None or card.compute_capability >= (8, 9) for card in cards)

    def _gpu_settings(self, row: CardDefaults, total: float, usable: float) -> _Settings:
        architecture = self._architecture
        cache_bytes = 1 if row.kv_cache_dtype.startswith("fp8") else CACHE_BYTES.get(row.kv_cache_dtype, 2)
        request = Request(row.max_model_len, row.max_num_batched_tokens, cache_bytes, self.batches_in_flight)
        budget = gpu_budget(
            total_gib=usable,
            utilization=row.gpu_memory_utilization,
            weights_gib=self.checkpoint.resident_gib / self.gpus,
            kv_request_gib=kv_per_request_gib(architecture, request, self.gpus),
            sampler=self.sampler(architecture.vocabulary),
            wanted_sequences=self.wanted_sequences,
        )
        sequences = max(1, min(self.wanted_sequences, budget.safe_sequences))
        fit, notes = self._capability(budget.fit)
        given = "as you said" if self.vram_gib is not None else "as the driver says"
        origin = f"{self.gpus} × " if self.gpus > 1 else ""
        inputs = f"{origin}{total:.1f} GiB card {given}, {usable:.1f} GiB of it usable; vLLM {self._vllm_text}"
        why = (*notes, *budget.why, inputs)
        return _Settings(self._gpu_flags(row, sequences, total), fit, why, budget, self._gpu_env())

    @property
    def _vllm_text(self) -> str:
        installed = self.machine.vllm
        if installed is not None and installed.version is not None:
            return installed.version
        return f"{ASSUMED_VLLM} assumed, none is installed here" if installed is None else f"{ASSUMED_VLLM} assumed"

    def _capability(self, fit: Fit) -> tuple[Fit, list[str]]:
        notes: list[str] = []
        for card in self.machine.gpus[: self.gpus] if self.vram_gib is None else ():
            have = card.compute_capability
            least = _capability(self.checkpoint.min_compute_capability)
            native = _capability(self.checkpoint.native_compute_capability)
            if have is None:
                continue
            if least is not None and have < least:
                fit = "NO"
                notes.append(
                    f"{card.name} has compute capability {card.capability_text}, this checkpoint needs "
                    f"{self.checkpoint.min_compute_capability}"
                )
            elif native is not None and have < native:
                notes.append(
                    f"{card.name} (compute capability {card.capability_text}) does not compute in "
                    f"{self.checkpoint.precision}: weights are unpacked first, which fits but is slower"
                )
        return fit, notes

    def _gpu_flags(self, row: CardDefaults, sequences: int, total: float | None) -> tuple[Flag, ...]:
        checkpoint = self.checkpoint
        flags = [
            Flag(
                "--max-model-len", str(row.max_model_len), "the longest request, prompt and answer together", "recipe"
            ),
            Flag(
                "--max-num-seqs", str(sequences), "requests that denoise together; each takes sampler memory", "recipe"
            ),
            Flag(
                "--gpu-memory-utilization",
                f"{row.gpu_memory_utilization:.2f}",
                "the share for weights and KV cache; the sampler lives in the rest",
                "recipe",
            ),
        ]
        if checkpoint.served_name:
            flags.insert(0, Flag("--served-model-name", checkpoint.served_name, "the name that requests use"))
        if checkpoint.diffusion:
            canvas = checkpoint.canvas or 256
            value = json_value({"canvas_length": canvas})
            flags.append(Flag("--diffusion-config", value, f"blocks of {canvas} tokens denoised in parallel", "recipe"))
        if row.kv_cache_dtype != "auto":
            flags.append(Flag("--kv-cache-dtype", row.kv_cache_dtype, "half the KV cache for the same context"))
        if total is not None and row.max_num_batched_tokens != self._default_batched_tokens(total):
            why = "prompt tokens computed at once; fewer keep the sliding-window cache small"
            flags.append(Flag("--max-num-batched-tokens", str(row.max_num_batched_tokens), why))
        if self.gpus > 1:
            flags.append(Flag("--tensor-parallel-size", str(self.gpus), "the GPUs share every layer"))
        return tuple(flags)

    def _default_batched_tokens(self, total: float) -> int:
        """vLLM's own choice by memory of the card (engine/arg_utils.py, read in 0.24 to 0.33)."""
        a100 = any("A100" in card.name for card in self.machine.gpus) and self.vram_gib is None
        if total >= 160 and self.release >= (0, 32):
            return 16384
        return 8192 if total >= 70 and not a100 else 2048

    def _gpu_env(self) -> dict[str, str]:
        env = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
        vllm = self.machine.vllm
        if vllm is not None and vllm.version is not None and not vllm.cpu and not self.machine.flashinfer:
            # vLLM 0.26 imports it unguarded after a minute of loading, and dies.
            env["VLLM_USE_FLASHINFER_SAMPLER"] = "0"
        return env

    # --- the CPU

    def on_cpu(self) -> _Settings:
        """A checkpoint made for the CPU; where a GPU is, vLLM for it serves the same small model there."""
        checkpoint = self.checkpoint
        architecture = self._architecture
        length = int(own_number(self.own, "--max-model-len", int) or checkpoint.max_model_len or architecture.context)
        request = Request(length, length, CACHE_BYTES.get(checkpoint.precision, 2), 1)
        kv_space = float(os.environ.get("VLLM_CPU_KVCACHE_SPACE") or CPU_KV_SPACE_GIB)
        budget = cpu_budget(
            available_gib=self.machine.memory_available_gib,
            host_memory_gib=(checkpoint.host_memory_gib or checkpoint.resident_gib) + kv_space - CPU_KV_SPACE_GIB,
            kv_space_gib=kv_space,
            weights_gib=checkpoint.resident_gib,
            kv_request_gib=kv_per_request_gib(architecture, request),
            sampler=self.sampler(architecture.vocabulary),
            wanted_sequences=self.wanted_sequences,
        )
        canvas = checkpoint.canvas or 256
        flags = (
            Flag("--served-model-name", checkpoint.name, "the name that requests use"),
            Flag("--max-num-seqs", str(self.wanted_sequences), "requests that denoise together"),
            Flag("--max-model-len", str(length), "the longest request, prompt and answer together"),
            Flag("--dtype", checkpoint.precision, "the precision that the weights were trained in"),
            Flag("--enforce-eager", None, "starts sooner and needs no compiler; later speed is the same here"),
            Flag(
                "--diffusion-config",
                json_value({"canvas_length": canvas}),
                f"blocks of {canvas} tokens denoised in parallel",
            ),
            Flag("--limit-mm-per-prompt", json_value({"image": 2, "video": 0}), "pictures yes, videos no"),
        )
        env = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_USE_V2_MODEL_RUNNER": "1"}
        if self.machine.vllm is None or self.machine.vllm.cpu:
            env |= {"VLLM_CPU_KVCACHE_SPACE": f"{kv_space:g}", "TORCH_COMPILE_DISABLE": "1"}
        why = (*budget.why, "numbers from it are practice numbers: they say nothing about DiffusionGemma 26B")
        return _Settings(flags, budget.fit, why, budget, env)


def _capability(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


def with_program(plan: Plan, program: Sequence[str]) -> Plan:
    """The same plan run by another executable, which takes the same words after "serve"."""
    return replace(plan, program=tuple(program))
