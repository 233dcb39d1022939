from __future__ import annotations

import os
import socket

import pytest

from labtui.errors import LabError
from labtui.serving import ports


@pytest.fixture
def listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def test_a_port_that_is_listened_on_is_taken_and_its_holder_named(listener: socket.socket) -> None:
    with listener:
        port = listener.getsockname()[1]
        assert not ports.port_is_free(port)
        assert f"pid {os.getpid()}" in (ports.port_holder(port) or "")
    assert ports.port_is_free(port)


def test_a_port_that_is_bound_and_not_listened_on_is_taken() -> None:
    """So does vLLM while it loads: it binds first and listens when the engine is ready."""
    with socket.socket() as early:
        early.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        early.bind(("127.0.0.1", 0))
        assert not ports.port_is_free(early.getsockname()[1])


def test_connections_that_have_just_closed_do_not_hold_a_port(listener: socket.socket) -> None:
    with listener:
        port = listener.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        server, _ = listener.accept()
        server.close()
        client.recv(1)
        client.close()
    assert ports.port_is_free(port)


def test_the_next_free_port_passes_over_taken_ones(listener: socket.socket) -> None:
    with listener:
        port = listener.getsockname()[1]
        found = ports.next_free_port(port)
        assert found > port
        assert ports.next_free_port(port, skip=[found]) > found


def test_no_free_port_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "port_is_free", lambda port, host: False)
    with pytest.raises(LabError, match="No free port"):
        ports.next_free_port(8000)


def test_nobody_holds_a_free_port(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    listener.close()
    assert ports.port_holder(port) is None
