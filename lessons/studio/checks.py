"""What is missing in a piece of the studio, as sentences. A piece without any is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lessons.citations import anchor_for, citation_faults, quotation_faults
from lessons.messages import quoted
from lessons.model import Lesson
from lessons.studio.pieces import (
    CONFIDENCES,
    Checklist,
    EvidenceMap,
    EvidenceMapRow,
    HarnessMap,
    Piece,
    TeachBack,
    Transfer,
)
from lessons.words import plain_form, words_of

ROWS_NEEDED = 3
ITEMS_NEEDED = 3
TEACH_BACK_S = 90.0
WORDS_A_SECOND = 3.0
"""Faster than people speak when they explain: about 180 words a minute."""


def missing(lesson: Lesson, piece: Piece) -> list[str]:
    match piece:
        case EvidenceMap():
            return list(_evidence_map(lesson, piece))
        case HarnessMap():
            return list(_harness_map(lesson, piece))
        case TeachBack():
            return list(_teach_back(lesson, piece))
        case Checklist():
            return list(_checklist(piece))
        case Transfer():
            return list(_transfer(piece))


def _evidence_map(lesson: Lesson, piece: EvidenceMap) -> Iterator[str]:
    """Three rows, or one for each anchor where there are fewer. A lesson without anchors names its sources freely."""
    needed = min(ROWS_NEEDED, len(lesson.anchors)) if lesson.anchors else ROWS_NEEDED
    if len(piece.rows) < needed:
        have = {0: "there is none yet", 1: "there is one"}.get(len(piece.rows), f"there are {len(piece.rows)}")
        yield f"The map needs {needed} rows, {have}."
    seen: dict[tuple[str, str], int] = {}
    for number, row in enumerate(piece.rows, 1):
        yield from (f"Row {number}: {message}" for message in _row(lesson, row))
        key = (plain_form(row.anchor), plain_form(row.claim))
        if row.claim.strip() and key in seen:
            yield f"Row {number}: it says the same as row {seen[key]}."
        seen.setdefault(key, number)
    if piece.rows and not piece.transfer.strip():
        yield "Say where it will matter in your own work."


def _row(lesson: Lesson, row: EvidenceMapRow) -> Iterator[str]:
    if not row.anchor.strip():
        yield "it has no timestamp." if lesson.anchors else "it does not say where its evidence stands."
    elif lesson.anchors and anchor_for(lesson, row.anchor) is None:
        faults = [message for _, message in citation_faults(lesson, row.anchor)]
        yield f"{faults[0]}." if faults else f"{quoted(row.anchor)} names no single anchor of this lesson."
    for name, text in (
        ("the claim", row.claim),
        ("what the demo proves", row.proves),
        ("what still needs verification", row.to_verify),
    ):
        if not text.strip():
            yield f"{name} is missing."
    if row.confidence.strip().lower() not in CONFIDENCES:
        yield (
            f"the confidence is missing: {', '.join(CONFIDENCES)}."
            if not row.confidence.strip()
            else (f"the confidence is {quoted(row.confidence.strip())}; write {', '.join(CONFIDENCES)}.")
        )
    yield from _text_faults(lesson, (row.claim, row.proves, row.to_verify))


def _harness_map(lesson: Lesson, piece: HarnessMap) -> Iterator[str]:
    """A row for each stage of the lesson's diagram, in any order."""
    made = {plain_form(row.stage): row for row in piece.stages}
    for card in lesson.cards:
        row = made.get(plain_form(card.stage))
        if row is None or not (row.here.strip() or row.boundary.strip() or row.proof.strip()):
            yield f"{card.stage}: the stage is empty."
            continue
        if not row.here.strip():
            yield f"{card.stage}: say what it is in your case."
        if not row.boundary.strip():
            yield f"{card.stage}: the tool boundary is missing, what it may and may not do."
        if not row.proof.strip():
            yield f"{card.stage}: the proof signal is missing, how you know that it did its part."
    known = {plain_form(card.stage) for card in lesson.cards} or set(made)
    if not lesson.cards and not piece.stages:
        yield "The map has no stage yet."
    for row in piece.stages:
        if lesson.cards and plain_form(row.stage) not in known:
            yield f"{quoted(row.stage)} is no stage of the diagram."
    if not piece.weakest.strip():
        yield "Name the weakest link."
    elif plain_form(piece.weakest) not in known:
        yield f"The weakest link is {quoted(piece.weakest.strip())}; name one of the stages."
    if piece.weakest.strip() and not piece.notice.strip():
        yield "Say how you would notice that the weakest link breaks."
    yield from _text_faults(lesson, (text for row in piece.stages for text in (row.here, row.boundary, row.proof)))


def _teach_back(lesson: Lesson, piece: TeachBack) -> Iterator[str]:
    for name, text in (
        ("The explanation", piece.explanation),
        ("The diagram", piece.diagram),
        ("The example", piece.example),
        ("The misconception to avoid", piece.misconception),
    ):
        if not text.strip():
            yield f"{name} is missing."
    spoken = len(words_of(piece.explanation)) / WORDS_A_SECOND
    if spoken > TEACH_BACK_S:
        yield f"The explanation takes {spoken:.0f} seconds even when spoken fast; it should take {TEACH_BACK_S:.0f}."
    if piece.explanation.strip() and piece.seconds is None:
        yield "Say it aloud once against the clock."
    elif piece.seconds is not None and piece.seconds > TEACH_BACK_S:
        yield f"It took {piece.seconds:.0f} seconds; {TEACH_BACK_S:.0f} is the aim. Leave something out."
    yield from _text_faults(lesson, (piece.explanation, piece.example, piece.misconception))


def _checklist(piece: Checklist) -> Iterator[str]:
    items = [item for item in piece.items if item.text.strip()]
    if len(items) < ITEMS_NEEDED:
        yield f"The checklist needs {ITEMS_NEEDED} items, there are {len(items)}."
    for number, item in enumerate(piece.items, 1):
        if not item.text.strip():
            yield f"Item {number} is empty."
        elif not item.signal.strip():
            yield f"Item {number}: say what is there when it is done."
    if not piece.occasion.strip():
        yield "Say when you will go through it."


def _transfer(piece: Transfer) -> Iterator[str]:
    if not piece.change.strip():
        yield "Say what you will do differently tomorrow."
    if not piece.stops.strip():
        yield "Say what it replaces: what you will stop doing."
    if not piece.signal.strip():
        yield "Say how you will know in a week whether you did."


def _text_faults(lesson: Lesson, texts: Iterable[str]) -> Iterator[str]:
    """Citations that lead nowhere, and quotations that stand nowhere, in any text of a piece."""
    if not lesson.anchors:
        return
    for text in texts:
        yield from (f"{message}." for _, message in citation_faults(lesson, text))
        yield from (f"{message}." for _, message in quotation_faults(lesson, text))
