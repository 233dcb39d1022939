"""Which port a server can take, and who holds one that is taken."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterable

import psutil

from labtui.errors import USAGE, LabError

DEFAULT_PORT = 8000
PORTS_TRIED = 100


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Also false for a port that a starting vLLM has bound and does not listen on yet.

    Raises LabError (exit 2) where host is no address of this machine.
    """
    if _can_bind(port, host, reuse=False):
        return True
    # Connections that have just closed block a plain bind for a minute, but not a server, which reuses the address.
    return _has_closed_connections(port) and _can_bind(port, host, reuse=True)


def _can_bind(port: int, host: str, *, reuse: bool) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        if reuse:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
                raise LabError(
                    f"{host} is not an address of this machine",
                    "A server can only listen on an address that the machine has.",
                    "Leave the host out, or give 0.0.0.0 for all addresses of this machine.",
                    USAGE,
                ) from error
            return False
    return True


def _has_closed_connections(port: int) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        connections = [item for item in psutil.net_connections(kind="tcp") if item.laddr and item.laddr.port == port]
        return bool(connections) and all(item.status != psutil.CONN_LISTEN for item in connections)
    return False


def next_free_port(start: int = DEFAULT_PORT, host: str = "127.0.0.1", *, skip: Iterable[int] = ()) -> int:
    passed_over = set(skip)
    for port in range(start, min(start + PORTS_TRIED, 65536)):
        if port not in passed_over and port_is_free(port, host):
            return port
    raise LabError(
        f"No free port between {start} and {start + PORTS_TRIED - 1}",
        "Every one of them is taken, or this process may not listen.",
        "Name a free one with --port.",
    )


def port_holder(port: int) -> str | None:
    """Who listens there, "python3 (pid 123)", where the system tells it to this user."""
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections(kind="tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
                if connection.pid is None:
                    return None
                with contextlib.suppress(psutil.Error):
                    return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
                return f"pid {connection.pid}"
    return None
