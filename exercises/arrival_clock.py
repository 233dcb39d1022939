"""When bytes really arrived: the time that the kernel noted, not the time at which a busy program got to read them.

A Python program that repaints its screen reads some milliseconds late: its threads take turns. On Linux a TCP socket
can tell when its last bytes came in (SO_TIMESTAMPNS, socket(7)); elsewhere, and through TLS, the time of reading has
to do.
"""

from __future__ import annotations

import socket
import ssl
import struct
import sys
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import httpcore

_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@ll")
_OLDEST_S = 5.0
"""A time stamp older than this comes from a clock that was set meanwhile, and is not believed."""

_SWITCHED_AWAY_S = 0.0005


class TimedStream(httpcore.NetworkStream):
    """A network stream of httpcore that knows when the bytes it read last had arrived.

    sent_at: when the first byte written after request_begins was handed to the kernel. Both are time.monotonic().
    """

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self._socket: socket.socket = inner.get_extra_info("socket")
        self._stamped = _ask_for_stamps(self._socket)
        self.sent_at = self.arrived_at = time.monotonic()
        self._begins = True

    def request_begins(self) -> None:
        self._begins = True

    @property
    def stamped(self) -> bool:
        """arrived_at is the kernel's time, not that of reading."""
        return self._stamped

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if not self._stamped:
            data = self._inner.read(max_bytes, timeout)
            self.arrived_at = time.monotonic()
            return data
        try:
            self._socket.settimeout(timeout)
            data, ancillary, _, _ = self._socket.recvmsg(max_bytes, socket.CMSG_SPACE(_TIMESPEC.size))
        except TimeoutError as fault:
            raise httpcore.ReadTimeout(str(fault)) from fault
        except OSError as fault:
            raise httpcore.ReadError(str(fault)) from fault
        self.arrived_at = max(self.arrived_at, _arrival(ancillary))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._begins:
            self._begins = False
            self.sent_at = time.monotonic()
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        self._inner = self._inner.start_tls(ssl_context, server_hostname, timeout)
        self._stamped = False
        return self

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class TimedBackend(httpcore.NetworkBackend):
    """Makes TimedStreams; stream is the one made last."""

    def __init__(self) -> None:
        keep_stamping()
        self._inner = httpcore.SyncBackend()
        self.stream: TimedStream | None = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        self.stream = TimedStream(self._inner.connect_tcp(host, port, timeout, local_address, socket_options))
        return self.stream


@cache
def keep_stamping() -> socket.socket | None:
    """Makes the kernel stamp what arrives as long as this process lives.

    It begins to stamp a while after the first socket asks for it, and stops after the last one is closed
    (net_enable_timestamp in net/core/dev.c leaves both to a work queue). What comes before has no stamp.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if _ask_for_stamps(sock):
        return sock
    sock.close()
    return None


def _ask_for_stamps(sock: socket.socket) -> bool:
    if sys.platform != "linux":
        return False
    try:
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def _arrival(ancillary: list[tuple[int, int, bytes]]) -> float:
    """The kernel's time stamp on the monotonic clock; now, where there is none."""
    monotonic, wall = _both_clocks()
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(data) >= _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack_from(data)
            age: float = wall - (seconds + nanoseconds / 1e9)
            if 0 <= age < _OLDEST_S:
                return monotonic - age
    return monotonic


def _both_clocks() -> tuple[float, float]:
    """The monotonic and the wall clock at one moment, not with a turn of another thread between them."""
    for _ in range(5):
        before = time.monotonic()
        wall = time.time()
        after = time.monotonic()
        if after - before < _SWITCHED_AWAY_S:
            break
    return (before + after) / 2, wall
