"""An assistant's answers to the grounded prompt: each is a draft of its own, and none is lost when it is discarded.

The text stands under answer/LESSON/ID, what is known of it under answer-about/LESSON/ID, as JSON. A text that a person
pasted or imported stands under answer/LESSON and has the id "pasted".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from exercises.run_ids import new_id
from labtui.errors import USAGE, LabError

if TYPE_CHECKING:
    from store.opening import Store
    from store.progress import Draft

PASTED = "pasted"
Ended = Literal["", "coming", "complete", "length", "broken", "cancelled"]
ENDED_WORDS: dict[Ended, str] = {
    "coming": "not finished: it is still coming, or labtui ended while it came",
    "length": "cut off: its limit of tokens was used up",
    "broken": "cut off: the connection or the server failed",
    "cancelled": "cut off: you stopped it",
}


@dataclass(frozen=True, slots=True)
class About:
    """model, server: who was asked; empty for a text that was pasted. error: the server's words where it broke off."""

    model: str = ""
    server: str = ""
    ended: Ended = ""
    error: str = ""
    discarded: bool = False

    @property
    def whence(self) -> str:
        return f"{self.model} at {self.server}" if self.server else "pasted or imported"


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """changed_at: when its text was kept last."""

    id: str
    text: str
    changed_at: datetime
    about: About = About()

    @property
    def remark(self) -> str:
        """What is to be known before its faults are read; empty where it came whole."""
        words = ENDED_WORDS.get(self.about.ended, "")
        return f"{words} ({self.about.error})" if words and self.about.error else words


def new_answer_id() -> str:
    return new_id("a")


def text_key(lesson_id: str, answer_id: str) -> str:
    """Of the draft with the text."""
    return f"answer/{lesson_id}" if answer_id == PASTED else f"answer/{lesson_id}/{answer_id}"


def about_key(lesson_id: str, answer_id: str) -> str:
    return f"answer-about/{lesson_id}/{answer_id}"


def about_json(about: About) -> str:
    return json.dumps(asdict(about), ensure_ascii=False)


def kept_answers(lesson_id: str, store: Store, *, discarded: bool = False) -> list[KeptAnswer]:
    """Newest first. discarded: those that were discarded, in place of the others. Raises StoreError."""
    pasted, prefix = text_key(lesson_id, PASTED), text_key(lesson_id, "")
    texts: dict[str, Draft] = store.progress.drafts(prefix)
    found = {key.removeprefix(prefix): draft for key, draft in texts.items()}
    if (draft := store.progress.drafts(pasted).get(pasted)) is not None:
        found[PASTED] = draft
    abouts = store.progress.drafts(about_key(lesson_id, ""))
    answers = []
    for answer_id, draft in found.items():
        known = abouts.get(about_key(lesson_id, answer_id))
        about = _read_about(known.text) if known is not None else About()
        if about.discarded == discarded and draft.text.strip():
            answers.append(KeptAnswer(answer_id, draft.text, draft.changed_at, about))
    return sorted(answers, key=lambda one: (one.changed_at, one.id), reverse=True)


def kept_answer(lesson_id: str, answer_id: str | None, store: Store, *, discarded: bool = False) -> KeptAnswer:
    """The one of that id, or of an id that ends so; without an id the newest. Raises LabError (exit 2), StoreError."""
    answers = kept_answers(lesson_id, store, discarded=discarded)
    found = [one for one in answers if answer_id is None or one.id == answer_id]
    found = found or [one for one in answers if answer_id and one.id.endswith(answer_id)]
    if not found or (answer_id is not None and len(found) > 1):
        kind = "discarded answer" if discarded else "answer"
        cause = f"no {kind} to the prompt of {lesson_id} is called {answer_id!r}"
        if answer_id is None:
            cause = f"no {kind} to the prompt of {lesson_id} is kept"
        elif found:
            cause = f"{answer_id!r} fits {', '.join(one.id for one in found)}"
        raise LabError(
            "There is no such answer",
            cause,
            f"labtui lesson answers {lesson_id} lists them; labtui lesson ask {lesson_id} asks for one.",
            USAGE,
        )
    return found[0]


def discard(lesson_id: str, answer_id: str, store: Store) -> str:
    """Take an answer off the list. Returns the id under which `restore` brings it back. Raises LabError, StoreError.

    A pasted text gets an id of its own, so that the next one can be pasted.
    """
    answer = kept_answer(lesson_id, answer_id, store)
    kept_as = new_answer_id() if answer.id == PASTED else answer.id
    if answer.id == PASTED:
        store.progress.save_draft(text_key(lesson_id, kept_as), answer.text)
    _keep_about(lesson_id, kept_as, replace(answer.about, discarded=True), store)
    if answer.id == PASTED:
        store.progress.clear_draft(text_key(lesson_id, PASTED))
    return kept_as


def restore(lesson_id: str, answer_id: str, store: Store) -> KeptAnswer:
    """Undo `discard`. Raises LabError (exit 2), StoreError."""
    answer = kept_answer(lesson_id, answer_id, store, discarded=True)
    about = replace(answer.about, discarded=False)
    _keep_about(lesson_id, answer.id, about, store)
    return replace(answer, about=about)


def _keep_about(lesson_id: str, answer_id: str, about: About, store: Store) -> None:
    store.progress.save_draft(about_key(lesson_id, answer_id), about_json(about))


def _read_about(text: str) -> About:
    """Of a draft that came with a progress file, and may be anything."""
    try:
        read: Any = json.loads(text)
    except ValueError:
        read = None
    known: Mapping[str, Any] = read if isinstance(read, Mapping) else {}
    words = {name: str(known.get(name) or "") for name in ("model", "server", "error")}
    ended = known.get("ended")
    return About(
        **words,
        ended=cast("Ended", ended) if ended in get_args(Ended) else "",
        discarded=known.get("discarded") is True,
    )
