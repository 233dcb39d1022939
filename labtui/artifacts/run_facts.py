"""What every format says about a run, as plain text: the same numbers and words in each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from exercises.records import Run
from exercises.speed import speed_lines
from labtui.artifacts.harness_map import command_line, label, vllm_version

SPEED_COLUMNS = (
    "end_to_end_tps",
    "first_canvas_s",
    "after_first_canvas_tps",
    "steps_per_canvas",
    "canvas_fill",
    "completion_tokens",
)
RUNS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class MeasuredWith:
    """facts: pairs of a name and a value. runs: how many runs had them all."""

    label: str
    facts: tuple[tuple[str, str], ...]
    runs: int


def speed_values(run: Run) -> dict[str, str]:
    """By key, as they are shown everywhere."""
    return {line.key: line.value for line in speed_lines(run.speed)}


def task_words(run: Run) -> str:
    """The task, and what makes its number another one: a warm-up, or others of ours at the same time."""
    streams = run.evidence.get("streams", 1)
    at_once = f"one of {streams} at once" if isinstance(streams, int) and streams > 1 else ""
    return ", ".join(part for part in (run.task, "warm-up" if run.warmup else "", at_once) if part)


def outcome(run: Run) -> str:
    failed = [fact for fact in run.check.facts if not fact.passed]
    if not run.valid:
        return f"invalid: {run.invalid_reason or ''}"
    if failed:
        return "; ".join(
            f"failed {fact.name}: {fact.detail}" if fact.detail else f"failed {fact.name}" for fact in failed
        )
    return "passed" if run.check.passed else "failed"


def shown_in_table(runs: tuple[Run, ...], cited: frozenset[str]) -> list[Run]:
    """The newest, and every cited one. Runs of a sweep stand with their sweep, not here."""
    newest = [run.id for run in runs if not _of_sweep(run)][:RUNS_SHOWN]
    return [run for run in runs if run.id in cited or run.id in newest]


def left_out_words(runs: Sequence[Run], shown: Sequence[Run]) -> str:
    """Which of the runs are not shown; empty where all are."""
    left_out = {run.id for run in runs} - {run.id for run in shown}
    of_sweeps = sum(run.id in left_out for run in runs if _of_sweep(run))
    earlier = len(left_out) - of_sweeps
    parts = [f"{earlier} earlier run{'' if earlier == 1 else 's'}"] if earlier else []
    if of_sweeps:
        parts.append(f"{of_sweeps} request{'' if of_sweeps == 1 else 's'} of sweeps")
    are = "is" if len(left_out) == 1 else "are"
    return f"{' and '.join(parts)} {are} in the store and in the JSON export." if parts else ""


def _of_sweep(run: Run) -> bool:
    return "sweep" in run.evidence


def measured_with(runs: Iterable[Run]) -> list[MeasuredWith]:
    """The different settings of these runs, in the order in which they first occur."""
    seen: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
    for run in runs:
        facts = {
            "model": run.evidence.get("model"),
            "revision": run.evidence.get("revision"),
            "vLLM": vllm_version(run),
            "hardware": run.evidence.get("hardware"),
            "command": command_line(run),
        }
        known = tuple((name, _words(fact)) for name, fact in facts.items() if fact)
        if known:
            key = (label(run), known)
            seen[key] = seen.get(key, 0) + 1
    return [MeasuredWith(named, facts, count) for (named, facts), count in seen.items()]


def _words(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return str(value)
