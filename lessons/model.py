"""What a lesson consists of. Ids are stable: progress, runs and recall answers refer to them, so an edited text
never resets anything. Times are seconds from the start of the source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """Where a statement comes from. url is None for a source without an address."""

    id: str
    title: str
    url: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Video:
    """url and title are empty for a lesson without a video; such a lesson has no anchors."""

    title: str
    url: str
    channel: str
    duration_s: float | None
    transcript_words: int | None = None
    transcript_segments: int | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """Read before watching. Bodies are Markdown; what the source does not give is empty."""

    principle: str
    why: str
    skill: str
    watch_for: str
    thesis: str
    goal: str
    lab_question: str


@dataclass(frozen=True, slots=True)
class Card:
    """One of the cards of the diagram; stage is its name there (Intent, Model, ...)."""

    id: str
    stage: str
    body: str
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeepPoint:
    """start_s: None for a point that rests on no second of a source; it then has no quotation either."""

    id: str
    start_s: float | None
    title: str
    quote: str
    body: str
    task: str
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Anchor:
    """A timestamped quotation of the transcript, verbatim."""

    id: str
    start_s: float
    title: str
    quote: str
    proves: str = ""
    does_not_prove: str = ""
    to_verify: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    id: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Pitfall:
    """One of the ways to learn it wrong."""

    id: str
    body: str


@dataclass(frozen=True, slots=True)
class Misconception:
    """why: what makes the claim tempting, told together with the correction."""

    id: str
    claim: str
    correction: str
    why: str = ""
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """One of the conditions under which the lesson counts as learned.

    needs: what counts as evidence, as named in NEEDS of lessons/schema.py; empty where the person's text alone counts.
    """

    id: str
    title: str
    body: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroundedPrompt:
    intro: str
    why: str
    topic: str
    learning_frame: str
    tasks: tuple[str, ...]
    includes: tuple[str, ...]
    quality_bar: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PracticePiece:
    """piece: what is made, as named in PIECES of lessons/schema.py; "text" is free text."""

    id: str
    title: str
    body: str
    done_signal: str
    piece: str = "text"


@dataclass(frozen=True, slots=True)
class RecallItem:
    """answer: what a good answer says, in Markdown, empty where the source gives none.
    points: its parts, for comparing one's own answer with it."""

    id: str
    question: str
    answer: str
    points: tuple[str, ...]
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """Asked first, checked afterwards. exercise: "set/exercise", which says what a server must show for it.

    worked: how the number comes about, told after it was checked.
    """

    id: str
    title: str
    exercise: str
    body: str
    worked: str = ""


@dataclass(frozen=True, slots=True)
class LabTask:
    """A task of the lab. task names it in whatever exercise set belongs to the served checkpoint."""

    id: str
    task: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class EditorNote:
    """A correction or remark that is not in the source, with its own source. about: the id of a step."""

    id: str
    about: str
    body: str
    source: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson, checked. Iterate `steps()` of lessons/walk.py for the order in which a person goes through it.

    minutes: 0 where the lesson does not say. retired: ids that were used once and never come back.
    """

    format_version: int
    id: str
    title: str
    summary: str
    lang: str
    version: str
    minutes: int
    video: Video
    frame: Frame
    cards: tuple[Card, ...]
    deep_points: tuple[DeepPoint, ...]
    anchors: tuple[Anchor, ...]
    examples: tuple[Example, ...]
    pitfalls: tuple[Pitfall, ...]
    misconceptions: tuple[Misconception, ...]
    gates: tuple[Gate, ...]
    prompt: GroundedPrompt
    practice: tuple[PracticePiece, ...]
    lab_tasks: tuple[LabTask, ...]
    recall: tuple[RecallItem, ...]
    notes: tuple[EditorNote, ...]
    sources: tuple[Source, ...]
    path: Path
    retired: tuple[str, ...] = ()
    predictions: tuple[Prediction, ...] = ()
