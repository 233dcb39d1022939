"""Sweeps and the baseline, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exercises.speed import TRIAL_DEFINITIONS
from exercises.sweep_panels import panels_of, remarks_of, sweep_facts, sweep_title, table_of
from exercises.sweep_plot import sweep_svg
from labtui.artifacts.document import Artifact
from labtui.artifacts.html_runs import PRACTICE_NOTE
from labtui.artifacts.html_text import Html, element, joined, link, table, text_of
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


def sweeps(artifact: Artifact) -> Iterator[Html]:
    if not artifact.sweeps:
        return
    yield element("h2", "Sweeps")
    yield element("p", SWEEPS_NOTE, class_="note")
    shown = artifact.sweeps_shown
    for document in (one for one in shown if not one["practice"]):
        yield from _sweep(document)
    practice = [one for one in shown if one["practice"]]
    if practice:
        yield element("h3", "Practice sweeps")
        yield element("p", PRACTICE_NOTE, class_="note")
        for document in practice:
            yield from _sweep(document)
    if len(artifact.sweeps) > len(shown):
        yield element("p", more_sweeps_words(len(artifact.sweeps) - len(shown)))
    known = {panel.title: panel.definition for document in shown for panel in panels_of(document)}
    known["interval"] = TRIAL_DEFINITIONS["interval"]
    yield element("dl", *(joined(element("dt", title), element("dd", meaning)) for title, meaning in known.items()))


def _sweep(document: Mapping[str, Any]) -> Iterator[Html]:
    header, rows = table_of(document)
    yield element(
        "article",
        element("p", element("b", text_of(sweep_title(document)), class_="practice" if document["practice"] else None)),
        element("p", text_of(f"{sweep_facts(document)} · {document['started_at']}"), class_="when"),
        *(element("p", text_of(remark), class_="note") for remark in remarks_of(document)),
        table(header, [tuple(text_of(cell) for cell in row) for row in rows], "sweep"),
        element("div", Html(sweep_svg(document)), class_="plot"),
    )


def baseline(artifact: Artifact) -> Iterator[Html]:
    standing = artifact.baseline
    if standing is None or not (standing.compared or standing.published):
        return
    yield element("h2", "Beside the baseline")
    if standing.compared:
        yield element("p", BASELINE_NOTE, class_="note")
        rows = [tuple(text_of(cell) for cell in row) for row in compared_rows(standing)]
        yield table(COMPARED_COLUMNS, rows, "baseline")
        yield from (element("p", text_of(note), class_="note") for note in compared_notes(standing))
        return
    yield element("p", element("b", PUBLISHED_NOTE), class_="note")
    yield table(
        PUBLISHED_COLUMNS,
        [(*map(text_of, cells), link(title, url)) for cells, title, url in published_rows(standing)],
        "published",
    )
