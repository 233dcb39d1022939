from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from exercises.records import Check, Chunk, CounterWindow, Fact, Run, Timeline
from exercises.speed import speed_of
from labtui.cli.main import labtui
from store import Store


@dataclass(frozen=True)
class CommandLine:
    """`labtui` in a home of its own."""

    home: Path

    def __call__(self, *arguments: str, given: str | bytes = "") -> Result:
        return CliRunner().invoke(labtui, list(arguments), input=given)

    def json(self, *arguments: str, code: int = 0, given: str = "") -> Any:
        result = self(*arguments, "--json", given=given)
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    def store(self) -> Store:
        return Store.open()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home / "runtime"))
    monkeypatch.delenv("LABTUI_STORE", raising=False)
    monkeypatch.delenv("LABTUI_PROGRAM", raising=False)
    return home


@pytest.fixture
def lab(home: Path) -> CommandLine:
    return CommandLine(home)


@pytest.fixture
def store(lab: CommandLine) -> Iterator[Store]:
    with lab.store() as opened:
        yield opened


THREE_CANVASES = Timeline(
    chunks=(Chunk(1.0, 256, 900), Chunk(1.5, 256, 880), Chunk(2.0, 188, 610)),
    prompt_tokens=41,
    completion_tokens=700,
    counters=CounterWindow(51, 12288, 768, 700),
)
ONE_CANVAS = Timeline(chunks=(Chunk(0.9, 180, 700),), prompt_tokens=12, completion_tokens=180)


@pytest.fixture
def keep_run(store: Store) -> Callable[..., Run]:
    """Keeps a run in the store and returns it with its id."""

    def keep(timeline: Timeline = THREE_CANVASES, **changes: Any) -> Run:
        run = Run(
            id="",
            task="coding",
            task_set="practice",
            checkpoint="practice",
            practice=True,
            started_at="2026-11-30T21:15:30+00:00",
            valid=True,
            invalid_reason=None,
            timeline=timeline,
            speed=speed_of(timeline),
            check=Check(True, (Fact("parses", True, "one svg element"),)),
            output="<svg/>",
            evidence={"prompt": "Write an SVG of a red circle.", "max_tokens": 256},
        )
        return store.runs.add(replace(run, **changes))

    return keep
