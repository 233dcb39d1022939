"""One chat completion, streamed and timed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpcore

from exercises.connection import Cancelled, End, Head, Received, TimedOut, TimedRequest
from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.records import Chunk
from exercises.sse import SseDecoder
from exercises.stream import Ended, StreamOutcome, StreamReader, error_message

__all__ = ["DEFAULT_TIMEOUT_S", "Endpoint", "StreamOutcome", "request_body", "stream_chat"]

DEFAULT_TIMEOUT_S = 900.0
_LONGEST_ERROR_BODY = 1024 * 1024

OnChunk = Callable[[Chunk, str], None]

_USAGE_OPTIONS: tuple[dict[str, Any] | None, ...] = (
    {"include_usage": True, "continuous_usage_stats": True},
    {"include_usage": True},
    None,
)
"""What is asked about token counts, the most telling first; a server that refuses one gets the next."""


def request_body(
    model: str,
    messages: Sequence[Mapping[str, Any]],
    max_tokens: int | None,
    stream_options: Mapping[str, Any] | None = _USAGE_OPTIONS[0],
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON of a request. It has no temperature, seed or min_p: vLLM refuses them for diffusion models.

    extra: further keys, such as chat_template_kwargs or vllm_xargs; they never replace the ones set here.
    max_tokens: None leaves it out, for servers that want it by another name, in extra.
    """
    asked: dict[str, Any] = {"model": model, "messages": list(messages), "stream": True}
    if max_tokens is not None:
        asked["max_tokens"] = max_tokens
    body: dict[str, Any] = {**(extra or {}), **asked}
    if stream_options is not None:
        body["stream_options"] = dict(stream_options)
    return body


def stream_chat(
    endpoint: Endpoint,
    messages: Sequence[Mapping[str, Any]],
    max_tokens: int | None,
    *,
    on_chunk: OnChunk | None = None,
    cancel: threading.Event | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    extra: Mapping[str, Any] | None = None,
) -> StreamOutcome:
    """Ask, and return what was received however it ended: complete, cancelled, or broken with the reason.

    on_chunk is called in the calling thread for each chunk, with its text. cancel ends the request within a few
    hundredths of a second, also while no bytes arrive. timeout_s is for the whole request. extra: as in request_body.

    Raises ExerciseError where no stream began: no server (exit 3), a refused request or key (exit 1 or 2).
    """
    for options in _USAGE_OPTIONS:
        last_resort = options is None
        body = request_body(endpoint.model, messages, max_tokens, options, extra)
        try:
            outcome = _stream_once(endpoint, body, on_chunk, cancel, timeout_s)
        except _Refused as refusal:
            if last_resort or not _is_about_usage(refusal.message):
                raise refusal.as_error(endpoint) from None
        else:
            if last_resort or not (outcome.error and not outcome.timeline.chunks and _is_about_usage(outcome.error)):
                return outcome
    raise AssertionError("the last of _USAGE_OPTIONS returns or raises")


