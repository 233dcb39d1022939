from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from labtui.gates import runs_for_gate
from labtui.made import in_studio, kept_piece
from labtui.marking import changed_words
from labtui.predicting import Predicted, check_all, step_of
from labtui.screens.lesson_cards import Kept, draft_key
from labtui.standing import standing_of
from labtui.widgets.dates import day_words
from lessons.model import Lesson
from lessons.studio.keeping import to_plain_text
from lessons.walk import Step, steps
from store.progress import GateEvidence, Guess, Note

if TYPE_CHECKING:
    from exercises.records import Run
    from store.opening import Store


@dataclass(frozen=True, slots=True)
class LessonState:
    """What the store keeps about one lesson.

    missing: what still keeps a gate or a piece of the studio open, by the id of the step. pieces: what was made in
    the studio, as text, by the id of the step. runs: the newest valid run of each task of the lab. changed: steps that
    were reworded since they were read, each with when that was.
    predicted: by the id of the step, checked where a server of the person has shown it by now.
    """

    done: frozenset[str]
    position: str | None
    guesses: dict[str, Guess]
    gates: dict[str, GateEvidence]
    notes: dict[str, Note]
    drafts: dict[str, str]
    scroll: str | None
    missing: dict[str, tuple[str, ...]]
    pieces: dict[str, str]
    runs: Mapping[str, Run]
    changed: Mapping[str, datetime]
    predicted: dict[str, Predicted]


def scroll_key(lesson: Lesson) -> str:
    return f"scroll/{lesson.id}"


def lesson_state(lesson: Lesson, store: Store) -> LessonState:
    """Runs on the thread of the store. Raises StoreError."""
    progress, checked = store.progress, check_all(lesson, store)
    standing = standing_of(lesson, store)
    keys = [draft_key(lesson, step, asked) for step in steps(lesson) for asked in (False, True)]
    missing = {f"gate/{gate}": found for gate, found in standing.gates.items()}
    missing |= {f"practice/{piece}": found for piece, found in standing.pieces.items()}
    made = {one.id: kept_piece(lesson, one, store) for one in lesson.practice if in_studio(one)}
    return LessonState(
        done=standing.done,
        position=progress.position(lesson.id),
        guesses=progress.guesses(lesson.id),
        gates=progress.gates(lesson.id),
        notes=progress.notes(lesson.id),
        drafts={key: text for key in keys if (text := progress.draft(key)) is not None},
        scroll=progress.draft(scroll_key(lesson)),
        missing=missing,
        pieces={f"practice/{one}": to_plain_text(kept.piece) for one, kept in made.items() if kept.begun},
        runs=standing.runs,
        changed=standing.changed,
        predicted={step_of(one): checked[one.id] for one in lesson.predictions if one.id in checked},
    )


def kept_at(lesson: Lesson, step: Step, state: LessonState, now: datetime) -> Kept:
    part = step.id.partition("/")[2]
    guess = state.guesses.get(part) if step.kind == "misconception" else None
    asked = step.kind == "misconception" and guess is None
    saved: GateEvidence | Note | None = None
    text: str | None = None
    if step.kind == "gate" and part in state.gates:
        saved = state.gates[part]
        text = state.gates[part].evidence
    elif step.id in state.predicted:
        saved = state.notes.get(step.id)
        text = state.predicted[step.id].words
    elif step.kind != "gate" and step.id in state.notes and step.id not in state.pieces:
        saved = state.notes[step.id]
        text = state.notes[step.id].text
    gate = next((one for one in lesson.gates if step.kind == "gate" and one.id == part), None)
    marked_at = state.changed.get(step.id)
    return Kept(
        believed=guess.believed if guess else None,
        why=guess.why if guess else "",
        text=text,
        when=f"saved {day_words(saved.saved_at, now)}" if saved else "",
        draft=state.drafts.get(draft_key(lesson, step, asked)),
        missing=state.missing.get(step.id),
        piece=state.pieces.get(step.id, ""),
        runs=runs_for_gate(gate, state.runs) if gate is not None else (),
        changed=changed_words(marked_at) if marked_at is not None else "",
        predicted=state.predicted.get(step.id),
    )
