"""Sweeps and the baseline, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exercises.speed import TRIAL_DEFINITIONS
from exercises.sweep_bars import plot_lines
from exercises.sweep_panels import panels_of, remarks_of, sweep_facts, sweep_title, table_of
from labtui.artifacts.document import Artifact
from labtui.artifacts.markdown_text import fenced, item, link, own_cell, plain, table
from labtui.artifacts.measured_rows import (
    BASELINE_NOTE,
    COMPARED_COLUMNS,
    PUBLISHED_COLUMNS,
    PUBLISHED_NOTE,
    SWEEPS_NOTE,
    compared_notes,
    compared_rows,
    more_sweeps_words,
    published_rows,
)

PLOT_WIDTH = 80


def sweeps(artifact: Artifact, practice_note: str) -> Iterator[str]:
    if not artifact.sweeps:
        return
    yield "## Sweeps"
    yield SWEEPS_NOTE
    shown = artifact.sweeps_shown
    for document in (one for one in shown if not one["practice"]):
        yield from _sweep(document)
    practice = [one for one in shown if one["practice"]]
    if practice:
        yield "### Practice sweeps"
        yield practice_note
        for document in practice:
            yield from _sweep(document)
    if len(artifact.sweeps) > len(shown):
        yield more_sweeps_words(len(artifact.sweeps) - len(shown))
    known = {panel.title: panel.definition for document in shown for panel in panels_of(document)}
    known["interval"] = TRIAL_DEFINITIONS["interval"]
    yield "\n".join(item(f"**{plain(title)}**: {plain(meaning)}") for title, meaning in known.items())


def _sweep(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"**{plain(sweep_title(document))}**, {plain(sweep_facts(document))}, {document['started_at']}"
    for remark in remarks_of(document):
        yield plain(remark)
    header, rows = table_of(document)
    yield table(header, [tuple(own_cell(plain(cell)) for cell in row) for row in rows])
    yield fenced("\n".join(plot_lines(document, PLOT_WIDTH)), "text")


def baseline(artifact: Artifact) -> Iterator[str]:
    standing = artifact.baseline
    if standing is None or not (standing.compared or standing.published):
        return
    yield "## Beside the baseline"
    if standing.compared:
        yield BASELINE_NOTE
        yield table(COMPARED_COLUMNS, [tuple(own_cell(plain(cell)) for cell in row) for row in compared_rows(standing)])
        yield from map(plain, compared_notes(standing))
        return
    yield f"**{plain(PUBLISHED_NOTE)}**"
    yield table(
        PUBLISHED_COLUMNS,
        [
            (*(own_cell(plain(cell)) for cell in cells), own_cell(link(title, url)))
            for cells, title, url in published_rows(standing)
        ],
    )
