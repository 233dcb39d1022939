from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from exercises.records import Run
from exercises.speed import speed_lines
from labtui.result_text import Section
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice, Choices

LABEL_WIDTH = 24


class ResultList(Choices):
    """The values of a run, one a line. The line that is chosen shows its definition below it."""

    def _prompt(self, index: int, marked: bool) -> Group:
        choice = self.choices[index]
        grid = Table.grid(expand=True, padding=0)
        grid.add_column(width=2)
        if choice.right:
            grid.add_column(width=LABEL_WIDTH)
        grid.add_column(ratio=1)
        heading = "bold" if choice.id is None else ""
        cells = [Text(choice.text), Text(choice.right, style="bold")] if choice.right else [Text(choice.text, heading)]
        grid.add_row("▸" if marked else "", *cells)
        below = choice.below if marked else ()
        return Group(grid, *(Padding(Text(line, style="italic"), (0, 0, 0, 2)) for line in below))


def section_choices(parts: Sequence[Section]) -> list[Choice]:
    """The rows of all parts, each part below its title."""
    rows: list[Choice] = []
    for part in parts:
        rows.append(Choice(None, part.title))
        rows += [
            Choice(
                row.key,
                visible_line(row.label),
                visible_line(row.value),
                tuple(visible_line(line) for line in (row.definition, *row.more) if line),
            )
            for row in part.rows
        ]
    return rows


def result_rows(run: Run) -> list[Choice]:
    """The headline, whether the answer is right, the other values with their definitions, then every fact."""
    lines = speed_lines(run.speed)
    values = [Choice(line.key, line.label, visible_line(line.value), (line.definition,)) for line in lines]
    held = sum(fact.passed for fact in run.check.facts)
    first_fault = next((fact for fact in run.check.facts if not fact.passed), None)
    sign = "✓ right" if run.check.passed else "✗ not right"
    what = f"{held} of {len(run.check.facts)} facts hold"
    if first_fault is not None:
        what += f"; not: {visible_line(first_fault.name)}"
    answer = Choice("answer", "answer", f"{sign}: {what}", ("What the checker found. v shows the answer itself.",))
    facts = [
        Choice(
            f"fact/{number}",
            f"{'✓' if fact.passed else '✗'} {visible_line(fact.name)}"
            + (f": {visible_line(fact.detail)}" if fact.detail else ""),
        )
        for number, fact in enumerate(run.check.facts)
    ]
    return [values[0], answer, *values[1:], *facts]
