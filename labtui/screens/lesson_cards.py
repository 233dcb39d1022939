"""What stands on each card of a lesson. Texts come from lesson files, which other people may have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalGroup
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Markdown, Static

from exercises.errors import ExerciseError
from labtui.gates import NamedRun
from labtui.made import in_studio
from labtui.predicting import Predicted, exercise_of, outcome_words, seen_words
from labtui.program import as_typed
from labtui.terminal_text import visible
from labtui.widgets.writing import Writing
from lessons.evidence import counts_for_gate, piece_for_gate
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
    Prediction,
    RecallItem,
)
from lessons.times import anchor_url, clock
from lessons.walk import Step, notes_about

Identified = TypeVar(
    "Identified",
    Card,
    DeepPoint,
    Anchor,
    Example,
    Pitfall,
    Misconception,
    PracticePiece,
    Prediction,
    LabTask,
    RecallItem,
    Gate,
)

SECTIONS = {
    "frame": "Frame",
    "card": "Diagram",
    "deep": "Deep points",
    "anchor": "Anchors",
    "example": "Worked examples",
    "pitfall": "Ways to learn it wrong",
    "misconception": "Misconceptions",
    "practice": "Practice",
    "predict": "Predictions",
    "lab": "Lab",
    "verdict": "Verdict",
    "recall": "Recall",
    "gate": "Gates",
}


BOX_TITLES = {
    "gate": "Your evidence",
    "practice": "What came out of it",
    "predict": "Your number first, then how you got it",
    "card": "Your harness map at this stage",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store knows about the person's answers on one card.

    believed, why: the guess about a misconception; believed is None before it was asked.
    text, when: what was saved here, evidence at a gate and a note elsewhere. draft: a half-typed text.
    missing: at a gate and at a piece of the studio what still keeps it open; None elsewhere.
    piece: what was made in the studio, as text. runs: those that a gate may name. changed: that the text was reworded
    since it was read, and when that was; empty where it was not.
    predicted: what was predicted here, and what was seen.
    """

    believed: bool | None = None
    why: str = ""
    text: str | None = None
    when: str = ""
    draft: str | None = None
    missing: tuple[str, ...] | None = None
    piece: str = ""
    runs: tuple[NamedRun, ...] = ()
    changed: str = ""
    predicted: Predicted | None = None

    @property
    def checked(self) -> bool:
        """A prediction that was checked: it stays as it is."""
        return self.predicted is not None and self.predicted.seen is not None


class Prose(Markdown):
    """Markdown of a lesson; links are text, nothing is opened."""

    def __init__(self, text: str, classes: str | None = None) -> None:
        super().__init__(as_typed(visible(text.strip())), open_links=False, classes=classes)


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
    """A name at the left, its text at the right; one below the other where the terminal is narrow.

    plain: the text is no Markdown.
    """

    def __init__(self, name: str, text: str, plain: bool = False) -> None:
        super().__init__(classes="pair")
        self._label, self._text, self._plain = name, text, plain

    def compose(self) -> ComposeResult:
        yield Static(self._label, classes="pair-name", markup=False)
        if self._plain:
            yield Static(visible(self._text.strip()), classes="pair-text -plain", markup=False)
        else:
            yield Prose(self._text, classes="pair-text")


class Diagram(Static):
    """Intent ─ [MODEL] ─ Harness: the stage of this card stands in brackets."""

    def __init__(self, stages: tuple[str, ...], present: str | None) -> None:
        words = [
            Content.styled(f"[{visible(stage).upper()}]", "bold $accent") if stage == present else visible(stage)
            for stage in stages
        ]
        super().__init__(Content(" ─ ").join(words), classes="diagram")


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


def draft_key(lesson: Lesson, step: Step, asked: bool = False) -> str:
    """Under which a half-typed text of a card is kept. asked: the misconception has still to be guessed."""
    part = step.id.partition("/")[2]
    if step.kind == "gate":
        return f"gate/{lesson.id}/{part}"
    if asked:
        return f"why/{lesson.id}/{part}"
    return f"note/{lesson.id}/{step.id}"


def is_asked(step: Step, kept: Kept) -> bool:
    """Whether the card asks before it tells, and has not been answered."""
    return step.kind == "misconception" and kept.believed is None


def is_of_studio(lesson: Lesson, step: Step) -> bool:
    """Whether what the card asks for is made in the studio instead of written on the card."""
    part = step.id.partition("/")[2]
    return step.kind == "practice" and any(piece.id == part and in_studio(piece) for piece in lesson.practice)


def studio_piece(lesson: Lesson, step: Step) -> str | None:
    """The practice piece that is made at this card, or that counts at this gate."""
    kind, _, part = step.id.partition("/")
    if is_of_studio(lesson, step):
        return part
    needs = next((gate.needs for gate in lesson.gates if kind == "gate" and gate.id == part), ())
    return next((piece for need in needs if (piece := piece_for_gate(lesson, need))), None)


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
    if not lesson.video.url:
        return None
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


def card_widgets(lesson: Lesson, step: Step, kept: Kept, writing: bool = False) -> list[Widget]:
    """writing: with an empty place to write in, where the card has none of its own."""
    changed = [Static(f"! {kept.changed}", classes="changed", markup=False)] if kept.changed else []
    return [*changed, *_card(lesson, step, kept), *_notes(lesson, step), *answer_box(lesson, step, kept, writing)]


