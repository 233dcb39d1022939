"""What the person made in the studio, where the artifact shows it: on the map, in the source check, in their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lessons.citations import anchor_for
from lessons.errors import LessonError
from lessons.model import Lesson
from lessons.studio.keeping import SHAPES, from_json, to_plain_text
from lessons.studio.pieces import EvidenceMap, HarnessMap, Piece
from lessons.words import plain_form
from store.progress import Note


@dataclass(frozen=True, slots=True)
class WeakestLink:
    """notice: how the person would notice that it broke; may be empty."""

    stage: str
    notice: str


@dataclass(frozen=True, slots=True)
class MadePieces:
    """confidence: by the id of an anchor. stages: the person's words by the id of a card."""

    confidence: Mapping[str, str]
    stages: Mapping[str, str]
    weakest: WeakestLink | None


def made_pieces(lesson: Lesson, notes: Mapping[str, Note]) -> MadePieces:
    """Of several evidence or harness maps of a lesson, the later practice piece counts."""
    kept = (notes.get(f"practice/{practice.id}") for practice in lesson.practice)
    pieces = [piece for note in kept if note is not None and (piece := piece_of(note.text)) is not None]
    maps = [piece for piece in pieces if isinstance(piece, HarnessMap)]
    return MadePieces(
        confidence=_confidence(lesson, (piece for piece in pieces if isinstance(piece, EvidenceMap))),
        stages=_stages(lesson, maps),
        weakest=next((WeakestLink(one.weakest, one.notice) for one in reversed(maps) if one.weakest.strip()), None),
    )


def piece_of(kept: str) -> Piece | None:
    """None for a free text."""
    if not kept.lstrip().startswith("{"):
        return None
    try:
        return from_json(kept)
    except LessonError:
        return None


def made_text(kept: str) -> str:
    """What is kept for a practice piece, to read: a piece of the studio as text, a free text as it is."""
    piece = piece_of(kept)
    return kept if piece is None else to_plain_text(piece)


def _confidence(lesson: Lesson, maps: Iterable[EvidenceMap]) -> dict[str, str]:
    found: dict[str, str] = {}
    for made in maps:
        for row in made.rows:
            anchor = anchor_for(lesson, row.anchor)
            if anchor is not None and row.confidence.strip():
                found[anchor.id] = row.confidence.strip()
    return found


def _stages(lesson: Lesson, maps: Iterable[HarnessMap]) -> dict[str, str]:
    cards = {plain_form(card.stage): card.id for card in lesson.cards}
    labels = SHAPES["harness-map"].labels
    found: dict[str, str] = {}
    for made in maps:
        for stage in made.stages:
            card = cards.get(plain_form(stage.stage))
            fields = {"here": stage.here, "boundary": stage.boundary, "proof": stage.proof}
            words = [f"{labels[key].capitalize()}: {text.strip()}" for key, text in fields.items() if text.strip()]
            if card is not None and words:
                found[card] = "\n\n".join(words)
    return found
