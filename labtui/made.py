"""What a person has made so far for one lesson, collected from the store: pieces of the studio and gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labtui.predicting import checked_predictions
from lessons.errors import LessonError
from lessons.evidence import Made, missing_for_gate
from lessons.model import Lesson, PracticePiece
from lessons.studio.keeping import from_json, to_json
from lessons.studio.pieces import KINDS, HarnessMap, HarnessStage, Piece, kind_of
from lessons.words import plain_form

if TYPE_CHECKING:
    from store.opening import Store


@dataclass(frozen=True, slots=True)
class KeptPiece:
    """piece: as it is now, empty where nothing was begun. earlier: free text that stands where the piece belongs.

    draft: whether the newest changes are kept as a draft only.
    """

    piece: Piece
    begun: bool = False
    draft: bool = False
    earlier: str = ""


def in_studio(practice: PracticePiece) -> bool:
    return practice.piece in KINDS


def piece_draft_key(lesson_id: str, practice_id: str) -> str:
    return f"studio/{lesson_id}/{practice_id}"


def kept_piece(lesson: Lesson, practice: PracticePiece, store: Store) -> KeptPiece:
    """practice: one that is made in the studio. Raises StoreError."""
    notes = {step: note.text for step, note in store.progress.notes(lesson.id).items()}
    return _kept(lesson, practice, notes, store.progress.draft(piece_draft_key(lesson.id, practice.id)))


def keep_piece(lesson: Lesson, practice: PracticePiece, piece: Piece, store: Store) -> None:
    """Keep a piece beside its earlier versions; the draft of it is done with. Raises StoreError."""
    store.progress.save_note(lesson.id, f"practice/{practice.id}", to_json(piece))
    store.progress.clear_draft(piece_draft_key(lesson.id, practice.id))


def read_piece(kept: str | None, practice: PracticePiece) -> Piece | None:
    """None where this is no piece of that kind, such as a text from before there was a studio."""
    if not (kept or "").lstrip().startswith("{"):
        return None
    try:
        piece = from_json(kept or "")
    except LessonError:
        return None
    return piece if kind_of(piece) == practice.piece else None


def made_so_far(lesson: Lesson, store: Store) -> Made:
    """Raises StoreError."""
    notes = {step: note.text for step, note in store.progress.notes(lesson.id).items()}
    pieces, texts = {}, {}
    for practice in lesson.practice:
        if in_studio(practice):
            kept = _kept(lesson, practice, notes, store.progress.draft(piece_draft_key(lesson.id, practice.id)))
            if kept.begun:
                pieces[practice.id] = kept.piece
        elif text := notes.get(f"practice/{practice.id}"):
            texts[practice.id] = text
    verdict, runs = store.verdicts.latest(lesson.id), store.runs.ids()
    return Made(
        pieces,
        texts,
        verdict.text if verdict else "",
        verdict.runs if verdict else (),
        runs,
        checked_predictions(lesson, notes),
        set(runs).difference(store.runs.ids(counting=True)),
    )


def missing_at_gates(lesson: Lesson, store: Store, made: Made | None = None) -> dict[str, tuple[str, ...]]:
    """For each gate what is still missing, as sentences; a gate without any is met. Raises StoreError."""
    written, made = store.progress.gates(lesson.id), made or made_so_far(lesson, store)
    texts = {gate.id: written[gate.id].evidence if gate.id in written else "" for gate in lesson.gates}
    return {gate.id: tuple(missing_for_gate(lesson, gate, texts[gate.id], made)) for gate in lesson.gates}


def _kept(lesson: Lesson, practice: PracticePiece, notes: Mapping[str, str], draft: str | None) -> KeptPiece:
    note = notes.get(f"practice/{practice.id}")
    saved, drafted = read_piece(note, practice), read_piece(draft, practice)
    piece = drafted or saved
    earlier = note if note and saved is None else ""
    empty = _empty(lesson, practice, notes)
    if piece is None:
        return KeptPiece(empty, earlier=earlier)
    if isinstance(piece, HarnessMap):
        piece = _with_all_stages(lesson, piece)
    return KeptPiece(piece, begun=True, draft=drafted is not None, earlier=earlier)


def _empty(lesson: Lesson, practice: PracticePiece, notes: Mapping[str, str]) -> Piece:
    """The stages of a harness map begin with what the person noted at the cards of the diagram."""
    if practice.piece != "harness-map":
        return next(made() for kind, made in KINDS.items() if kind == practice.piece)
    stages = (HarnessStage(card.stage, notes.get(f"card/{card.id}", "").strip()) for card in lesson.cards)
    return HarnessMap(tuple(stages))


def _with_all_stages(lesson: Lesson, piece: HarnessMap) -> HarnessMap:
    have = {plain_form(stage.stage) for stage in piece.stages}
    absent = (HarnessStage(card.stage) for card in lesson.cards if plain_form(card.stage) not in have)
    return HarnessMap((*piece.stages, *absent), piece.weakest, piece.notice)
