"""Which tables of checkpoints are read beside the built-in one: those of lessons, then those of the person."""

from __future__ import annotations

from pathlib import Path

from labtui.configuration import Configuration
from lessons.finding import lesson_shelf

FILE = "checkpoints.toml"


def configured_tables(configuration: Configuration) -> tuple[Path, ...]:
    """In the order of reading: a later entry replaces an earlier one of the same id, so the person has the last word.

    A lesson brings its table in its own folder; one that is broken is reported where it is read.
    """
    folders = {lesson.path.parent for lesson in lesson_shelf(configuration.lessons).lessons}
    brought = sorted(folder / FILE for folder in folders if (folder / FILE).is_file())
    return (*brought, *configuration.checkpoints)
