"""The tasks of a checkpoint and those that a person has added, in the data folder or where the configuration says."""

from __future__ import annotations

from exercises.finding import TaskShelf, task_shelf, with_own
from exercises.tasks import TaskSet, task_set_for


def own_shelf() -> TaskShelf:
    """Raises LabError (exit 2) where the configuration cannot be read."""
    from labtui.configuration import read_configuration

    return task_shelf(read_configuration().exercises)


def tasks_for(checkpoint: str, practice: bool) -> TaskSet:
    """The built-in tasks, then the added ones that are for such a checkpoint. A broken set is left out: labtui tasks
    names it."""
    return with_own(task_set_for(checkpoint, practice), own_shelf().sets)
