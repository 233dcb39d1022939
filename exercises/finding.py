"""Where task sets of others are: in the user's data folder, and at paths given."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from exercises.errors import ExerciseError
from exercises.tasks import TASKS_FILE, TaskSet, load_task_set, prompt_kinds_for, task_set_for


@dataclass(frozen=True, slots=True)
class TaskShelf:
    """broken: files that are meant as task sets and cannot be used; they never hide the others."""

    sets: tuple[TaskSet, ...]
    broken: tuple[tuple[Path, ExerciseError], ...]


def user_exercises_path() -> Path:
    from platformdirs import user_data_path

    return user_data_path("labtui", appauthor=False) / "exercises"


def task_shelf(extra: Iterable[Path] = ()) -> TaskShelf:
    """extra: task files, their folders, or folders of such folders.

    Tasks are called by their ids alone, so a set is broken where one of its ids belongs to a task that was there
    before: built in, at a path given, in the user's folder, in this order.
    """
    taken = built_in_ids()
    sets: list[TaskSet] = []
    broken: list[tuple[Path, ExerciseError]] = []
    seen: set[Path] = set()
    for path in (*(file for place in extra for file in task_files(place)), *task_files(user_exercises_path())):
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        try:
            task_set = load_task_set(path)
            refuse_taken(path, task_set, taken)
        except ExerciseError as fault:
            broken.append((path, fault))
        else:
            sets.append(task_set)
            taken |= {task.id: task_set.id for task in task_set.tasks}
    return TaskShelf(tuple(sets), tuple(broken))


def built_in_ids() -> dict[str, str]:
    """The ids of the built-in tasks, each with its set."""
    found: dict[str, str] = {}
    for read in (task_set_for, prompt_kinds_for):
        for practice in (True, False):
            task_set = read("practice" if practice else "", practice)
            found |= {task.id: task_set.id for task in task_set.tasks}
    return found


def refuse_taken(path: Path, task_set: TaskSet, taken: dict[str, str]) -> None:
    """Raises ExerciseError (exit 2) for an id that another set has."""
    for task in task_set.tasks:
        if task.id in taken:
            raise ExerciseError(
                "The task set cannot be used",
                f"{path}: the id {task.id!r} belongs to the set {taken[task.id]!r} already",
                f"Give the task another id, such as {task_set.id + '-' + task.id!r}.",
                exit_code=2,
            )


def with_own(task_set: TaskSet, own: Iterable[TaskSet]) -> TaskSet:
    """The set of a checkpoint, and after it the tasks of the other sets for such a checkpoint."""
    more = [task for one in own if one.practice == task_set.practice for task in one.tasks]
    return replace(task_set, tasks=(*task_set.tasks, *more))


def task_files(place: Path) -> list[Path]:
    """A file itself, the tasks.toml of a folder, or those of the folders in it; none where nothing can be listed."""
    if (place / TASKS_FILE).is_file():
        return [place / TASKS_FILE]
    try:
        return sorted(entry / TASKS_FILE for entry in place.iterdir() if os.path.lexists(entry / TASKS_FILE))
    except NotADirectoryError:
        return [place]
    except (OSError, ValueError):
        return []
