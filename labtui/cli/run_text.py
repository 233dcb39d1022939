"""A run in words: every number with its definition, practice with its label, a missing value with its reason."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from exercises.records import Run
from exercises.speed import SpeedLine, format_rate, speed_lines
from labtui.terminal_text import visible, visible_line

PRACTICE_LABEL = "practice checkpoint: a small stand-in, its numbers say nothing about DiffusionGemma"


def values(run: Run) -> dict[str, SpeedLine]:
    return {line.key: line for line in speed_lines(run.speed)}


def end_to_end(run: Run) -> str:
    return visible_line(format_rate(run.speed.end_to_end_tps))


def label_of(run: Run) -> str:
    return f"{run.checkpoint} · practice" if run.practice and run.checkpoint != "practice" else run.checkpoint


def number_lines(run: Run) -> Iterator[str]:
    for line in speed_lines(run.speed):
        yield f"  {line.label:<24}{visible_line(line.value)}"
        yield from textwrap.wrap(line.definition, 78, initial_indent=" " * 28, subsequent_indent=" " * 28)


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
    yield from number_lines(run)
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
