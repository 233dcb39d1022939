"""The pages of a vLLM server that stand beside its answers: /metrics and /version."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

import httpx

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.metrics import Counters, parse_metrics
from exercises.records import NotMeasurable

PAGE_TIMEOUT_S = 5.0
LONGEST_WAIT_FOR_IDLE_S = 10.0
LONGEST_WAIT_FOR_COUNTERS_S = 2.0
_LOOK_FOR_IDLE_EVERY_S = 0.2
_LOOK_FOR_COUNTERS_EVERY_S = 0.05


class ServerPages:
    """Readings never raise for what the server does: a page that cannot be read is NotMeasurable with its reason.

    Raises ExerciseError (exit 2) on creation where the endpoint's address or key cannot be used.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = endpoint.http_client(httpx.Timeout(PAGE_TIMEOUT_S))

    def __enter__(self) -> ServerPages:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def version(self) -> str | None:
        """vLLM's version as the server itself says it, None where it does not."""
        try:
            answer = self._client.get(self._endpoint.url("/version"))
            version = answer.json().get("version") if answer.status_code == 200 else None
        except (httpx.HTTPError, ValueError, AttributeError):
            return None
        return version if isinstance(version, str) else None

    def counters(self) -> Counters | NotMeasurable:
        try:
            answer = self._client.get(self._endpoint.url("/metrics"))
        except httpx.HTTPError as fault:
            return NotMeasurable(f"the metrics page could not be read ({fault or type(fault).__name__})")
        if answer.status_code != 200:
            return NotMeasurable(f"this server shows no metrics page (HTTP {answer.status_code})")
        try:
            return parse_metrics(answer.text)
        except ExerciseError as fault:
            return NotMeasurable(fault.cause)

    def idle_counters(
        self, cancel: threading.Event, on_busy: Callable[[Counters], None] | None = None
    ) -> Counters | NotMeasurable:
        """A reading with no request running or waiting; after LONGEST_WAIT_FOR_IDLE_S the last one, busy or not."""
        deadline = time.monotonic() + LONGEST_WAIT_FOR_IDLE_S
        while True:
            reading = self.counters()
            if isinstance(reading, NotMeasurable) or not reading.busy or time.monotonic() > deadline:
                return reading
            if on_busy is not None:
                on_busy(reading)
            if cancel.wait(_LOOK_FOR_IDLE_EVERY_S):
                return reading

    def settled_counters(self, before: Counters, own_tokens: int, cancel: threading.Event) -> Counters | NotMeasurable:
        """The first idle reading that counts the own tokens: the counters follow the stream with a small delay.

        After LONGEST_WAIT_FOR_COUNTERS_S the last reading, whatever it shows.
        """
        deadline = time.monotonic() + LONGEST_WAIT_FOR_COUNTERS_S
        while True:
            reading = self.counters()
            if isinstance(reading, NotMeasurable) or reading.generation_tokens is None or time.monotonic() > deadline:
                return reading
            gained = (reading.generation_tokens or 0) - (before.generation_tokens or 0)
            if not reading.busy and gained >= own_tokens:
                return reading
            if cancel.wait(_LOOK_FOR_COUNTERS_EVERY_S):
                return reading
