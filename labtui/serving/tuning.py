"""Which settings matter on this card: what is tried, the table of what came of it, and what it says.

One setting is changed at a time, against the same base; what helped is then tried together. Every row is a launch of
its own with a short trial, so each of its figures was measured on this machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from labtui.serving.asked import Asked
from labtui.serving.machine import Machine
from labtui.serving.plan import Plan

FORMAT_VERSION = 1
LEAST_GAIN = 0.03
"""A smaller gain than this is no reason to leave what the plan says."""
CAPTURE, BACKEND, BATCHED = "--max-cudagraph-capture-size", "--attention-backend", "--max-num-batched-tokens"
QUANTIZATION, SEQUENCES, THREADS = "--quantization", "--max-num-seqs", "OMP_NUM_THREADS"
BASE, TOGETHER = "base", "together"
FP8_FROM = (8, 9)


@dataclass(frozen=True, slots=True)
class Variation:
    """One change of the base plan. group: what it is about; of each group at most one ends in the proposal.

    changes_answers: it computes in another precision, so the answers are others too.
    """

    id: str
    group: str
    words: str
    flags: tuple[tuple[str, str], ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    changes_answers: bool = False

    def of(self, asked: Asked) -> Asked:
        for name, value in self.flags:
            asked = asked.with_flag(name, value)
        return asked


def variations(plan: Plan, machine: Machine) -> tuple[Variation, ...]:
    """Nothing that the person set: that is the base."""
    own = {flag.name for flag in plan.own_flags}
    tried = _on_cpu(plan, own) if plan.on_cpu else _on_gpu(plan, machine, own)
    return (Variation(BASE, BASE, "the plan as it is"), *tried)


def _on_gpu(plan: Plan, machine: Machine, own: set[str]) -> Iterable[Variation]:
    if BACKEND not in own:
        for backend in ("TRITON_ATTN", "FLASH_ATTN"):
            yield _one(BACKEND, backend, f"attention by {backend}, whichever vLLM would choose")
    if CAPTURE not in own and "--enforce-eager" not in plan.argv and plan.checkpoint.diffusion:
        # Two canvases fit the default graphs. On an H200 1,024 gave 1,333 instead of 1,240 tok/s with four streams.
        yield _one(CAPTURE, "1024", "CUDA graphs for four canvases at once instead of two")
    if BATCHED not in own:
        now = _value(plan, BATCHED)
        for count in ("4096", "16384"):
            if count != now:
                yield _one(BATCHED, count, f"{int(count):,} prompt tokens computed at once")
    capabilities = [card.compute_capability for card in machine.gpus[: plan.gpus]]
    if (
        QUANTIZATION not in own
        and plan.checkpoint.precision == "bf16"
        and all(one is not None and one >= FP8_FROM for one in capabilities)
    ):
        words = "weights rounded to 8 bits while they are loaded: answers change a little"
        yield replace(_one(QUANTIZATION, "fp8", words), changes_answers=True)


def _on_cpu(plan: Plan, own: set[str]) -> Iterable[Variation]:
    cores = os.cpu_count() or 1
    threads = plan.env.get(THREADS, "1")
    for count in sorted({"1", str(cores)} - {threads}):
        words = f"{count} thread{'' if count == '1' else 's'} for the arithmetic"
        yield Variation(f"{THREADS}={count}", THREADS, words, env=MappingProxyType({THREADS: count}))
    if SEQUENCES not in own:
        now = _value(plan, SEQUENCES)
        for count in ("2", "8"):
            if count != now:
                yield _one(SEQUENCES, count, f"{count} requests denoised together")
    if BATCHED not in own:
        yield _one(BATCHED, "1024", "1,024 prompt tokens computed at once")


def _one(flag: str, value: str, words: str) -> Variation:
    return Variation(f"{flag} {value}", flag, words, ((flag, value),))


def _value(plan: Plan, name: str) -> str | None:
    return next((flag.value for flag in plan.flags if flag.name == name), None)


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens per second of all requests together, over n rounds: median, lowest, highest."""

    median: float
    lowest: float
    highest: float
    n: int


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one launch. rates: by requests at once. failed: why there is none. command: the whole argv."""

    variation: Variation
    rates: Mapping[int, Rate] = field(default_factory=dict)
    failed: str | None = None
    ready_after_s: float | None = None
    command: tuple[str, ...] = ()
    measured_at: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """launch_id: the server that the tuning has running; a tuning that was killed finds it by this again."""

    key: str
    checkpoint: str
    practice: bool
    hardware: tuple[str, ...]
    vllm_version: str | None
    rows: tuple[Row, ...] = ()
    launch_id: str | None = None

    def row(self, variation_id: str) -> Row | None:
        return next((row for row in self.rows if row.variation.id == variation_id), None)

    def with_row(self, row: Row) -> Table:
        kept = tuple(one for one in self.rows if one.variation.id != row.variation.id)
        return replace(self, rows=(*kept, row))


def remaining(table: Table, wanted: Sequence[Variation], at_once: Sequence[int] = ()) -> list[Variation]:
    """What has no row yet, or none for so many requests at once, in order. What did not serve is not tried again."""
    left = []
    for one in wanted:
        row = table.row(one.id)
        if row is None or (row.failed is None and not set(at_once) <= set(row.rates)):
            left.append(one)
    return left


def gain(table: Table, row: Row, requests: int) -> float | None:
    """Of the medians, against the base: 0.1 is 10 % more. None where one of the two was not measured."""
    base = table.row(BASE)
    ours, theirs = row.rates.get(requests), base.rates.get(requests) if base is not None else None
    if ours is None or theirs is None or theirs.median <= 0:
        return None
    return ours.median / theirs.median - 1


def is_clear(table: Table, row: Row, requests: int) -> bool:
    """More than LEAST_GAIN, and its slowest round beats the base's median: noise of a few rounds is no gain."""
    more, base = gain(table, row, requests), table.row(BASE)
    if more is None or base is None:
        return False
    return more >= LEAST_GAIN and row.rates[requests].lowest > base.rates[requests].median


