"""What stands on each card of a lesson. Texts come from lesson files, which other people may have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalGroup
from textual.widget import Widget
from textual.widgets import Markdown, Static

from labtui.terminal_text import visible
from labtui.widgets.writing import Writing
from lessons.model import (
    Anchor,
    Card,
    DeepPoint,
    Example,
    Gate,
    LabTask,
    Lesson,
    Misconception,
    Pitfall,
    PracticePiece,
    RecallItem,
)
from lessons.times import anchor_url, clock
from lessons.walk import Step, notes_about

Identified = TypeVar(
    "Identified", Card, DeepPoint, Anchor, Example, Pitfall, Misconception, PracticePiece, LabTask, RecallItem, Gate
)

SECTIONS = {
    "frame": "Before you watch",
    "card": "Diagram",
    "deep": "Deep points",
    "anchor": "Anchors",
    "example": "Worked examples",
    "pitfall": "Ways to learn it wrong",
    "misconception": "Misconceptions",
    "practice": "Practice",
    "lab": "Lab",
    "verdict": "Verdict",
    "recall": "Recall",
    "gate": "Gates",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store knows about the person's answers on one card.

    believed, why: the guess about a misconception; believed is None before it was asked.
    evidence: what was saved at a gate. draft: a half-typed text.
    """

    believed: bool | None = None
    why: str = ""
    evidence: str | None = None
    evidence_when: str = ""
    draft: str | None = None


class Prose(Markdown):
    """Markdown of a lesson; links are text, nothing is opened."""

    def __init__(self, text: str, classes: str | None = None) -> None:
        super().__init__(visible(text.strip()), open_links=False, classes=classes)


class Heading(Static):
    def __init__(self, text: str, before: str = "") -> None:
        super().__init__(classes="heading", markup=False)
        self._before, self._heading = before, visible(text)

    def on_mount(self) -> None:
        self.update(f"{self._before}  {self._heading}" if self._before else self._heading)


class Quote(Static):
    """Words of the transcript, as they were said."""

    def __init__(self, words: str) -> None:
        super().__init__(f"“{visible(words.strip())}”", classes="quote", markup=False)