def answer_box(lesson: Lesson, step: Step, kept: Kept, writing: bool) -> Iterator[Widget]:
    if is_of_studio(lesson, step) or kept.checked:
        return
    asked = is_asked(step, kept)
    own_box = asked or step.kind in ("gate", "practice", "predict")
    if own_box or writing or kept.text is not None or kept.draft is not None:
        title = "Why do you think so? (may stay empty)" if asked else BOX_TITLES.get(step.kind, "Your note")
        text = kept.draft if kept.draft is not None else kept.text or ""
        state = "draft, not saved" if kept.draft is not None else kept.when
        yield AnswerBox(title, draft_key(lesson, step, asked), text, state)


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
            yield Heading(point.title, "" if point.start_s is None else clock(point.start_s))
            yield from _quote(point.quote)
            yield Prose(point.body)
            yield from _pair("Your task", point.task)
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
            yield from _pair("Done when", piece.done_signal)
            if is_of_studio(lesson, step):
                yield from _made(kept)
        case "predict":
            yield from _prediction(lesson, _part(lesson.predictions, part), kept.predicted)
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
            yield Pair("What counts", f"{sentence(counts_for_gate(gate))}.")
            if kept.runs:
                yield Pair("Your runs", "\n".join(run.words for run in kept.runs), plain=True)
            yield from _missing(kept.missing)


def _prediction(lesson: Lesson, prediction: Prediction, predicted: Predicted | None) -> Iterator[Widget]:
    """What is true stands there only once something was predicted."""
    yield Heading(prediction.title)
    yield Prose(prediction.body)
    try:
        exercise = exercise_of(lesson, prediction)
    except ExerciseError as error:
        yield Pair("Not here", f"{error.title}: {error.cause}. {error.fix}", plain=True)
        return
    if predicted is None:
        return
    if predicted.seen is None:
        yield Pair("Not checked yet", exercise.check or "Nothing has shown it yet.", plain=True)
        return
    yield Pair("You predicted", predicted.words, plain=True)
    yield Pair("Seen", seen_words(exercise, predicted.seen), plain=True)
    yield Pair("So", sentence(outcome_words(exercise, predicted)), plain=True)
    yield from _pair("Worked out", prediction.worked)


def _made(kept: Kept) -> Iterator[Widget]:
    """The state of a piece of the studio."""
    if kept.text is not None:
        yield Pair("You wrote before", kept.text, plain=True)
    if not kept.piece.strip():
        yield Static("Not begun. enter opens it in the studio.", classes="state", markup=False)
        return
    yield Static(visible(kept.piece.strip()), classes="piece", markup=False)
    yield from _missing(kept.missing)


def _missing(missing: tuple[str, ...] | None) -> Iterator[Widget]:
    if missing:
        yield Pair("Still missing", "\n".join(missing), plain=True)
    elif missing is not None:
        yield Static("✓ Nothing is missing.", classes="state", markup=False)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _frame(lesson: Lesson) -> Iterator[Widget]:
    frame, video = lesson.frame, lesson.video
    yield Heading(lesson.title)
    about = [video.channel] if video.channel else []
    if video.transcript_words:
        about.append(f"{video.transcript_words:,} words of transcript")
    if lesson.minutes:
        about.append(f"about {lesson.minutes} minutes")
    yield Static(visible(" · ".join(about)), classes="muted", markup=False)
    yield Prose(lesson.summary)
    for name, text in (
        ("Principle", frame.principle),
        ("Why", frame.why),
        ("Skill you build", frame.skill),
        ("Watch for", frame.watch_for),
        ("Thesis", frame.thesis),
        ("Goal", frame.goal),
        ("The lab asks", frame.lab_question),
    ):
        yield from _pair(name, text)


def _anchor(anchor: Anchor) -> Iterator[Widget]:
    yield Heading(anchor.title, clock(anchor.start_s))
    yield from _quote(anchor.quote)
    for name, text in (
        ("What it proves", anchor.proves),
        ("What it does not", anchor.does_not_prove),
        ("Needs checking", anchor.to_verify),
    ):
        yield from _pair(name, text)


def _pair(name: str, text: str) -> Iterator[Widget]:
    if text.strip():
        yield Pair(name, text)


def _quote(words: str) -> Iterator[Widget]:
    if words.strip():
        yield Quote(words)


def _cited(lesson: Lesson, step: Step) -> Iterator[Widget]:
    for anchor in anchors_of(lesson, step):
        yield Static(f"{clock(anchor.start_s)}  {visible(anchor.title)}", classes="cited", markup=False)
        yield from _quote(anchor.quote)


def _misconception(lesson: Lesson, part: str, kept: Kept) -> Iterator[Widget]:
    item = _part(lesson.misconceptions, part)
    yield Heading("True or false?")
    yield Static(visible(item.claim), classes="claim", markup=False)
    if kept.believed is None:
        return
    said = "true" if kept.believed else "false"
    yield Pair("You said", f"{said}, because {kept.why}" if kept.why else said)
    yield Pair("The lesson says", item.correction)
    yield from _pair("Why it tempts", item.why)
    yield from _cited(lesson, Step(f"misconception/{part}", "misconception", item.claim))


def _part(items: tuple[Identified, ...], part: str) -> Identified:
    return next(item for item in items if item.id == part)
