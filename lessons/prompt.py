"""The prompt that a person gives to an assistant after the lesson, grounded in the transcript's anchors."""

from __future__ import annotations

from collections.abc import Iterator

from lessons.model import GroundedPrompt, Lesson
from lessons.times import clock

FALLBACK = GroundedPrompt(
    intro="Help me to learn from one particular source, for good. Stay with this source.",
    why="",
    topic="",
    learning_frame="",
    tasks=(
        "Treat the evidence above as your main source. Mark whatever you add from elsewhere as outside context.",
        "Make a table with a column each for the place in the source, the claim, what is shown for it, your "
        "confidence, and what still needs verification.",
        "Pick out the claims that can be taught, and leave out what the evidence does not support.",
        "Build one thing I can use again, with a signal that tells me when it is done.",
        "Name the piece of evidence on which each main takeaway rests.",
    ),
    includes=(),
    quality_bar=(
        "Be specific to this source; leave out what would fit any other.",
        "Where the evidence is thin, say so and name the place to look at again. Do not guess.",
    ),
)


def grounded_prompt(lesson: Lesson) -> str:
    """Plain text, complete in itself. What the lesson leaves out of its [prompt] is filled from FALLBACK."""
    return "\n".join(_lines(lesson)).strip() + "\n"


def _lines(lesson: Lesson) -> Iterator[str]:
    prompt = lesson.prompt
    yield prompt.intro or FALLBACK.intro
    yield ""
    yield from _source(lesson)
    yield from _anchors(lesson)
    yield from _corrections(lesson)
    yield "Your task:"
    announced = _announcing(prompt)
    for number, task in enumerate(prompt.tasks or FALLBACK.tasks, 1):
        yield f"{number}. {_item(task)}"
        if number == announced:
            yield from (f"   - {_item(part)}" for part in prompt.includes)
    yield ""
    if prompt.includes and announced is None:
        yield "The artifact contains:"
        yield from (f"- {_item(part)}" for part in prompt.includes)
        yield ""
    yield "Quality bar:"
    yield from (f"- {_item(rule)}" for rule in prompt.quality_bar or FALLBACK.quality_bar)


def _announcing(prompt: GroundedPrompt) -> int | None:
    """The number of the task that ends with a colon: what the answer includes then stands below it."""
    if not prompt.includes:
        return None
    return next((number for number, task in enumerate(prompt.tasks, 1) if task.rstrip().endswith((":", "："))), None)


def _source(lesson: Lesson) -> Iterator[str]:
    facts = {
        "Title": lesson.video.title or lesson.title,
        "URL": lesson.video.url,
        "Channel": lesson.video.channel,
        "Topic": lesson.prompt.topic,
        "What I am doing with it": lesson.prompt.learning_frame or lesson.frame.lab_question or lesson.frame.skill,
        "Why it matters": lesson.prompt.why or lesson.frame.why,
    }
    yield "Source video:" if lesson.video.url else "Source:"
    yield from (f"- {name}: {_one_line(value)}" for name, value in facts.items() if value)
    yield ""


def _anchors(lesson: Lesson) -> Iterator[str]:
    if not lesson.anchors:
        yield "There are no transcript anchors for this lesson. What it says:"
        yield _one_line(lesson.summary)
        yield from (f"- {card.stage}: {_one_line(card.body)}" for card in lesson.cards)
        yield ""
        return
    yield "Transcript anchors, word for word from this source:"
    for number, anchor in enumerate(lesson.anchors, 1):
        yield f'- {clock(anchor.start_s)} / Evidence {number}: "{anchor.quote}"'
    yield ""


def _corrections(lesson: Lesson) -> Iterator[str]:
    if not lesson.notes:
        return
    yield "Corrections by the lesson's editor (outside context, each with its source):"
    yield from (f"- {_one_line(note.body)} [{_one_line(note.source)}]" for note in lesson.notes)
    yield ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _item(text: str) -> str:
    """A list entry whose further lines stay inside the entry."""
    return text.replace("\n", "\n   ")
