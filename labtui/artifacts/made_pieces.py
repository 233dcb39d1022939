from __future__ import annotations

from lessons.errors import LessonError
from lessons.studio.keeping import from_json, to_plain_text


def made_text(kept: str) -> str:
    """What the person made for a practice piece, to read: a piece of the studio as text, free text as it is."""
    if not kept.lstrip().startswith("{"):
        return kept
    try:
        return to_plain_text(from_json(kept))
    except LessonError:
        return kept