class _Refused(Exception):
    """The server answered with an HTTP status other than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def as_error(self, endpoint: Endpoint) -> ExerciseError:
        server = endpoint.public_root
        if self.status in (401, 403):
            return ExerciseError(
                "The server does not accept the API key",
                f"{server} answered {self.status}: {self.message}",
                "Attach again with the key that the server was started with.",
                exit_code=2,
            )
        if self.status == 404 and "model" not in self.message.lower():
            return ExerciseError(
                "This is not an OpenAI-compatible server",
                f"{server} has no /v1/chat/completions (404: {self.message})",
                "Check the address.",
                exit_code=2,
            )
        if self.status == 404:
            return ExerciseError(
                f"The server does not serve the model {endpoint.model!r}",
                f"{server} answered 404: {self.message}",
                f"Ask {server}/v1/models which models it serves, or start the checkpoint that you want.",
                exit_code=2,
            )
        if self.status == 503:
            return ExerciseError(
                "The server is not ready",
                f"{server} answered 503: {self.message}",
                "Wait until the server is ready, or look into its log.",
                exit_code=3,
            )
        if self.status >= 500:
            return ExerciseError(
                "The server failed on this request",
                f"it answered {self.status}: {self.message}",
                "Look into the server's log; if it no longer answers, start it again.",
            )
        return ExerciseError(
            "The server refused the request",
            f"it answered {self.status}: {self.message}",
            "Change the request as the server says; a running server is not hurt by this.",
        )


def _stream_once(
    endpoint: Endpoint,
    body: Mapping[str, Any],
    on_chunk: OnChunk | None,
    cancel: threading.Event | None,
    timeout_s: float,
) -> StreamOutcome:
    reader = StreamReader()
    clock: str | None = None
    sent_at: float | None = None
    ended: Ended = "broken"
    error: str | None = None
    if cancel is not None and cancel.is_set():
        return reader.outcome("cancelled")
    try:
        with TimedRequest(endpoint, "/v1/chat/completions", body, cancel, timeout_s) as request:
            _expect_stream(request, endpoint)
            clock, sent_at = request.clock, request.sent_at
            decoder = SseDecoder()
            while not reader.finished:
                arrival = request.next()
                if isinstance(arrival, End):
                    error = _broke_off(arrival.fault)
                    break
                assert isinstance(arrival, Received)
                for payload in decoder.feed(arrival.data):
                    chunk = reader.feed(payload, arrival.at_s)
                    if chunk is not None and on_chunk is not None:
                        on_chunk(*chunk)
    except Cancelled:
        ended = "cancelled"
    except TimedOut:
        error = f"the answer was not complete after {timeout_s:g} s"
    outcome = reader.outcome(ended, error)
    return replace(outcome, server={**outcome.server, "arrival_clock": clock}, sent_at=sent_at)


def _expect_stream(request: TimedRequest, endpoint: Endpoint) -> None:
    """Read up to the head of the answer. Raises _Refused or ExerciseError where no stream of events follows."""
    head = request.next()
    if isinstance(head, End):
        raise _no_answer(endpoint, head.fault)
    assert isinstance(head, Head)
    if head.status == 200 and head.content_type.lower().startswith("text/event-stream"):
        return
    body = bytearray()
    while isinstance(arrival := request.next(), Received) and len(body) < _LONGEST_ERROR_BODY:
        body += arrival.data
    if head.status != 200:
        message = _body_message(bytes(body))
        raise _Refused(head.status, message.replace(endpoint.api_key, "[api key]") if endpoint.api_key else message)
    raise ExerciseError(
        "The server does not stream its answers",
        f"{endpoint.public_root} answered with {head.content_type or 'no content type'} instead of text/event-stream",
        "Check that the address is the one of an OpenAI-compatible server.",
        exit_code=2,
    )


def _body_message(body: bytes) -> str:
    text = body.decode("utf-8", errors="replace").strip()
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    message = error_message(parsed) if isinstance(parsed, dict) else None
    if message is None and isinstance(parsed, dict) and isinstance(parsed.get("detail"), str):
        message = parsed["detail"]
    return message or (text[:500] if text else "no further words")


def _no_answer(endpoint: Endpoint, fault: Exception | None) -> ExerciseError:
    if isinstance(fault, httpcore.ConnectTimeout):
        cause = f"connecting to {endpoint.public_root} took too long"
    elif isinstance(fault, httpcore.ConnectError):
        cause = f"{endpoint.public_root} cannot be reached ({fault})"
    else:
        cause = f"{endpoint.public_root} closed the connection without an answer ({fault or 'no reason given'})"
    return ExerciseError(
        "No server answers",
        cause,
        "Start one with `labtui serve start`, or look at `labtui serve status`.",
        exit_code=3,
    )


def _broke_off(fault: Exception | None) -> str | None:
    if fault is None:
        return None
    return f"the connection broke off: {fault or type(fault).__name__}"


def _is_about_usage(message: str) -> bool:
    return "continuous_usage_stats" in message or "stream_options" in message
