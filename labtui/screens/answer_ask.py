"""Asking a model from the screen of the answers: who is asked, what comes, and the answers that are kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalGroup
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from labtui.kept_answers import PASTED, KeptAnswer
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.commands import Command, bindings
from labtui.widgets.dates import day_words
from labtui.widgets.field import Field
from lessons.model import Lesson

if TYPE_CHECKING:
    from labtui.bookkeeper import Bookkeeper
    from labtui.serving.supervisor import Supervisor

ADDRESS_KEY = "ask-at/address"
MODEL_KEY = "ask-at/model"
TELL_EVERY_S = 0.2

KEY_WORDS = "A key for another server comes from LABTUI_API_KEY in the environment; it is kept nowhere."

ANSWERS_COMMANDS = (Command("escape", "leave", "close", "Close without opening another"),)


class AskForm(VerticalGroup):
    """Who is asked: an address and a model, both of which may stay empty."""

    class Wanted(Message):
        def __init__(self, url: str, model: str) -> None:
            super().__init__()
            self.url = url
            self.model = model

    class Left(Message):
        pass

    def compose(self) -> ComposeResult:
        address = Field(placeholder="http://127.0.0.1:8000", id="ask-address")
        address.border_title = "Address of a server; empty: the server of the lab"
        yield address
        model = Field(placeholder="its name", id="ask-model")
        model.border_title = "Model; empty: the one that is served"
        yield model
        yield Static("", id="ask-words", markup=False)

    def open(self, url: str, model: str, words: str) -> None:
        self.query_one("#ask-address", Field).value = url
        self.query_one("#ask-model", Field).value = model
        self.query_one("#ask-words", Static).update(f"{words}{' ' if words else ''}{KEY_WORDS}")
        self.display = True
        self.query_one("#ask-address", Field).focus()

    @on(Input.Submitted, "#ask-address")
    def _address_given(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#ask-model", Field).focus()

    @on(Input.Submitted, "#ask-model")
    def _model_given(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Wanted(self.query_one("#ask-address", Field).value.strip(), event.value.strip()))

    @on(Field.Blurred)
    def _field_left(self) -> None:
        self.call_after_refresh(self._leave_if_left)

    def _leave_if_left(self) -> None:
        if self.display and not any(field.has_focus for field in self.query(Field)):
            self.display = False
            self.post_message(self.Left())


class AnswerComes(Message):
    """A part of an answer has come; a newer one replaces one that still waits."""

    def __init__(self, text: str, seconds: float, whom: str) -> None:
        super().__init__()
        self.text = text
        self.seconds = seconds
        self.whom = whom

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AnswerComes)


class AnswerCame(Message):
    def __init__(self, answer: KeptAnswer) -> None:
        super().__init__()
        self.answer = answer


class AskFailed(Message):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class Asking:
    """One request, run on a thread of its own; it posts messages and touches nothing else. Stop it by `cancel`."""

    def __init__(self, lesson: Lesson, url: str, model: str, post: Callable[[Message], object]) -> None:
        self.lesson, self.url, self.model = lesson, url, model
        self.cancel = threading.Event()
        self._post = post

    def run(self, find_supervisor: Callable[[], Supervisor], books: Bookkeeper) -> None:
        from labtui.asking import ask_and_keep, place_to_ask

        def keep(key: str, text: str) -> None:
            books.submit(lambda store: store.progress.save_draft(key, text)).result()

        told_at = 0.0

        def tell(text: str, seconds: float) -> None:
            nonlocal told_at
            if time.monotonic() - told_at >= TELL_EVERY_S:
                told_at = time.monotonic()
                self._post(AnswerComes(text, seconds, place.words))

        try:
            place = place_to_ask(find_supervisor(), self.url or None, self.model or None)
            self._post(AnswerComes("", 0.0, place.words))
            self._post(AnswerCame(ask_and_keep(self.lesson, place, keep, on_text=tell, cancel=self.cancel)))
        except Exception as error:
            with suppress(RuntimeError):  # the app has ended; what came is kept
                self._post(AskFailed(error))


class AnswersBox(ModalScreen[str | None]):
    """The answers that are kept. Its result is the id of the one to open."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*ANSWERS_COMMANDS)]

    def __init__(self, answers: Sequence[tuple[KeptAnswer, int]], here: str, now: datetime) -> None:
        """answers: each with the number of its faults."""
        super().__init__()
        self._rows = [_choice(answer, count, now) for answer, count in answers]
        if not any(answer.id == PASTED for answer, _ in answers):
            self._rows.append(Choice(PASTED, "Paste or import one"))
        self._here = here

    def compose(self) -> ComposeResult:
        with Vertical(classes="box -tall"):
            yield Static("Answers to the grounded prompt", classes="heading", markup=False)
            yield Choices(id="answers-list")
            yield Static("↑ ↓ choose   enter open   esc close", classes="box-keys", markup=False)

    def on_mount(self) -> None:
        choices = self.query_one("#answers-list", Choices)
        choices.show(self._rows, self._here)
        choices.focus()

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        if chosen := self.query_one("#answers-list", Choices).chosen_id:
            self.dismiss(chosen)

    def action_leave(self) -> None:
        self.dismiss(None)


def _choice(answer: KeptAnswer, count: int, now: datetime) -> Choice:
    found = "no fault" if not count else f"{count} fault{'' if count == 1 else 's'}"
    below = (visible_line(answer.remark),) if answer.remark else ()
    return Choice(answer.id, visible_line(answer.about.whence), f"{found} · {day_words(answer.changed_at, now)}", below)
