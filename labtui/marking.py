"""Marks of what was read: each keeps of which text it was made, and says so where the text was reworded since."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from lessons.fingerprints import changed_steps, step_fingerprints
from lessons.model import Lesson
from store.days import local_time

if TYPE_CHECKING:
    from store.opening import Store


def mark_step(lesson: Lesson, step_id: str, store: Store, done: bool = True) -> None:
    """Raises StoreError."""
    store.progress.mark(lesson.id, step_id, done, step_fingerprints(lesson)[step_id])


def changed_since_read(lesson: Lesson, store: Store) -> Mapping[str, datetime]:
    """Steps that were reworded since they were marked, each with when it was marked. Raises StoreError.

    A step that was marked before fingerprints were kept is not among them: what it said then is not known.
    """
    read = store.progress.read_as(lesson.id)
    changed = changed_steps(lesson, {step: one.fingerprint for step, one in read.items()})
    return {step: read[step].marked_at for step in changed}


def changed_words(marked_at: datetime) -> str:
    """The same on the screen and on the command line."""
    return f"Changed since you read it on {local_time(marked_at):%Y-%m-%d}. Your mark has stayed."
