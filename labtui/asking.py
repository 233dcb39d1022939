"""Asking a model the grounded prompt of a lesson: the one path of the command and the screen."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import httpx

from exercises.client import stream_chat
from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.stream import StreamOutcome
from labtui.errors import FAILED, NO_SERVER, USAGE, LabError
from labtui.kept_answers import About, Ended, KeptAnswer, about_json, about_key, new_answer_id, text_key
from labtui.serving.attaching import is_practice, normalized
from labtui.serving.launching import API_KEY_VARIABLE
from labtui.serving.readiness import Served
from lessons.model import Lesson
from lessons.prompt import grounded_prompt

if TYPE_CHECKING:
    from labtui.serving.supervisor import Supervisor

MAX_TOKENS = 4096
"""Of the answer, unless the person says otherwise: about 3,000 words."""

SMALLEST_ANSWER = 512
CHARACTERS_PER_TOKEN = 3.0
"""English text has about 4 for most tokenizers; quotations and tables have less, and too few would be refused."""

KEEP_EVERY_S = 0.5
MODELS_NAMED = 12
LOOK_TIMEOUT = httpx.Timeout(15.0, connect=5.0)

ABOUT_LENGTH = re.compile(r"context.{0,20}length|context.?window|max_model_len|too many tokens|too long", re.IGNORECASE)
THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)

KeepDraft = Callable[[str, str], object]
"""Keeps a draft, key and text, and returns when it is on the disk."""

OnText = Callable[[str, float], None]
"""The text so far, and the seconds since it was asked for."""


@dataclass(frozen=True, slots=True)
class Place:
    """Who is asked. context: tokens that prompt and answer may have together, None where the server does not say."""

    endpoint: Endpoint
    context: int | None = None

    @property
    def words(self) -> str:
        return f"{self.endpoint.model} at {self.endpoint.public_root}"


def place_to_ask(
    supervisor: Supervisor, url: str | None = None, model: str | None = None, key_variable: str | None = None
) -> Place:
    """The server of the lab, or any OpenAI-compatible one at url.

    The key for a url comes from the environment, from LABTUI_API_KEY or the variable that is named.
    Raises LabError where nobody answers there (exit 3), or where it is not to be asked (exit 2).
    """
    if key_variable is not None and not os.environ.get(key_variable):
        raise LabError(
            "There is no API key",
            f"the environment has no variable {key_variable}, or it is empty",
            "Put the key there before you call: it is read from nowhere else, and kept nowhere.",
            USAGE,
        )
    if url is None or not url.strip() or _is_of_the_lab(supervisor, url):
        place = _of_the_lab(supervisor, model)
    else:
        place = _at(normalized(url), model, os.environ.get(key_variable or API_KEY_VARIABLE))
    if place.endpoint.practice:
        raise LabError(
            "The practice checkpoint is not asked the grounded prompt",
            f"{place.words} is the small model of this project: it was trained on the lab's own tasks and writes a "
            "few words at a time; what it would say here is no answer to study with",
            "Give the address of another server (--url, or the field Address), or take the prompt to an assistant of "
            "your choice: labtui lesson prompt prints it, labtui lesson check-answer checks what comes back.",
            USAGE,
        )
    return place


def ask_and_keep(
    lesson: Lesson,
    place: Place,
    keep: KeepDraft,
    *,
    max_tokens: int | None = None,
    on_text: OnText | None = None,
    cancel: threading.Event | None = None,
) -> KeptAnswer:
    """Ask, and keep what comes while it comes, as a draft of its own; how it ended is in `about`.

    Blocks: call it in a worker thread; keep and on_text are called in it.
    Raises LabError or ExerciseError where nothing came of which a draft could be made; what was kept before stays.
    """
    prompt, answer_id = grounded_prompt(lesson), new_answer_id()
    room = tokens_for_answer(place, prompt, max_tokens)
    about = About(place.endpoint.model, place.endpoint.public_root, "coming")
    coming = _Coming(lesson.id, answer_id, about, keep, on_text, place.endpoint.api_key)
    try:
        outcome = _ask(place.endpoint, prompt, room, coming.add, cancel)
    except ExerciseError as error:
        raise _explained(error, place, prompt, room) from error
    text = without_thinking(coming.without_key(outcome.text))
    if not text.strip():
        coming.forget()
        raise _nothing_came(outcome, place, prompt, room)
    error_words = coming.without_key(outcome.error or "")
    about = replace(about, ended=_ended(outcome), error=error_words if outcome.ended == "broken" else "")
    coming.keep_now(text, about)
    return KeptAnswer(answer_id, text, datetime.now(UTC), about)


def tokens_for_answer(place: Place, prompt: str, wanted: int | None) -> int:
    """How long the answer may be. Raises LabError (exit 2) where the context has no room for one."""
    if place.context is None:
        return wanted or MAX_TOKENS
    room = place.context - prompt_tokens(prompt)
    if room < min(wanted or SMALLEST_ANSWER, SMALLEST_ANSWER):
        raise _too_long(place, prompt, f"it takes {place.context:,} tokens for prompt and answer together")
    return min(wanted or MAX_TOKENS, room)


def prompt_tokens(prompt: str) -> int:
    """About how many; rather too many."""
    return round(len(prompt) / CHARACTERS_PER_TOKEN) + 50


def without_thinking(text: str) -> str:
    """Some servers send what the model thought in front of its answer."""
    return THINKING.sub("", text)


class _Coming:
    """An answer while it comes: kept every half second, so that a kill costs no more than that."""

    def __init__(
        self, lesson_id: str, answer_id: str, about: About, keep: KeepDraft, on_text: OnText | None, key: str | None
    ) -> None:
        self._text_key, self._about_key = text_key(lesson_id, answer_id), about_key(lesson_id, answer_id)
        self._about, self._keep, self._on_text, self._key = about, keep, on_text, key
        self._text = ""
        self._began = time.monotonic()
        self._kept_at: float | None = None

    def add(self, _: object, text: str) -> None:
        self._text += text
        now = time.monotonic()
        shown = self.without_key(self._text)
        if shown.strip() and (self._kept_at is None or now - self._kept_at >= KEEP_EVERY_S):
            if self._kept_at is None:
                self._keep(self._about_key, about_json(self._about))
            self._keep(self._text_key, shown)
            self._kept_at = time.monotonic()
        if self._on_text is not None:
            self._on_text(shown, now - self._began)

    def keep_now(self, text: str, about: About) -> None:
        self._keep(self._text_key, text)
        self._keep(self._about_key, about_json(about))

    def forget(self) -> None:
        if self._kept_at is not None:
            self._keep(self._text_key, "")

    def without_key(self, text: str) -> str:
        """A server may repeat what it was sent; the key must be in no draft."""
        return text.replace(self._key, "[api key]") if self._key else text


def _ask(
    endpoint: Endpoint,
    prompt: str,
    max_tokens: int,
    on_chunk: Callable[[object, str], None],
    cancel: threading.Event | None,
) -> StreamOutcome:
    messages = [{"role": "user", "content": prompt}]
    try:
        return stream_chat(endpoint, messages, max_tokens, on_chunk=on_chunk, cancel=cancel)
    except ExerciseError as error:
        if "max_completion_tokens" not in error.cause:
            raise
    # What OpenAI's newer models call it; they refuse the older name.
    extra = {"max_completion_tokens": max_tokens}
    return stream_chat(endpoint, messages, None, on_chunk=on_chunk, cancel=cancel, extra=extra)


def _ended(outcome: StreamOutcome) -> Ended:
    if outcome.ended == "complete" and outcome.finish_reason == "length":
        return "length"
    return outcome.ended


def _is_of_the_lab(supervisor: Supervisor, url: str) -> bool:
    """Its key is known to the supervisor alone."""
    launch = supervisor.launch
    return launch is not None and launch.ended is None and launch.url == normalized(url)


def _of_the_lab(supervisor: Supervisor, model: str | None) -> Place:
    try:
        endpoint = supervisor.endpoint()
    except LabError as error:
        fix = f"{error.fix} Or give the address of any OpenAI-compatible server: --url http://..."
        raise LabError(error.title, error.cause, fix, error.exit_code) from error
    context = endpoint.evidence.get("max_model_len")
    return Place(replace(endpoint, model=model or endpoint.model), context if isinstance(context, int) else None)


def _at(url: str, model: str | None, api_key: str | None) -> Place:
    unnamed = Endpoint(url, api_key, model or "", model or "", practice=False)
    models = _models(unnamed, named=model is not None)
    if model is None:
        if len(models) != 1:
            raise LabError(
                "Which model is to be asked?",
                f"{unnamed.public_root} serves {len(models)}: {_listed(models)}",
                "Name one: --model NAME, or the field Model.",
                USAGE,
            )
        (model,) = models
    elif models and model not in models:
        raise LabError(
            f"The server does not serve the model {model!r}",
            f"{unnamed.public_root} serves {_listed(models)}",
            "Name one of these: --model NAME, or the field Model.",
            USAGE,
        )
    entry = models.get(model, {})
    root, length = entry.get("root"), entry.get("max_model_len")
    context = length if isinstance(length, int) and not isinstance(length, bool) else None
    found = Served(model, root if isinstance(root, str) else None, context, None)
    return Place(Endpoint(url, api_key, model, model, is_practice(found)), context)


def _models(endpoint: Endpoint, named: bool) -> dict[str, Mapping[str, Any]]:
    """What the server says of its models, by name. named: the person named one, so that a server without the list
    will do: then it is empty. Raises LabError (exit 3 or 2), ExerciseError (exit 2)."""
    server = endpoint.public_root
    try:
        with endpoint.http_client(LOOK_TIMEOUT) as http:
            response = http.get(endpoint.url("/v1/models"))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        slow = isinstance(error, httpx.TimeoutException)
        raise LabError(
            f"No server answers at {server}",
            "it did not answer in time" if slow else str(error) or type(error).__name__,
            "Check the address, and that the server is running.",
            NO_SERVER,
        ) from error
    if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise _refused_key(server, endpoint.api_key, f"{server} answered {response.status_code}")
    try:
        page: Any = response.json() if response.status_code == httpx.codes.OK else None
    except ValueError:
        page = None
    entries = page.get("data") if isinstance(page, dict) else None
    models: dict[str, Mapping[str, Any]] = {
        str(entry["id"]): entry
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }
    if not models and not named:
        raise LabError(
            "This server does not say which models it serves",
            f"{server}/v1/models answered {response.status_code} and names none",
            "Name the model: --model NAME; or check that the address is the one of an OpenAI-compatible server.",
            USAGE,
        )
    return models


def _refused_key(server: str, api_key: str | None, cause: str) -> LabError:
    return LabError(
        "The server does not accept the API key" if api_key else "The server wants an API key",
        cause + ("" if api_key else "; none was sent"),
        f"Put the right one into the environment: {API_KEY_VARIABLE}=..., or name another variable: --key-from NAME",
        USAGE,
    )


def _explained(error: ExerciseError, place: Place, prompt: str, room: int) -> LabError:
    """The faults of a request in the words of this task."""
    if error.exit_code == USAGE and "API key" in error.title and "cannot be sent" not in error.title:
        return _refused_key(place.endpoint.public_root, place.endpoint.api_key, error.cause)
    if ABOUT_LENGTH.search(error.cause):
        return _too_long(place, prompt, error.cause, room)
    if error.exit_code == NO_SERVER:
        fix = "Check the address, and that the server is running; then ask again. Nothing that was kept has changed."
        return LabError(error.title, error.cause, fix, NO_SERVER)
    return LabError(error.title, error.cause, error.fix, error.exit_code)


def _too_long(place: Place, prompt: str, cause: str, room: int | None = None) -> LabError:
    asked = f" and an answer of up to {room:,}" if room else ""
    return LabError(
        "The prompt does not fit this model's context",
        f"{place.words}: {cause}. The prompt alone has about {prompt_tokens(prompt):,} tokens{asked}",
        "Ask a model with a longer context (8,192 tokens will do), or for a shorter answer: labtui lesson ask LESSON "
        "--max-tokens 1024",
        USAGE,
    )


def _nothing_came(outcome: StreamOutcome, place: Place, prompt: str, room: int) -> LabError:
    if outcome.ended == "cancelled":
        cause = f"{place.words} had not answered yet"
        return LabError("Stopped before anything came", cause, "Ask again when you like.")
    if outcome.error:
        key = place.endpoint.api_key
        cause = outcome.error.replace(key, "[api key]") if key else outcome.error
        if ABOUT_LENGTH.search(cause):
            return _too_long(place, prompt, cause, room)
        return LabError("The answer broke off before its first word", f"{place.words}: {cause}", "Ask again.", FAILED)
    if outcome.reasoning.strip() and outcome.finish_reason == "length":
        cause = f"{place.words} used up its {room:,} tokens with thinking, before it began to answer"
        return LabError(
            "The answer is empty", cause, f"Let it be longer: labtui lesson ask LESSON --max-tokens {2 * room}", FAILED
        )
    return LabError(
        "The answer is empty",
        f"{place.words} ended ({outcome.finish_reason or 'no reason given'}) without a word",
        "Ask again, or ask another model. Nothing was kept, and nothing that was kept has changed.",
        FAILED,
    )


def _listed(models: Mapping[str, object]) -> str:
    names = ", ".join(list(models)[:MODELS_NAMED])
    return f"{names} and {len(models) - MODELS_NAMED} more" if len(models) > MODELS_NAMED else names or "none"
