"""What every format says about a run, as plain text: the same numbers and words in each."""

from __future__ import annotations

from collections.abc import Iterable
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
    """The newest, and every cited one."""
    return [run for number, run in enumerate(runs) if number < RUNS_SHOWN or run.id in cited]


def left_out_words(left_out: int) -> str:
    return f"{left_out} earlier {'run is' if left_out == 1 else 'runs are'} in the store and in the JSON export."


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
