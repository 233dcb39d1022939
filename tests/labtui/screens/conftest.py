from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from exercises.records import Check, Chunk, CounterWindow, Fact, Run, Timeline
from exercises.speed import speed_of
from labtui.app import LabApp
from labtui.serving.status import Status
from lessons import finding
from store.opening import Store

NOW = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
BUILT_IN = ("diffusiongemma", "kv-cache-line")
"""The built-in lessons that these tests know: a further one changes no picture."""


@dataclass
class ServerThatSays:
    """In place of the supervisor: the states of a server without a server."""

    status_now: Status = field(default_factory=lambda: Status("stopped"))

    def status(self) -> Status:
        return self.status_now


@pytest.fixture(autouse=True)
def own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_zone) -> None:
    """A person's folders, terminal, clock and time zone that are the same everywhere."""
    for name in ("DATA", "STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("NO_COLOR", "TMUX", "LABTUI_STORE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    in_zone("UTC")
    monkeypatch.setattr("store.moments.now", lambda: NOW)
    monkeypatch.setattr("labtui.serving.known_flags.ask_beside", lambda vllm: False)
    package = tmp_path / "built-in"
    package.mkdir()
    for lesson_id in BUILT_IN:
        (package / lesson_id).symlink_to(finding.PACKAGE / lesson_id)
    monkeypatch.setattr(finding, "PACKAGE", package)


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "labtui.db"


@pytest.fixture
def server() -> ServerThatSays:
    return ServerThatSays()


@pytest.fixture
def make_app(store_path: Path, server: ServerThatSays) -> Callable[..., LabApp]:
    def make(**changes: Any) -> LabApp:
        options: dict[str, Any] = {
            "store_path": store_path,
            "supervisor": server,
            "now": lambda: NOW,
            "server_poll_s": None,
            **changes,
        }
        return LabApp(**options)

    return make


class Driven:
    """The app, driven by keys and read as a person reads it."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.pilot = pilot
        self.app: LabApp = pilot.app

    async def settle(self) -> None:
        """Until every worker has ended and every message they posted was handled."""
        quiet = 0
        while quiet < 2:
            if waiting := list(self.app.workers):
                await self.app.workers.wait_for_complete(waiting)
            await self.pilot.pause()
            quiet = 0 if list(self.app.workers) else quiet + 1

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        await self.press(*("space" if character == " " else character for character in text))

    @property
    def screen(self) -> Any:
        return self.app.screen

    @property
    def line(self) -> str:
        """What stands in the line above the keys."""
        return str(self.app.screen.query_one("#next-line", Static).content)

    @property
    def keys(self) -> list[str]:
        return [str(key.render()) for key in self.app.screen.query("KeyLine FooterKey")]

    @property
    def title(self) -> str:
        return str(self.app.screen.query_one("TitleLine").render())

    @property
    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


Running = Callable[..., AbstractAsyncContextManager[Driven]]


@pytest.fixture
def running(make_app: Callable[..., LabApp]) -> Running:
    @asynccontextmanager
    async def run(
        size: tuple[int, int] = (80, 24), keys: tuple[str, ...] = (), **changes: Any
    ) -> AsyncIterator[Driven]:
        app = make_app(**changes)
        async with app.run_test(size=size) as pilot:
            driven = Driven(pilot)
            await driven.settle()
            await driven.press(*keys)
            yield driven

    return run


@pytest.fixture
def after_keys() -> Callable[..., Callable[[Pilot[Any]], Any]]:
    """For snap_compare: what to do before the picture is taken."""

    def press(*keys: str) -> Callable[[Pilot[Any]], Any]:
        async def run_before(pilot: Pilot[Any]) -> None:
            driven = Driven(pilot)
            await driven.settle()
            await driven.press(*keys)

        return run_before

    return press


@pytest.fixture
def make_run() -> Callable[..., Run]:
    def build(**changes: Any) -> Run:
        timeline = changes.pop(
            "timeline",
            Timeline(
                chunks=(Chunk(1.0, 256, 900), Chunk(1.5, 256, 880), Chunk(2.0, 188, 610)),
                prompt_tokens=41,
                completion_tokens=700,
                counters=CounterWindow(51, 12288, 768, 700),
            ),
        )
        values: dict[str, Any] = {
            "id": "",
            "task": "coding",
            "task_set": "practice",
            "checkpoint": "practice",
            "practice": True,
            "started_at": "2026-03-02T09:15:30+00:00",
            "valid": True,
            "invalid_reason": None,
            "timeline": timeline,
            "speed": speed_of(timeline),
            "check": Check(True, (Fact("it parses", True),)),
            "output": "<svg/>",
            **changes,
        }
        return Run(**values)

    return build


@pytest.fixture
def in_store(store_path: Path) -> Callable[[Callable[[Store], Any]], Any]:
    """What a second process sees in the store, or puts there."""

    def ask(question: Callable[[Store], Any]) -> Any:
        with Store.open(store_path) as store:
            return question(store)

    return ask
