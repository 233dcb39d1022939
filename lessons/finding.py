"""Where lessons are: in this package, in the user's data folder, and at paths given."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from lessons.errors import LessonError
from lessons.faults import Fault
from lessons.loading import broken_lesson, load_or_faults
from lessons.messages import nearest, quoted
from lessons.model import Lesson
from lessons.reading import LESSON_FILE

PACKAGE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class BrokenLesson:
    path: Path
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class LessonShelf:
    """broken: files that are meant as lessons and cannot be used; they never hide the others."""

    lessons: tuple[Lesson, ...]
    broken: tuple[BrokenLesson, ...]


def user_lessons_path() -> Path:
    return user_data_path("labtui", appauthor=False) / "lessons"


def lesson_shelf(extra: Iterable[Path] = ()) -> LessonShelf:
    """extra: lesson files, lesson folders, or folders of lesson folders.

    Two lessons with one id: a path given goes before the user's folder, that before the built-in one; two with
    one id at the same place make the second a broken one.
    """
    places = [*(_given(path) for path in extra), _lesson_folders(user_lessons_path()), _lesson_folders(PACKAGE)]
    found: dict[str, Lesson] = {}
    broken: list[BrokenLesson] = []
    seen: set[Path] = set()
    for place in places:
        here: dict[str, Lesson] = {}
        for path in place:
            if path.absolute() in seen:
                continue
            seen.add(path.absolute())
            lesson, faults = load_or_faults(path)
            if lesson is None:
                broken.append(BrokenLesson(path, tuple(faults)))
            elif lesson.id in here:
                message = f'id "{lesson.id}" belongs to {here[lesson.id].path} already; give this lesson its own'
                broken.append(BrokenLesson(path, (Fault(lesson.path, 1, message),)))
            else:
                here[lesson.id] = lesson
        found = here | found
    return LessonShelf(tuple(found.values()), tuple(broken))


def find_lessons(extra: Iterable[Path] = ()) -> list[Lesson]:
    """The lessons that can be used; lesson_shelf names those that cannot."""
    return list(lesson_shelf(extra).lessons)


def find_lesson(lesson_id: str, extra: Iterable[Path] = ()) -> Lesson:
    shelf = lesson_shelf(extra)
    for lesson in shelf.lessons:
        if lesson.id == lesson_id:
            return lesson
    for broken in shelf.broken:
        if broken.path.name == lesson_id:
            raise broken_lesson(list(broken.faults))
    known = [lesson.id for lesson in shelf.lessons]
    raise LessonError(
        "No such lesson",
        f"there is no lesson {quoted(lesson_id)}",
        f"There are: {', '.join(known) or 'none'}{nearest(lesson_id, known)}",
    )


def _given(path: Path) -> list[Path]:
    return _lesson_folders(path) or [path]


def _lesson_folders(folder: Path) -> list[Path]:
    """Folders in that folder with a lesson file; one that cannot be listed has none."""
    try:
        return sorted(entry for entry in folder.iterdir() if os.path.lexists(entry / LESSON_FILE))
    except (OSError, ValueError):
        return []