def is_noise(table: Table, row: Row, requests: int) -> bool:
    """The rounds reach the base's median, or the difference is less than LEAST_GAIN: neither faster nor slower."""
    more, base = gain(table, row, requests), table.row(BASE)
    if more is None or base is None:
        return True
    ours = row.rates[requests]
    return abs(more) < LEAST_GAIN or ours.lowest <= base.rates[requests].median <= ours.highest


def together(table: Table, requests: int) -> Variation | None:
    """The best clear change of each group in one; None where fewer than two groups have one."""
    best: dict[str, Row] = {}
    for row in table.rows:
        group = row.variation.group
        if group in (BASE, TOGETHER) or not is_clear(table, row, requests):
            continue
        if group not in best or row.rates[requests].median > best[group].rates[requests].median:
            best[group] = row
    if len(best) < 2:
        return None
    parts = [row.variation for row in best.values()]
    return Variation(
        f"{TOGETHER}: {', '.join(part.id for part in parts)}",
        TOGETHER,
        " and ".join(part.words for part in parts),
        tuple(flag for part in parts for flag in part.flags),
        MappingProxyType({name: value for part in parts for name, value in part.env.items()}),
        any(part.changes_answers for part in parts),
    )


def proposal(table: Table, requests: int) -> Row | None:
    """The fastest row that is clearly faster than the base; the base where none is; None before there is a base."""
    clear = [row for row in table.rows if is_clear(table, row, requests)]
    return max(clear, key=lambda row: row.rates[requests].median, default=table.row(BASE))


def start_line(asked: Asked, variation: Variation) -> str:
    """What starts the plan with this change."""
    settings = "".join(f"{name}={value} " for name, value in sorted(variation.env.items()))
    return settings + variation.of(asked).command()


# --- kept


class TableFile:
    """One file for each base plan on each machine, written whole and then renamed."""

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / "tuning" / f"{key}.json"

    def read(self) -> Table | None:
        """None where there is none, or none that this program reads."""
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            return _table(data) if data["format_version"] == FORMAT_VERSION else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, table: Table) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = self.path.with_name(f".{uuid4().hex}.json")
        partial.write_text(json.dumps(table_to_json(table), indent=1), encoding="utf-8")
        partial.replace(self.path)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def table_to_json(table: Table) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        entry = asdict(replace(row, variation=replace(row.variation, env=dict(row.variation.env)), rates={}))
        entry["rates"] = {str(requests): asdict(rate) for requests, rate in row.rates.items()}
        rows.append(entry)
    return {
        "format_version": FORMAT_VERSION,
        "key": table.key,
        "checkpoint": table.checkpoint,
        "practice": table.practice,
        "hardware": list(table.hardware),
        "vllm_version": table.vllm_version,
        "launch_id": table.launch_id,
        "rows": rows,
    }


def _table(data: Mapping[str, Any]) -> Table:
    rows = []
    for entry in data["rows"]:
        change = dict(entry["variation"])
        change["flags"] = tuple((name, value) for name, value in change["flags"])
        rows.append(
            Row(
                Variation(**change),
                {int(requests): Rate(**rate) for requests, rate in entry["rates"].items()},
                entry["failed"],
                entry["ready_after_s"],
                tuple(entry["command"]),
                entry["measured_at"],
            )
        )
    return Table(
        data["key"],
        data["checkpoint"],
        data["practice"],
        tuple(data["hardware"]),
        data["vllm_version"],
        tuple(rows),
        data["launch_id"],
    )
