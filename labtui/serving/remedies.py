"""From the named cause of a death to other plans that avoid it. Offered as plans, never started unasked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from labtui.errors import LabError
from labtui.serving import ports
from labtui.serving.asked import Asked
from labtui.serving.checkpoints import Checkpoint, checkpoints
from labtui.serving.diagnosis import Cause
from labtui.serving.machine import Machine
from labtui.serving.measured import MeasuredLaunch
from labtui.serving.plan import Plan, make_plan

UTILIZATION = "--gpu-memory-utilization"
LENGTH, SEQUENCES = "--max-model-len", "--max-num-seqs"
CACHE_TYPE, CACHE_BYTES = "--kv-cache-dtype", "--kv-cache-memory-bytes"
STEP, LOWEST, HIGHEST = 0.05, 0.30, 0.95
SHORTEST = 256
LEFT_FREE_GIB = 0.5
SPARE = 1.1
MOST_OFFERED = 3


@dataclass(frozen=True, slots=True)
class Remedy:
    """words: what is different, for the person. command: the line that starts it."""

    plan: Plan
    words: str

    @property
    def command(self) -> str:
        return self.plan.asked.command() if self.plan.asked is not None else self.plan.pasteable()


Change = tuple[Asked, str]


def remedies(
    plan: Plan, causes: Iterable[Cause], *, machine: Machine | None = None, measured: Iterable[MeasuredLaunch] = ()
) -> tuple[tuple[Cause, Remedy], ...]:
    """The plans that avoid the first cause for which there is one, best first; no two start the same server."""
    kept = tuple(measured)
    for cause in causes:
        found: dict[str, Remedy] = {}
        for change in (cause.change, *cause.other_changes):
            other = _remedy(plan, cause, change, machine, kept)
            first = change is cause.change
            # What labtui's own estimate refuses is offered only where it is the catalogue's first choice.
            if other is not None and (first or other.plan.fit != "NO"):
                # A change of the port alone starts the same server elsewhere, which is what was wanted then.
                found.setdefault(f"{other.plan.key} {other.plan.port if other.plan.port_asked else ''}", other)
        if found:
            return tuple((cause, one) for one in found.values())[:MOST_OFFERED]
    return ()


def _remedy(
    plan: Plan,
    cause: Cause,
    change: Mapping[str, str],
    machine: Machine | None,
    measured: tuple[MeasuredLaunch, ...],
) -> Remedy | None:
    """None where no setting helps, or where none is left to be changed."""
    if plan.asked is None:
        return None
    asked, said = plan.asked, []
    for name, value in change.items():
        done = CHANGES[name](plan, asked, value, cause)
        if done is None:
            continue
        asked, words = done
        said.append(words)
    if not said:
        return None
    try:
        made = make_plan(**asked.choices(), machine=machine, measured=measured)
    except LabError:
        return None
    return Remedy(made, " and ".join(said))


def _port(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    port = ports.next_free_port(ports.DEFAULT_PORT, plan.host, skip=(plan.port,))
    return replace(asked.without_flag("--port"), port=port), f"port {port} instead of {plan.port}"


def _length(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    now = _number(plan, LENGTH)
    if value.isdigit():
        length, least = int(value), (plan.checkpoint.canvas or 0) + 1
    elif now is not None:
        length, least = int(now) // 2, SHORTEST
    else:
        return None
    if length < least or (now is not None and length >= now):
        return None
    words = f"requests of {length:,} tokens at most" + (f" instead of {now:,.0f}" if now is not None else "")
    return replace(asked.without_flag(LENGTH), max_model_len=length), words


def _sequences(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    now = _number(plan, SEQUENCES)
    if now is None or now <= 1:
        return None
    fewer = max(1, int(now) // 2)
    return asked.with_flag(SEQUENCES, str(fewer)), f"{fewer} requests at once instead of {now:.0f}"


def _utilization(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    now = _number(plan, UTILIZATION)
    if plan.on_cpu or now is None:
        return None
    share = now + STEP if value == "higher" else now - STEP
    free = re.search(r"\((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup", cause.text)
    if value == "lower" and free is not None:
        share = min(share, (float(free["free"]) - LEFT_FREE_GIB) / float(free["total"]))
    share = int(share * 100 + 1e-6) / 100
    if not LOWEST <= share <= HIGHEST:
        return None
    return asked.with_flag(UTILIZATION, f"{share:.2f}"), f"{share:.2f} of the card for vLLM instead of {now:.2f}"


def _kv_cache(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    """vLLM's CPU build computes no fp8 cache, and a plan that was short of memory has one already."""
    now = next((flag.value for flag in plan.flags if flag.name == CACHE_TYPE), "auto")
    if plan.on_cpu or (now or "auto") != "auto" or any(own.name == CACHE_TYPE for own in plan.own_flags):
        return None
    return asked.with_flag(CACHE_TYPE, value), f"the KV cache in {value}, with room for about twice as many tokens"


