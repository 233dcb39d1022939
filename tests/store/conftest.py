from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exercises.records import Check, Chunk, CounterWindow, Fact, Run, Timeline
from exercises.speed import speed_of
from store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "labtui.db") as opened:
        yield opened


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
        return replace(run, **changes)

    return build
