from __future__ import annotations

import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.cli.web import DEFAULT_PORT, listening_on
from labtui.cli.web_server import BrowserServer, comes_from_us
from labtui.errors import FAILED, USAGE, LabError


@pytest.fixture
def taken():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        yield held.getsockname()[1]


def test_a_taken_port_is_told_with_what_to_do(lab, taken):
    result = lab("web", "--port", str(taken))
    assert result.exit_code == USAGE
    assert f"Port {taken} cannot be used" in result.stderr and "--port" in result.stderr


def test_without_a_port_a_free_one_is_taken():
    with listening_on(None) as first, listening_on(None) as second:
        ports = [one.getsockname() for one in (first, second)]
        assert [host for host, _ in ports] == ["127.0.0.1"] * 2
        assert ports[0][1] != ports[1][1] and all(port >= DEFAULT_PORT for _, port in ports)
        with pytest.raises(LabError):
            listening_on(ports[0][1])


def test_without_textual_serve_the_command_says_how_to_get_it(lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    monkeypatch.delitem(sys.modules, "labtui.cli.web_server")
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    result = lab("web")
    assert result.exit_code == FAILED
    assert "textual-serve" in result.stderr and "pip install" in result.stderr


def test_each_start_has_an_address_of_its_own():
    with listening_on(None) as listening:
        urls = {BrowserServer(listening).url for _ in range(3)}
    assert len(urls) == 3 and all(len(url.split("/")[3]) >= 32 for url in urls)


@pytest.mark.parametrize("host", ["127.0.0.1:8400", "localhost:9000", "LOCALHOST", "127.0.0.1"])
def test_our_own_names_are_let_in(host):
    assert comes_from_us(host, None) and comes_from_us(host, f"http://{host}")
    for origin in ("null", "http://evil.example", f"https://{host}", f"http://{host}.evil.example", ""):
        assert not comes_from_us(host, origin)


@given(st.text(max_size=40))
def test_no_other_name_is(host):
    name = host.rpartition(":")[0] if ":" in host else host
    if name.lower() not in ("127.0.0.1", "localhost") and not host.rpartition("@")[2].lower().startswith(
        ("127.0.0.1", "localhost")
    ):
        assert not comes_from_us(host, None)
    for evil in (
        f"evil.example#{host}",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "[::1",
        "evil:localhost",
    ):
        assert not comes_from_us(evil, None)
