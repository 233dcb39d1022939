"""The figures of a sitting, line by line as they come, and as one table. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

MEDIANS = {
    "end_to_end_tps": "end to end, tok/s",
    "first_canvas_s": "first canvas, s",
    "after_first_canvas_tps": "after the first canvas, tok/s",
    "steps_per_canvas": "steps a canvas",
}
Row = Mapping[str, Any]


def trial_row(what: str, text: str) -> dict[str, Any]:
    """From what `labtui run TASK --runs N --json` printed; a row that says so where it printed no trial."""
    document = _document(text)
    if document is None or "summary" not in document:
        return {"what": what, "state": "no figures"}
    return {"what": what, **_summary(document["summary"])}


def sweep_rows(what: str, text: str) -> Iterator[dict[str, Any]]:
    """From what `labtui run --sweep AXIS --json` printed, one row for each point."""
    document = _document(text)
    if document is None or not document.get("points"):
        yield {"what": what, "state": "no figures"}
        return
    for point in document["points"]:
        together = point.get("aggregate_tps")
        extra = {} if together is None else {"all together, tok/s": together}
        yield {"what": f"{what} {point['label']}", **_summary(point["summary"]), **extra}


def trial_id(text: str) -> str | None:
    """Of what `labtui run TASK --runs N --json` printed."""
    document = _document(text)
    return None if document is None else document.get("trial")


def rows_of(text: str) -> list[dict[str, Any]]:
    """The lines of results.jsonl, without their times."""
    return [{name: value for name, value in json.loads(line).items() if name != "at"} for line in text.splitlines()]


def table(rows: Sequence[Row]) -> str:
    """Markdown. Columns in the order in which they first came up; what a row does not have stays empty."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [_line(columns), _line(["---"] * len(columns))]
    lines += [_line([_cell(row.get(name)) for name in columns]) for row in rows]
    return "\n".join(lines) + "\n"


def _summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"runs": summary["counted"], "invalid": summary["invalid"]}
    for key, name in MEDIANS.items():
        spread = summary["values"].get(key)
        if spread is not None:
            found[name] = spread["median"]
    return found


def _document(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return str(value).replace("|", "/")
