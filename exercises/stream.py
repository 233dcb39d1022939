"""From the events of one streamed chat completion to what is measured: arrivals, token counts, text and its end."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from exercises.errors import ExerciseError
from exercises.records import Chunk, Timeline

Ended = Literal["complete", "cancelled", "broken"]

LARGEST_RAW = 128 * 1024
"""Characters of a stream that are kept as they arrived: some hundred canvases, or the beginning of a token stream."""


@dataclass(frozen=True, slots=True)
class StreamOutcome:
    """One request as far as it came.

    error: the server's or the network's words where it ended "broken". server: what the server said about itself and
    about this request (request id, model, fingerprint, how usage was told, events that could not be read).
    raw: the data of each event with its arrival, as far as LARGEST_RAW goes; raw_cut: there was more.
    sent_at: time.monotonic() of the request, for setting several streams on one clock.
    """

    timeline: Timeline
    text: str
    reasoning: str
    finish_reason: str | None
    ended: Ended
    error: str | None = None
    server: Mapping[str, Any] = field(default_factory=dict)
    raw: tuple[tuple[float, str], ...] = ()
    raw_cut: bool = False
    sent_at: float | None = None


class StreamReader:
    """Feed it the data of each event with the time of its arrival, in seconds since the request was sent.

    A chunk is an event that brings content or reasoning text, or whose usage counts more tokens than the event before:
    a canvas of nothing but special tokens has no text and still took its time. The first event with the role and the
    last one with nothing but usage are no chunks.
    """

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None
        self._counted = 0
        self._continuous = False
        self._last_at_s = 0.0
        self._finish_reason: str | None = None
        self._done = False
        self._error: str | None = None
        self._server: dict[str, Any] = {}
        self._unreadable = 0
        self._raw: list[tuple[float, str]] = []
        self._raw_left = LARGEST_RAW
        self._raw_cut = False

    @property
    def finished(self) -> bool:
        """The server said that this is all: [DONE], or an error."""
        return self._done or self._error is not None

    @property
    def completion_tokens(self) -> int | None:
        """Tokens delivered so far, as the server counts them."""
        return self._completion_tokens

    @property
    def prompt_tokens(self) -> int | None:
        return self._prompt_tokens

    def feed(self, payload: str, at_s: float) -> tuple[Chunk, str] | None:
        """The chunk that this event brought, with its text, if it brought one.

        Raises ExerciseError for a time that is not a number, is negative, or lies before the one fed last.
        """
        if not math.isfinite(at_s) or at_s < self._last_at_s:
            raise ExerciseError(
                "The times of this stream cannot be",
                f"an event at {at_s} s follows one at {self._last_at_s} s",
                "Times are seconds since the request was sent, and never run backwards.",
                exit_code=2,
            )
        self._last_at_s = at_s
        self._keep_raw(payload, at_s)
        if payload.strip() == "[DONE]":
            self._done = True
            return None
        event = _parse(payload)
        if event is None:
            self._unreadable += 1
            return None
        error = error_message(event)
        if error is not None:
            self._error = self._error or error
            return None
        self._note_server(event)
        return self._take(event, at_s)

    def outcome(self, ended: Ended = "broken", error: str | None = None) -> StreamOutcome:
        """What was received. ended and error hold where the server itself did not bring the stream to its end."""
        if self._error is not None:
            ended, error = "broken", self._error
        elif self._done or self._finish_reason is not None:
            ended, error = "complete", None
        elif ended == "broken" and error is None:
            error = "the stream broke off before the answer was complete"
        server = dict(self._server)
        server["usage"] = (
            "continuous" if self._continuous else "final only" if self._completion_tokens is not None else "none"
        )
        if self._unreadable:
            server["unreadable_events"] = self._unreadable
        return StreamOutcome(
            timeline=Timeline(tuple(self._chunks), self._prompt_tokens, self._completion_tokens),
            text=_whole_characters("".join(self._text)),
            reasoning=_whole_characters("".join(self._reasoning)),
            finish_reason=self._finish_reason,
            ended=ended,
            error=error,
            server=server,
            raw=tuple(self._raw),
            raw_cut=self._raw_cut,
        )

    def _keep_raw(self, payload: str, at_s: float) -> None:
        self._raw_left -= len(payload)
        if self._raw_left < 0:
            self._raw_cut = True
        if not self._raw_cut:
            self._raw.append((at_s, payload))

    def _note_server(self, event: Mapping[str, Any]) -> None:
        for key, name in (("id", "request_id"), ("model", "model"), ("system_fingerprint", "fingerprint")):
            value = event.get(key)
            if isinstance(value, str):
                self._server[name] = value

    def _take(self, event: Mapping[str, Any], at_s: float) -> tuple[Chunk, str] | None:
        counted = self._take_usage(event.get("usage"))
        choice = _first_choice(event)
        if choice is None:
            return None
        if counted is not None:
            self._continuous = True
        if isinstance(choice.get("finish_reason"), str):
            self._finish_reason = choice["finish_reason"]
        text, reasoning = _texts(choice)
        tokens = None if counted is None else counted - self._counted
        if not (text or reasoning or tokens):
            return None
        self._counted = self._counted if counted is None else counted
        self._text.append(text)
        self._reasoning.append(reasoning)
        chunk = Chunk(at_s, tokens, len(text) + len(reasoning))
        self._chunks.append(chunk)
        return chunk, _whole_characters(reasoning + text)

    def _take_usage(self, usage: Any) -> int | None:
        if not isinstance(usage, dict):
            return None
        prompt = _count(usage.get("prompt_tokens"))
        completion = _count(usage.get("completion_tokens"))
        if prompt is not None:
            self._prompt_tokens = prompt
        if completion is not None:
            self._completion_tokens = completion
        return completion


def error_message(event: Mapping[str, Any]) -> str | None:
    """The server's words in an error event or error body: {"error": {"message": ...}}, {"error": ...} or vLLM's old
    {"object": "error", "message": ...}."""
    error = event.get("error")
    if error is None and event.get("object") == "error":
        error = event
    if error is None:
        return None
    message = error.get("message") if isinstance(error, dict) else error
    return str(message) if message else "the server reports an error without words"


def _parse(payload: str) -> dict[str, Any] | None:
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _first_choice(event: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = event.get("choices")
    if not isinstance(choices, list):
        return None
    return next((c for c in choices if isinstance(c, dict) and c.get("index", 0) == 0), None)


def _texts(choice: Mapping[str, Any]) -> tuple[str, str]:
    """Content and reasoning. A body that was not streamed has them in "message" instead of "delta"."""
    delta = choice.get("delta", choice.get("message"))
    if not isinstance(delta, dict):
        return "", ""
    content = delta.get("content")
    reasoning = delta.get("reasoning") or delta.get("reasoning_content")
    return content if isinstance(content, str) else "", reasoning if isinstance(reasoning, str) else ""


def _whole_characters(text: str) -> str:
    """JSON can spell half of a character (a lone surrogate), which no file or terminal takes: it becomes U+FFFD."""
    return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
