from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labtui.app import LabApp
from labtui.errors import LabError
from labtui.serving.status import Status


class Supervisor:
    """What is asked of the server's owner, and how often."""

    def __init__(self, answer: Callable[[], Status]) -> None:
        self.answer = answer
        self.asked = 0

    def status(self) -> Status:
        self.asked += 1
        return self.answer()


@pytest.fixture
def make_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., LabApp]:
    for name in ("DATA", "STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))

    def make(answer: Callable[[], Status] = lambda: Status("stopped"), **options: object) -> LabApp:
        return LabApp(tmp_path / "labtui.db", supervisor=Supervisor(answer), server_poll_s=None, **options)

    return make


async def settle(pilot) -> None:
    while waiting := list(pilot.app.workers):
        await pilot.app.workers.wait_for_complete(waiting)
        await pilot.pause()
    await pilot.pause()


async def test_the_server_is_looked_at_once_at_a_time(make_app) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        before = app.supervisor.asked
        app.look_at_server()
        app.look_at_server()
        await settle(pilot)
        assert app.supervisor.asked == before + 1


async def test_a_server_that_cannot_be_seen_does_not_end_the_app(make_app) -> None:
    def fail() -> Status:
        raise LabError("The state file cannot be read", "permission denied", "Look at it.")

    app = make_app(fail)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert app.server_words == "server ? cannot be seen"
        assert app.is_running
        app.supervisor.answer = lambda: Status("ready", checkpoint="bf16")
        app.look_at_server()
        await settle(pilot)
        assert app.server_words == "server ● ready · bf16"


async def test_an_unexpected_fault_is_told_and_reported(make_app, tmp_path: Path) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        app.show_fault(ZeroDivisionError("by zero"))
        await pilot.pause()
        assert "fault in labtui" in str(app.screen.query_one(".fault-title").render())
        reports = list((tmp_path / "state" / "labtui" / "faults").iterdir())
        assert "ZeroDivisionError" in reports[0].read_text()


@pytest.mark.parametrize(
    ("environment", "theme"),
    [({}, "labtui-dark"), ({"TERM": "linux"}, "labtui-plain"), ({"NO_COLOR": "1"}, "labtui-plain")],
)
async def test_the_theme_fits_the_terminal(make_app, monkeypatch, environment, theme) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLORTERM", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert make_app().theme == theme


def test_a_wanted_theme_is_taken_and_an_unknown_one_is_not(make_app, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert make_app(theme="labtui-light").theme == "labtui-light"
    assert make_app(theme="no-such-theme").theme == "labtui-dark"


@pytest.mark.parametrize("theme", ["labtui-dark", "labtui-light", "labtui-plain", "nord"])
async def test_every_theme_has_the_colours_that_the_screens_use(make_app, monkeypatch, theme) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    app = make_app(theme=theme)
    async with app.run_test() as pilot:
        await settle(pilot)
        app.theme = theme
        await pilot.pause()
        assert app.current_theme.name == theme


async def test_a_last_look_at_the_server_while_the_app_closes_is_no_crash(make_app) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        await app.screen.query("*").remove()
        app.post_message(app.ServerSeen(Status("stopped")))
        await pilot.pause()
    assert app.return_code in (None, 0)
