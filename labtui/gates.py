"""Runs as evidence at a gate: which there are, and naming them in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labtui.cli.run_text import end_to_end, label_of
from lessons.model import Gate

if TYPE_CHECKING:
    from exercises.records import Run

RUNS_WORD = ":runs"
"""Stands for the ids of the runs in evidence that is typed at the command line."""


@dataclass(frozen=True, slots=True)
class NamedRun:
    """words: its id, its task, whose it is, and its speed end to end."""

    id: str
    words: str


def runs_for_gate(gate: Gate, runs: Mapping[str, Run]) -> tuple[NamedRun, ...]:
    """Those that a gate may name: none where it asks for none. runs: the newest valid one of each task of the lab."""
    return tuple(map(_named, runs.values())) if "runs" in gate.needs else ()


def _named(run: Run) -> NamedRun:
    return NamedRun(run.id, f"{run.id}  {run.task} · {label_of(run)} · {end_to_end(run)}")


def unnamed(text: str, run_ids: Sequence[str]) -> tuple[str, ...]:
    """Ids that do not stand in the text yet."""
    return tuple(run_id for run_id in run_ids if run_id not in text)


def with_runs(text: str, run_ids: Sequence[str]) -> str:
    """The ids in place of RUNS_WORD, or behind the text where they do not stand in it yet."""
    if RUNS_WORD in text:
        return text.replace(RUNS_WORD, ", ".join(run_ids))
    left = unnamed(text, run_ids)
    return f"{text.rstrip()} ({', '.join(left)})".lstrip() if left else text