class Pair(Horizontal):
    """A name at the left, its text at the right; one below the other where the terminal is narrow."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(classes="pair")
        self._name, self._text = name, text

    def compose(self) -> ComposeResult:
        yield Static(self._name, classes="pair-name", markup=False)
        yield Prose(self._text, classes="pair-text")


class Diagram(Static):
    """Intent ─ [MODEL] ─ Harness: the stage of this card stands in brackets."""

    def __init__(self, stages: tuple[str, ...], present: str | None) -> None:
        words = [f"[{visible(stage).upper()}]" if stage == present else visible(stage) for stage in stages]
        super().__init__(" ─ ".join(words), classes="diagram", markup=False)


class AnswerBox(VerticalGroup):
    """A named place to write in."""

    def __init__(self, title: str, draft_key: str, text: str, subtitle: str = "") -> None:
        super().__init__(classes="answer-box")
        self._title, self._key, self._text, self._subtitle = title, draft_key, text, subtitle

    def compose(self) -> ComposeResult:
        writing = Writing(self._text, draft_key=self._key)
        writing.border_title = self._title
        writing.border_subtitle = self._subtitle
        yield writing


def evidence_key(lesson: Lesson, gate_id: str) -> str:
    return f"gate/{lesson.id}/{gate_id}"


def why_key(lesson: Lesson, misconception_id: str) -> str:
    return f"why/{lesson.id}/{misconception_id}"


def draft_key(lesson: Lesson, step: Step) -> str | None:
    part = step.id.partition("/")[2]
    if step.kind == "gate":
        return evidence_key(lesson, part)
    if step.kind == "misconception":
        return why_key(lesson, part)
    return None


def anchors_of(lesson: Lesson, step: Step) -> tuple[Anchor, ...]:
    """The anchors that a card cites, or the one that it is."""
    kind, _, part = step.id.partition("/")
    if kind == "anchor":
        return tuple(anchor for anchor in lesson.anchors if anchor.id == part)
    citing: dict[str, Sequence[Card | DeepPoint | Misconception | RecallItem]] = {
        "card": lesson.cards,
        "deep": lesson.deep_points,
        "misconception": lesson.misconceptions,
        "recall": lesson.recall,
    }
    cited = next((item.anchors for item in citing.get(kind, ()) if item.id == part), ())
    return tuple(anchor for anchor in lesson.anchors if anchor.id in cited)


def opens_at(lesson: Lesson, step: Step) -> tuple[str, str] | None:
    """(address, clock) of the second that a card is about."""
    part = step.id.partition("/")[2]
    start = next((point.start_s for point in lesson.deep_points if step.kind == "deep" and point.id == part), None)
    if start is None:
        anchors = anchors_of(lesson, step)
        if not anchors:
            return None
        start = anchors[0].start_s
    return anchor_url(lesson.video.url, start), clock(start)


def stage_of(lesson: Lesson, step: Step) -> str | None:
    """The stage of the diagram that a card belongs to, or None."""
    part = step.id.partition("/")[2]
    if step.kind == "card":
        return next((card.stage for card in lesson.cards if card.id == part), None)
    if step.kind == "anchor":
        return next((card.stage for card in lesson.cards if part in card.anchors), None)
    return None


def card_widgets(lesson: Lesson, step: Step, kept: Kept) -> list[Widget]:
    return [*_card(lesson, step, kept), *_notes(lesson, step)]


def _notes(lesson: Lesson, step: Step) -> Iterator[Widget]:
    for note in notes_about(lesson, step.id):
        yield Prose(f"**Editor's note.** {note.body.strip()}\n\nSource: {note.source}", classes="note")


def _card(lesson: Lesson, step: Step, kept: Kept) -> Iterator[Widget]:
    part = step.id.partition("/")[2]
    stages = tuple(card.stage for card in lesson.cards)
    match step.kind:
        case "frame":
            yield from _frame(lesson)
        case "card":
            card = _part(lesson.cards, part)
            yield Diagram(stages, card.stage)
            yield Prose(card.body)
            yield from _cited(lesson, step)
        case "deep":
            point = _part(lesson.deep_points, part)
            yield Heading(point.title, clock(point.start_s))
            yield Quote(point.quote)
            yield Prose(point.body)
            yield Pair("Your task", point.task)
        case "anchor":
            yield from _anchor(_part(lesson.anchors, part))
            yield Diagram(stages, stage_of(lesson, step))
        case "example":
            example = _part(lesson.examples, part)
            yield Heading(example.title)
            yield Prose(example.body)
        case "pitfall":
            pitfall = _part(lesson.pitfalls, part)
            yield Prose(pitfall.body, classes="pitfall")
        case "misconception":
            yield from _misconception(lesson, part, kept)
        case "practice":
            piece = _part(lesson.practice, part)
            yield Heading(piece.title)
            yield Prose(piece.body)
            yield Pair("Done when", piece.done_signal)
        case "lab":
            task = _part(lesson.lab_tasks, part)
            yield Heading(task.title)
            yield Prose(task.body)
        case "verdict":
            yield Heading("Your verdict")
            yield Prose(lesson.frame.lab_question)
        case "recall":
            item = _part(lesson.recall, part)
            yield Heading("From memory")
            yield Prose(item.question, classes="question")
        case "gate":
            gate = _part(lesson.gates, part)
            yield Heading(gate.title)
            yield Prose(gate.body)
            text = kept.draft if kept.draft is not None else kept.evidence or ""
            state = "draft, not saved" if kept.draft is not None else kept.evidence_when
            yield AnswerBox("Your evidence", evidence_key(lesson, part), text, state)


def _frame(lesson: Lesson) -> Iterator[Widget]:
    frame, video = lesson.frame, lesson.video
    yield Heading(lesson.title)
    about = [video.channel] if video.channel else []
    if video.transcript_words:
        about.append(f"{video.transcript_words:,} words of transcript")
    about.append(f"about {lesson.minutes} minutes")
    yield Static(visible(" · ".join(about)), classes="muted", markup=False)
    yield Prose(lesson.summary)
    yield Pair("Principle", frame.principle)
    yield Pair("Why", frame.why)
    yield Pair("Skill you build", frame.skill)
    yield Pair("Watch for", frame.watch_for)
    yield Pair("Thesis", frame.thesis)
    yield Pair("Goal", frame.goal)
    yield Pair("The lab asks", frame.lab_question)


def _anchor(anchor: Anchor) -> Iterator[Widget]:
    yield Heading(anchor.title, clock(anchor.start_s))
    yield Quote(anchor.quote)
    for name, text in (
        ("What it proves", anchor.proves),
        ("What it does not", anchor.does_not_prove),
        ("Needs checking", anchor.to_verify),
    ):
        if text.strip():
            yield Pair(name, text)


def _cited(lesson: Lesson, step: Step) -> Iterator[Widget]:
    for anchor in anchors_of(lesson, step):
        yield Static(f"{clock(anchor.start_s)}  {visible(anchor.title)}", classes="cited", markup=False)
        yield Quote(anchor.quote)


def _misconception(lesson: Lesson, part: str, kept: Kept) -> Iterator[Widget]:
    item = _part(lesson.misconceptions, part)
    yield Heading("True or false?")
    yield Static(visible(item.claim), classes="claim", markup=False)
    if kept.believed is None:
        yield AnswerBox("Why do you think so? (you may leave it empty)", why_key(lesson, part), kept.draft or "")
        return
    said = "true" if kept.believed else "false"
    yield Pair("You said", f"{said}, because {kept.why}" if kept.why else said)
    yield Pair("The lesson says", item.correction)
    if item.why.strip():
        yield Pair("Why it tempts", item.why)
    yield from _cited(lesson, Step(f"misconception/{part}", "misconception", item.claim))


def _part(items: tuple[Identified, ...], part: str) -> Identified:
    return next(item for item in items if item.id == part)
