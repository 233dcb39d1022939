"""What a lesson leaves open. None of it is a fault: a lesson may rest on a source that does not give everything."""

from __future__ import annotations

from pathlib import Path

from lessons.checking import check_document
from lessons.faults import Fault
from lessons.reading import ReadingFault, read_document


def open_parts_of_file(path: Path) -> list[Fault]:
    """Recall questions without an answer, with their lines. Nothing for a file with faults: these come first."""
    try:
        document = read_document(path)
    except ReadingFault:
        return []
    if check_document(document):
        return []
    return [
        Fault(document.path, document.lines.of("recall", position), f"recall/{entry['id']} has no answer yet")
        for position, entry in enumerate(document.data.get("recall", ()))
        if "answer" not in entry
    ]
