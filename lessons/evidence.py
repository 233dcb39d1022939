"""What counts as evidence for each gate and each practice piece of a lesson, and what is missing in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from lessons.citations import QUOTED, citation_faults, cites_an_anchor, quotation_faults
from lessons.model import Gate, Lesson, PracticePiece
from lessons.studio.checks import missing
from lessons.studio.pieces import KINDS, EvidenceMap, HarnessMap, Piece, TeachBack, kind_of
from lessons.times import clock
from lessons.words import longest_shared_run, words_of

OWN_WORDS = 8
"""Fewer words are no statement."""

TAKEN_OVER = 8
"""So many words in a row are not one's own; shorter runs are names and fixed terms."""

COUNTS = {
    "own-words": "your own sentences",
    "citation": "a citation of an anchor",
    "evidence-map": "your transcript evidence map, complete",
    "harness-map": "your harness map, complete, with its weakest link",
    "teach-back": "your teach-back card, complete and timed",
    "predictions": "your predictions, each made before it was checked",
    "runs": "a run of yours, named in the text",
    "verdict": "your verdict, citing runs",
}


@dataclass(frozen=True, slots=True)
class Made:
    """What the person has made so far for one lesson.

    pieces: by the id of the practice piece. texts: what was written for practice pieces of free text, by id.
    verdict, verdict_runs: the newest verdict and the ids of the runs it cites. runs: ids of all runs that are kept.
    predicted: ids of the predictions that were made and checked. not_counting: runs that are not valid, or warm-ups.
    """

    pieces: Mapping[str, Piece] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    verdict: str = ""
    verdict_runs: tuple[str, ...] = ()
    runs: Collection[str] = ()
    predicted: Collection[str] = ()
    not_counting: Collection[str] = ()


def counts_for_gate(gate: Gate) -> str:
    """What counts, in words: for the screen on which it is asked for."""
    needed = [COUNTS[need] for need in gate.needs]
    return ", ".join(needed) if needed else "your text"


def missing_for_gate(lesson: Lesson, gate: Gate, text: str, made: Made) -> list[str]:
    """Sentences; the gate is met when there is none. text: what the person wrote for it."""
    found = list(_missing_for_gate(lesson, gate, text, made))
    return list(dict.fromkeys(found))


def missing_for_practice(lesson: Lesson, piece: PracticePiece, made: Made) -> list[str]:
    if piece.piece == "text":
        return [] if made.texts.get(piece.id, "").strip() else ["Nothing was written yet."]
    own = made.pieces.get(piece.id)
    if own is None:
        return ["It was not begun yet."]
    if kind_of(own) != piece.piece:
        return [f"This is a {kind_of(own).replace('-', ' ')}; a {piece.piece.replace('-', ' ')} is asked for."]
    return missing(lesson, own)


def missing_in_verdict(text: str, run_ids: Collection[str], runs: Collection[str]) -> list[str]:
    """run_ids: the runs that the verdict cites. runs: all that are kept."""
    found = []
    if not text.strip():
        found.append("No verdict was written yet.")
    if not run_ids:
        found.append("The verdict cites no run.")
    known = set(runs)
    found += [f"The verdict cites {run}, which is not kept here." for run in run_ids if run not in known]
    return found


def _missing_for_gate(lesson: Lesson, gate: Gate, text: str, made: Made) -> Iterator[str]:
    if not text.strip() and not set(gate.needs) - {"own-words", "citation", "runs"}:
        yield "Nothing was written yet."
    for need in gate.needs:
        match need:
            case "own-words":
                yield from _own_words(lesson, gate, text)
            case "citation" if lesson.anchors and not cites_an_anchor(lesson, text):
                yield "Cite an anchor: its time, such as " + _example(lesson) + "."
            case "evidence-map":
                yield from _piece(lesson, made, EvidenceMap, "evidence map")
            case "harness-map":
                yield from _piece(lesson, made, HarnessMap, "harness map")
            case "teach-back":
                yield from _piece(lesson, made, TeachBack, "teach-back card")
            case "predictions":
                left = (one for one in lesson.predictions if one.id not in made.predicted)
                yield from (f"Predict and check: {one.title}" for one in left)
            case "runs":
                yield from _runs(text, made)
            case "verdict":
                yield from missing_in_verdict(made.verdict, made.verdict_runs, made.runs)
    if lesson.anchors:
        yield from (f"{message}." for _, message in citation_faults(lesson, text))
        yield from (f"{message}." for _, message in quotation_faults(lesson, text))


def _runs(text: str, made: Made) -> Iterator[str]:
    named, without = [run for run in made.runs if run in text], set(made.not_counting)
    if any(run not in without for run in named):
        return
    if named:
        yield f"Name another run: {named[0]} is not valid, or a warm-up."
    else:
        yield "Name a run of yours in the text." if made.runs else "No run is kept yet; make one in the lab."


def _own_words(lesson: Lesson, gate: Gate, text: str) -> Iterator[str]:
    count = len(words_of(text))
    if count < OWN_WORDS:
        yield f"Write at least one whole sentence; there are {count} words."
        return
    own = _without_quotations(text)
    for source in _lesson_texts(lesson, gate):
        shared = longest_shared_run(own, source)
        if len(shared) >= TAKEN_OVER:
            yield f"“{' '.join(shared[:12])}” stands in the lesson: use your own words, or mark it as a quotation."
            return


def _lesson_texts(lesson: Lesson, gate: Gate) -> Iterator[str]:
    yield lesson.summary
    yield gate.body
    yield lesson.frame.thesis
    yield lesson.frame.principle
    for point in lesson.deep_points:
        yield point.body
    for card in lesson.cards:
        yield card.body
    for anchor in lesson.anchors:
        yield anchor.quote


def _without_quotations(text: str) -> str:
    return QUOTED.sub(" … ", text)


def _piece(lesson: Lesson, made: Made, kind: type[Piece], name: str) -> Iterator[str]:
    """The piece of that kind that misses least."""
    candidates = [missing(lesson, piece) for piece in made.pieces.values() if isinstance(piece, kind)]
    if not candidates:
        yield f"The {name} was not begun yet."
        return
    yield from (f"In the {name}: {message}" for message in min(candidates, key=len))


def _example(lesson: Lesson) -> str:
    return clock(lesson.anchors[0].start_s)


def piece_for_gate(lesson: Lesson, need: str) -> str | None:
    """The practice piece in which a person makes what a gate needs, where the lesson has one."""
    if need not in KINDS:
        return None
    return next((piece.id for piece in lesson.practice if piece.piece == need), None)