def _kv_cache_memory(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    """On the CPU the size of the cache is given in bytes. value: tokens wanted / tokens it has room for, or a word.

    The GiB that vLLM prints are rounded to a tenth. A request takes no more than in proportion to its length.
    """
    now = _number(plan, CACHE_BYTES)
    if now is None:
        return None
    wanted_tokens, _, room_tokens = value.partition("/")
    times = (_float(wanted_tokens) or 0.0) / (_float(room_tokens) or 1.0)
    wanted = round(now * max(2.0, times * SPARE))
    return asked.with_flag(CACHE_BYTES, str(wanted)), f"{_size(wanted)} for the KV cache instead of {_size(now)}"


def _size(count: float) -> str:
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"


def _checkpoint(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    known = checkpoints(Path(one) for one in asked.tables)
    now = plan.checkpoint
    if value == "practice":
        wanted = known.get("practice")
    else:
        # The largest of the same kind that is smaller, or for an unsupported format any other one that the card takes.
        others = [one for one in known.values() if _same_kind(one, now) and one.precision != now.precision]
        if value == "smaller":
            others = [one for one in others if one.resident_gib < now.resident_gib]
        others.sort(key=lambda one: one.resident_gib, reverse=True)
        wanted = next(iter(others), None)
    if wanted is None or wanted.id == now.id:
        return None
    # Flags for the other checkpoint's size and format may be wrong for this one.
    return replace(asked, checkpoint=wanted.id), f"checkpoint {wanted.id} instead of {now.id}"


def _same_kind(one: Checkpoint, other: Checkpoint) -> bool:
    return not one.practice and not one.cpu and one.diffusion == other.diffusion


def _gpus(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    if plan.gpus == 1:
        return None
    alone = replace(asked, gpus=1, pipeline=1, copies=1)
    for name in ("--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"):
        alone = alone.without_flag(name)
    return alone, f"one GPU instead of {plan.gpus}"


def _flag(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    name, *values = value.split()
    if values and any(own.name == name and own.values == tuple(values) for own in asked.own):
        return None
    return asked.with_flag(name, *values), f"with {value}"


def _flag_out(plan: Plan, asked: Asked, value: str, cause: Cause) -> Change | None:
    """Only a flag of the person's own can be taken out."""
    if not any(own.name == value or own.typed[0] == value for own in asked.own):
        return None
    kept = [word for own in asked.own if value not in (own.name, own.typed[0]) for word in own.typed]
    return replace(asked, extra_flags=tuple(kept)), f"without {value}"


CHANGES: Mapping[str, Callable[[Plan, Asked, str, Cause], Change | None]] = MappingProxyType(
    {
        "port": _port,
        "max_model_len": _length,
        "max_num_seqs": _sequences,
        "gpu_memory_utilization": _utilization,
        "kv_cache": _kv_cache,
        "kv_cache_memory": _kv_cache_memory,
        "checkpoint": _checkpoint,
        "gpus": _gpus,
        "flag": _flag,
        "flag_out": _flag_out,
    }
)
"""By the keys of `change` and `other_changes` in failures.toml."""


def _number(plan: Plan, name: str) -> float | None:
    for own in reversed(plan.own_flags):
        if own.name == name and own.values:
            return _float(own.values[-1])
    return next((_float(flag.value) for flag in plan.flags if flag.name == name), None)


def _float(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
