"""Which settings a checkpoint gets on a machine, whether they fit, and why."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from labtui.serving.budget import (
    ACTIVATION_GIB,
    CONTEXT_GIB,
    DRIVER_GIB,
    GIB,
    Budget,
    Fit,
    Request,
    Sampler,
    cpu_budget,
    gpu_budget,
    kv_per_request_gib,
    sampler_for,
)
from labtui.serving.checkpoints import Architecture, CardDefaults, Checkpoint, Table
from labtui.serving.flags import Flag, OwnFlag, json_value, own_number, own_value
from labtui.serving.machine import Machine, parse_version
from labtui.serving.measured import MeasuredLaunch, best_match
from labtui.serving.parallel import Parallel

ASSUMED_VLLM = "0.32.0"
CPU_KV_BYTES = 128 << 20
"""Room for 59,918 tokens of the practice checkpoint, as vLLM prints at its start."""
KV_SPACE_VARIABLE = "VLLM_CPU_KVCACHE_SPACE"
SHORTEST_LENGTH = 8192
FIT_RANK: Mapping[Fit, int] = MappingProxyType({"NO": 0, "TIGHT": 1, "PASS": 2})
CACHE_BYTES = {"auto": 2, "bfloat16": 2, "float16": 2, "float32": 4}


@dataclass(frozen=True, slots=True)
class Settings:
    flags: tuple[Flag, ...]
    fit: Fit
    why: tuple[str, ...]
    budget: Budget | None
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """All that decides the settings of one launch. max_steps: a cap on denoising steps, where one was asked for."""

    checkpoint: Checkpoint
    known: Table
    machine: Machine
    own: tuple[OwnFlag, ...]
    parallel: Parallel
    vram_gib: float | None
    measured: tuple[MeasuredLaunch, ...] = ()
    max_steps: int | None = None

    @property
    def gpus(self) -> int:
        return self.parallel.cards

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

    def on_gpu(self) -> Settings:
        total = self.vram_gib
        cards = self.machine.gpus[: self.gpus]
        if total is None and (len(cards) == self.gpus or (cards and self.parallel.ray)):
            total = min(card.total_gib for card in cards)
        if total is None:
            found = f"{len(self.machine.gpus)} GPUs were found" if self.machine.gpus else "no NVIDIA GPU was found"
            why = (f"{found}; this checkpoint needs {self.gpus}. To plan for another machine give its memory: --vram",)
            row = self.known.cards[0]
            return Settings(self._gpu_flags(row, self.wanted_sequences, None), "NO", why, None, self._gpu_env())
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

    def _gpu_settings(self, row: CardDefaults, total: float, usable: float) -> Settings:
        architecture = self._architecture
        cache_bytes = 1 if row.kv_cache_dtype.startswith("fp8") else CACHE_BYTES.get(row.kv_cache_dtype, 2)
        request = Request(row.max_model_len, row.max_num_batched_tokens, cache_bytes, self.batches_in_flight)
        seen = self._measured(row, total)
        weights, activation, context, told = self.checkpoint.resident_gib, ACTIVATION_GIB, CONTEXT_GIB, []
        weights /= self.parallel.weight_shares
        if seen is not None:
            weights = seen.weights_gib
            activation = seen.activation_gib if seen.activation_gib is not None else activation
            context = (seen.context_gib if seen.context_gib is not None else context) + max(0.0, seen.graphs_gib or 0.0)
            usable = seen.total_gib or usable
            told.append(_told(seen))
        budget = gpu_budget(
            total_gib=usable,
            utilization=row.gpu_memory_utilization,
            weights_gib=weights,
            kv_request_gib=kv_per_request_gib(architecture, request, self.parallel.tensor) / self.parallel.pipeline,
            sampler=self.sampler(architecture.vocabulary),
            wanted_sequences=self.wanted_sequences,
            activation_gib=activation,
            context_gib=context,
        )
        sequences = max(1, min(self.wanted_sequences, budget.safe_sequences))
        fit, notes = self._capability(budget.fit)
        given = "as you said" if self.vram_gib is not None else "as the driver says"
        origin = f"{self.gpus} × " if self.gpus > 1 else ""
        spread = [f"spread over {self.gpus} GPUs: {self.parallel.words()}"] if self.gpus > 1 else []
        inputs = f"{origin}{total:.1f} GiB card {given}, {usable:.1f} GiB of it usable; vLLM {self._vllm_text}"
        why = (*notes, *budget.why, *self._about_cache(row), *told, inputs, *spread)
        return Settings(self._gpu_flags(row, sequences, total), fit, why, budget, self._gpu_env())

    def _about_cache(self, row: CardDefaults) -> list[str]:
        """A cache of less precision than the weights is never taken in silence."""
        if row.kv_cache_dtype == "auto" or own_value(self.own, "--kv-cache-dtype") is not None:
            return []
        return [
            f"the KV cache is kept in {row.kv_cache_dtype}, a little less exact, since a card of this size is short of "
            "memory; --kv-cache-dtype auto keeps it in bf16, where it fits"
        ]

    def _measured(self, row: CardDefaults, total: float) -> MeasuredLaunch | None:
        """What an earlier launch like this one told; nothing for a card that is only named."""
        if self.vram_gib is not None or not self.measured or not self.machine.gpus:
            return None
        made = self._gpu_flags(row, self.wanted_sequences, total)
        named = {flag.name for flag in self.own}
        flags = [OwnFlag(one.name, () if one.value is None else (one.value,), ()) for one in made]
        vllm = self.machine.vllm
        return best_match(
            self.measured,
            checkpoint=self.checkpoint.id,
            card=self.machine.gpus[0].name,
            vllm_version=None if vllm is None else vllm.version,
            flags=[*(flag for flag in flags if flag.name not in named), *self.own],
        )

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
            flags.append(self._diffusion_config())
        if row.kv_cache_dtype != "auto":
            flags.append(Flag("--kv-cache-dtype", row.kv_cache_dtype, "half the KV cache for the same context"))
        if total is not None and row.max_num_batched_tokens != self._default_batched_tokens(total):
            why = "prompt tokens computed at once; fewer keep the sliding-window cache small"
            flags.append(Flag("--max-num-batched-tokens", str(row.max_num_batched_tokens), why))
        return (*flags, *self.parallel.flags())

    def _diffusion_config(self) -> Flag:
        canvas = self.checkpoint.canvas or 256
        value: dict[str, object] = {"canvas_length": canvas}
        why = f"blocks of {canvas} tokens denoised in parallel"
        if self.max_steps is not None:
            value["max_denoising_steps"] = self.max_steps
            return Flag("--diffusion-config", json_value(value), f"{why}, in {self.max_steps} steps at most", "you")
        return Flag("--diffusion-config", json_value(value), why, "checkpoint")

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

    def _cpu_kv_gib(self) -> float:
        """The variable goes before the flag: vLLM lets it (platforms/cpu.py)."""
        if space := os.environ.get(KV_SPACE_VARIABLE):
            return float(space)
        return float(own_number(self.own, "--kv-cache-memory-bytes", int) or CPU_KV_BYTES) / GIB

    def on_cpu(self) -> Settings:
        """A checkpoint made for the CPU; where a GPU is, vLLM for it serves the same small model there."""
        checkpoint = self.checkpoint
        architecture = self._architecture
        length = int(own_number(self.own, "--max-model-len", int) or checkpoint.max_model_len or architecture.context)
        request = Request(length, length, CACHE_BYTES.get(checkpoint.precision, 2), 1)
        kv_space = self._cpu_kv_gib()
        budget = cpu_budget(
            available_gib=self.machine.memory_available_gib,
            host_memory_gib=(checkpoint.host_memory_gib or checkpoint.resident_gib) + kv_space - CPU_KV_BYTES / GIB,
            kv_space_gib=kv_space,
            weights_gib=checkpoint.resident_gib,
            kv_request_gib=kv_per_request_gib(architecture, request),
            sampler=self.sampler(architecture.vocabulary),
            wanted_sequences=self.wanted_sequences,
        )
        flags: tuple[Flag, ...] = (
            Flag("--served-model-name", checkpoint.name, "the name that requests use"),
            Flag("--max-num-seqs", str(self.wanted_sequences), "requests that denoise together"),
            Flag("--max-model-len", str(length), "the longest request, prompt and answer together"),
            Flag("--dtype", checkpoint.precision, "the precision that the weights were trained in"),
            Flag("--enforce-eager", None, "starts sooner and needs no compiler; later speed is the same here"),
            self._diffusion_config(),
            Flag("--limit-mm-per-prompt", json_value({"image": 2, "video": 0}), "pictures yes, videos no"),
        )
        env = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_USE_V2_MODEL_RUNNER": "1"}
        if self.machine.vllm is None or self.machine.vllm.cpu:
            # One process less, and one thread: so small a model waits longer for a second one than it gains by it.
            env |= {"TORCH_COMPILE_DISABLE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "OMP_NUM_THREADS": "1"}
            env |= {name: os.environ[name] for name in ("OMP_NUM_THREADS", KV_SPACE_VARIABLE) if os.environ.get(name)}
            if not os.environ.get(KV_SPACE_VARIABLE):
                why_so_small = f"memory for the KV cache, {CPU_KV_BYTES >> 20} MiB: many times what requests here take"
                flags = (*flags, Flag("--kv-cache-memory-bytes", str(CPU_KV_BYTES), why_so_small))
        why = (*budget.why, "numbers from it are practice numbers: they say nothing about DiffusionGemma 26B")
        return Settings(flags, budget.fit, why, budget, env)


def _told(seen: MeasuredLaunch) -> str:
    parts = [f"weights {seen.weights_gib:.2f}"]
    parts += [f"activations {seen.activation_gib:.2f}"] if seen.activation_gib is not None else []
    parts += [f"CUDA graphs {seen.graphs_gib:.2f}"] if seen.graphs_gib is not None else []
    return f"measured, not estimated: {', '.join(parts)} GiB, as vLLM printed at the launch {seen.id} of {seen.day}"


def _capability(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)
