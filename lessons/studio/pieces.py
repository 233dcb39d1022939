"""What a person makes in the studio. All texts may be empty while they are being written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PieceKind = Literal["evidence-map", "harness-map", "teach-back", "checklist", "transfer"]

CONFIDENCES = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class EvidenceMapRow:
    """anchor: its time, id or number ("4:15", "svg-check", "Evidence 4"). confidence: low, medium or high."""

    anchor: str = ""
    claim: str = ""
    proves: str = ""
    confidence: str = ""
    to_verify: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceMap:
    """transfer: where it will matter in the person's own work."""

    rows: tuple[EvidenceMapRow, ...] = ()
    transfer: str = ""


@dataclass(frozen=True, slots=True)
class HarnessStage:
    """boundary: what its tool may and may not do. proof: the signal by which one knows that it did its part."""

    stage: str = ""
    here: str = ""
    boundary: str = ""
    proof: str = ""


@dataclass(frozen=True, slots=True)
class HarnessMap:
    """weakest: the name of the stage that would break first. notice: how one would notice."""

    stages: tuple[HarnessStage, ...] = ()
    weakest: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class TeachBack:
    """seconds: how long it took to say it, None while nobody has timed it."""

    explanation: str = ""
    diagram: str = ""
    example: str = ""
    misconception: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """signal: what is there when it is done."""

    text: str = ""
    signal: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    """occasion: when to go through it."""

    items: tuple[ChecklistItem, ...] = ()
    occasion: str = ""


@dataclass(frozen=True, slots=True)
class Transfer:
    """What changes tomorrow. stops: what it replaces. signal: how one will know in a week."""

    change: str = ""
    stops: str = ""
    signal: str = ""


Piece = EvidenceMap | HarnessMap | TeachBack | Checklist | Transfer

KINDS: dict[PieceKind, type[Piece]] = {
    "evidence-map": EvidenceMap,
    "harness-map": HarnessMap,
    "teach-back": TeachBack,
    "checklist": Checklist,
    "transfer": Transfer,
}


def kind_of(piece: Piece) -> PieceKind:
    return next(kind for kind, made in KINDS.items() if isinstance(piece, made))
