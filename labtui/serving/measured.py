"""What earlier launches measured, so that the next budget need not guess. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from labtui.serving.flags import OwnFlag, own_value, read_own_flags

CARD = "card"
"""The name under which a launch record keeps, beside the facts of its log, what it ran on."""
DECIDE_WEIGHTS = ("--quantization", "--dtype", "--load-format", "--tensor-parallel-size", "--pipeline-parallel-size")
DECIDE_ACTIVATIONS = (
    "--max-num-batched-tokens",
    "--enforce-eager",
    "--limit-mm-per-prompt",
    "--max-cudagraph-capture-size",
)
OTHERS_HELD_GIB = 1.5
"""More than this in use before vLLM took anything: another process was on the card, so the reading says little."""


class Kept(Protocol):
    """What is read of a launch record."""

    @property
    def id(self) -> str: ...
    @property
    def checkpoint(self) -> str: ...
    @property
    def plan_key(self) -> str: ...
    @property
    def command(self) -> tuple[str, ...]: ...
    @property
    def started_at(self) -> datetime: ...
    @property
    def vllm_version(self) -> str | None: ...
    @property
    def memory(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class MeasuredLaunch:
    """One launch that told its memory. GiB on each GPU; a value that its log did not tell is None.

    activation: peak activations and memory outside torch. context: what the card held before vLLM took anything.
    """

    id: str
    checkpoint: str
    plan_key: str
    day: str
    vllm_version: str | None
    card: str | None
    flags: tuple[OwnFlag, ...]
    weights_gib: float
    activation_gib: float | None = None
    graphs_gib: float | None = None
    context_gib: float | None = None
    total_gib: float | None = None

    def same(self, other: Iterable[OwnFlag], names: Sequence[str]) -> bool:
        theirs = tuple(other)
        return all(own_value(self.flags, name) == own_value(theirs, name) for name in names)


def measured_launches(launches: Iterable[Kept]) -> tuple[MeasuredLaunch, ...]:
    """Those that say how large their weights were, in the order given (newest first, as the store lists them)."""
    return tuple(one for launch in launches if (one := _measured(launch)) is not None)


def _measured(launch: Kept) -> MeasuredLaunch | None:
    facts = launch.memory
    weights = _number(facts, "weights_gib")
    if weights is None or weights <= 0:
        return None
    words = launch.command
    served = words.index("serve") + 2 if "serve" in words else len(words)
    activation, other = _number(facts, "activation_gib"), _number(facts, "non_torch_gib")
    total, free = _number(facts, "device_total_gib"), _number(facts, "device_free_gib")
    held = None if total is None or free is None else total - free
    return MeasuredLaunch(
        id=launch.id,
        checkpoint=launch.checkpoint,
        plan_key=launch.plan_key,
        day=f"{launch.started_at:%Y-%m-%d}",
        vllm_version=launch.vllm_version,
        card=str(facts[CARD]) if facts.get(CARD) else None,
        flags=read_own_flags(words[served:]),
        weights_gib=weights,
        activation_gib=None if activation is None else activation + (other or 0.0),
        graphs_gib=_number(facts, "graphs_gib"),
        context_gib=held if held is not None and 0 <= held < OTHERS_HELD_GIB else None,
        total_gib=total,
    )


def best_match(
    measured: Iterable[MeasuredLaunch],
    *,
    checkpoint: str,
    card: str | None,
    vllm_version: str | None,
    flags: Sequence[OwnFlag],
) -> MeasuredLaunch | None:
    """The newest launch of the same weights, spread in the same way on the same kind of card.

    One with the same vLLM and the same batch settings goes before a newer one without. activation_gib and graphs_gib
    are taken out where those settings differ: they follow from them.
    """
    fitting = [
        one
        for one in measured
        if one.checkpoint == checkpoint and one.card == card and card is not None and one.same(flags, DECIDE_WEIGHTS)
    ]
    for one in fitting:
        if one.vllm_version == vllm_version and one.same(flags, DECIDE_ACTIVATIONS):
            return one
    if not fitting:
        return None
    return replace(fitting[0], activation_gib=None, graphs_gib=None)


def _number(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else None
