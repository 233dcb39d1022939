"""One HTTP request whose bytes are timed as they arrive, and which ends at once when it is told to.

A thread of its own does nothing but read and look at the clock; whoever consumes what it read, and however slowly,
never delays the clock.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from exercises.endpoint import Endpoint

CONNECT_TIMEOUT_S = 10.0
_LOOK_FOR_CANCEL_EVERY_S = 0.02


@dataclass(frozen=True, slots=True)
class Head:
    status: int
    content_type: str


@dataclass(frozen=True, slots=True)
class Received:
    """at_s: seconds from the first byte of the request being sent to the arrival of these bytes."""

    at_s: float
    data: bytes


@dataclass(frozen=True, slots=True)
class End:
    """fault: the exception of httpx that ended the answer, None where it ended as it should."""

    fault: Exception | None = None


class Cancelled(Exception):
    pass


class TimedOut(Exception):
    pass


class TimedRequest:
    """A POST of JSON, read by its own thread. Use as a context manager: leaving it closes the connection."""

    def __init__(
        self,
        endpoint: Endpoint,
        path: str,
        body: Mapping[str, Any],
        cancel: threading.Event | None,
        timeout_s: float,
    ) -> None:
        self._client = endpoint.http_client(httpx.Timeout(None, connect=min(CONNECT_TIMEOUT_S, timeout_s)))
        self._url = endpoint.url(path)
        self._body = body
        self._cancel = cancel
        self._deadline = time.monotonic() + timeout_s
        self._arrivals: queue.SimpleQueue[Head | Received | End] = queue.SimpleQueue()
        self._sent_at = 0.0
        self._socket: socket.socket | None = None
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> TimedRequest:
        threading.Thread(target=self._read, name="stream reader", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def next(self) -> Head | Received | End:
        """The next thing that arrived. Raises Cancelled or TimedOut within a few hundredths of a second."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._arrivals.get(timeout=_LOOK_FOR_CANCEL_EVERY_S)
            if self._cancel is not None and self._cancel.is_set():
                raise Cancelled
            if time.monotonic() > self._deadline:
                raise TimedOut

    def close(self) -> None:
        """End the connection now, also while the reading thread waits for bytes: the server stops to generate."""
        with self._lock:
            self._closed = True
            sock, self._socket = self._socket, None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        try:
            self._sent_at = time.monotonic()
            with (
                self._client,
                self._client.stream("POST", self._url, json=self._body, extensions={"trace": self._trace}) as response,
            ):
                self._arrivals.put(Head(response.status_code, response.headers.get("content-type", "")))
                for data in response.iter_bytes():
                    self._arrivals.put(Received(time.monotonic() - self._sent_at, data))
        except Exception as fault:
            self._arrivals.put(End(fault))
        else:
            self._arrivals.put(End())
        finally:
            with self._lock:
                self._socket = None

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by httpcore as the request goes through its stages."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                closed = self._closed
            if closed:
                raise httpx.ConnectError("cancelled while connecting")
        elif event.endswith("send_request_headers.started"):
            self._sent_at = time.monotonic()
