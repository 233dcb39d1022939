"""The person's own words at a step: how sure they are of an anchor, a stage of their harness map, or a remark."""

from __future__ import annotations

from collections.abc import Iterator

from labtui.cli.conversation import ask, say
from labtui.terminal_text import visible
from lessons.model import Lesson
from lessons.walk import Step
from store.opening import Store

ASKED = {
    "anchor": "How sure are you of this claim, and why? It goes into the source check.",
    "card": "This stage in your own words, for your harness map:",
    "practice": "What came out of it?",
}
KEPT = {"anchor": "Your confidence", "card": "Your words on this stage", "practice": "What came out of it"}
"""A gate keeps evidence, a recall question and a prediction their answers; all other steps take a note."""
WITHOUT_NOTE = frozenset({"gate", "recall", "verdict", "predict"})


def note_lines(store: Store, lesson: Lesson, step: Step) -> Iterator[str]:
    note = store.progress.notes(lesson.id).get(step.id)
    if note is not None and step.kind not in WITHOUT_NOTE:
        yield f"  {KEPT.get(step.kind, 'Your note')}:"
        yield from (f"    {line}" for line in visible(note.text).splitlines())
        yield ""


def take_note(store: Store, lesson: Lesson, step: Step, words: str) -> None:
    """words: as given beside the command; asked for where they are empty. Raises InputEnded."""
    if step.kind in WITHOUT_NOTE:
        say("What you write here is asked for by itself: it needs no note.")
        return
    text = words or ask(f"{ASKED.get(step.kind, 'Your note:')} (an empty line leaves it as it is)")
    if text:
        store.progress.save_note(lesson.id, step.id, text)
        say("Saved.")


def take_note_away(store: Store, lesson: Lesson, step: Step) -> None:
    if step.kind in WITHOUT_NOTE:
        say("What you wrote here is no note: it stays.")
    elif step.id in store.progress.notes(lesson.id):
        store.progress.save_note(lesson.id, step.id, "")
        say("The note is taken away.")
    else:
        say("There is no note here.")
