"""A run in words: every number with its definition, practice with its label, a missing value with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from exercises.records import NotMeasurable, Run, Speed
from exercises.speed import DEFINITIONS, format_rate
from labtui.terminal_text import visible, visible_line

PRACTICE_LABEL = "practice checkpoint: a small stand-in, its numbers say nothing about DiffusionGemma"

LABELS = {
    "end_to_end_tps": "end to end",
    "first_canvas_s": "time to first canvas",
    "after_first_canvas_tps": "after the first canvas",
    "steps_per_canvas": "steps per canvas",
    "canvas_fill": "canvas fill",
    "canvases": "canvases",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "completion tokens",
    "wall_s": "whole request",
}


def number(speed: Speed, key: str) -> str:
    """One value of a speed with its unit, or the words "not measurable: ..."."""
    value: float | NotMeasurable = getattr(speed, key)
    if key.endswith("_tps"):
        return format_rate(value)
    if isinstance(value, NotMeasurable):
        return f"not measurable: {visible_line(value.reason)}"
    if key == "canvas_fill":
        return f"{value * 100:.0f} %"
    if key.endswith("_s"):
        return f"{value:.3f} s"
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}"


def label_of(run: Run) -> str:
    return f"{run.checkpoint} · practice" if run.practice and run.checkpoint != "practice" else run.checkpoint


def speed_lines(speed: Speed) -> Iterator[str]:
    for key, label in LABELS.items():
        yield f"  {label:<24}{number(speed, key)}"
        yield f"  {'':<24}  {DEFINITIONS[key]}"


def check_lines(run: Run) -> Iterator[str]:
    yield f"  check {'passed' if run.check.passed else 'FAILED'}"
    for fact in run.check.facts:
        detail = f": {visible_line(fact.detail)}" if fact.detail else ""
        yield f"    {'✓' if fact.passed else '✗'} {visible_line(fact.name)}{detail}"


def run_lines(run: Run, *, with_output: bool = True) -> Iterator[str]:
    yield f"{run.task} · {label_of(run)} · run {run.id} · {run.started_at}"
    if run.practice:
        yield f"  {PRACTICE_LABEL}"
    if not run.valid:
        yield f"  NOT VALID: {visible_line(run.invalid_reason or 'no reason was recorded')}"
    yield from speed_lines(run.speed)
    yield from check_lines(run)
    if with_output:
        yield "  answer"
        for line in visible(run.output).splitlines() or ["(empty)"]:
            yield f"    {line}"


def columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows aligned by what they take on a terminal, where a CJK character is two cells wide."""
    from rich.cells import cell_len

    table = [list(row) for row in rows]
    widths = [max((cell_len(row[at]) for row in table), default=0) for at in range(len(table[0]) if table else 0)]
    for row in table:
        yield "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
