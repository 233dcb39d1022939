"""One HTTP request whose bytes are timed as they arrive, and which ends at once when it is told to.

A thread of its own does nothing but read; whoever consumes what it read, and however slowly, never delays the clock.
"""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore

from exercises.arrival_clock import TimedBackend
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
    """fault: the exception of httpcore that ended the answer, None where it ended as it should."""

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
        endpoint.require_usable()
        self._url = endpoint.url(path)
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream", **endpoint.headers}
        self._headers = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        self._content = json.dumps(body).encode("ascii")
        self._proxy = None if endpoint.is_this_machine else _proxy_for(self._url)
        self._connect_timeout_s = min(CONNECT_TIMEOUT_S, timeout_s)
        self._backend = TimedBackend()
        self._cancel = cancel
        self._deadline = time.monotonic() + timeout_s
        self._arrivals: queue.SimpleQueue[Head | Received | End] = queue.SimpleQueue()
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

    @property
    def sent_at(self) -> float | None:
        """time.monotonic() of the request's first byte: it sets the arrivals of several requests on one clock."""
        return None if self._backend.stream is None else self._backend.stream.sent_at

    @property
    def clock(self) -> str:
        """Whose clock the arrivals are: the kernel's receive time stamps, or this program's when it came to read."""
        stream = self._backend.stream
        return "kernel" if stream is not None and stream.stamped else "program"

    def _read(self) -> None:
        try:
            with (
                httpcore.ConnectionPool(network_backend=self._backend, proxy=self._proxy) as pool,
                pool.stream(
                    "POST",
                    self._url,
                    headers=self._headers,
                    content=self._content,
                    extensions={"timeout": {"connect": self._connect_timeout_s}, "trace": self._trace},
                ) as response,
            ):
                headers = {name.lower(): value.decode("latin-1") for name, value in response.headers}
                self._arrivals.put(Head(response.status, headers.get(b"content-type", "")))
                for data in response.iter_stream():
                    stream = self._backend.stream
                    assert stream is not None
                    self._arrivals.put(Received(stream.arrived_at - stream.sent_at, data))
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
                raise httpcore.ConnectError("cancelled while connecting")
        elif event.endswith("send_request_headers.started") and self._backend.stream is not None:
            self._backend.stream.request_begins()


def _proxy_for(url: str) -> httpcore.Proxy | None:
    """The proxy that the environment names for another host (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY)."""
    parts = urlsplit(url)
    proxies = urllib.request.getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all")
    if not address or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    auth = (unquote(proxy.username), unquote(proxy.password or "")) if proxy.username else None
    return httpcore.Proxy(f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}", auth=auth)
