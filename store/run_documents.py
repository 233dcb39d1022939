"""Runs as JSON documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from exercises.records import Check, Chunk, CounterWindow, Fact, NotMeasurable, Run, Speed, Timeline


def run_to_document(run: Run) -> dict[str, Any]:
    return asdict(run)


def run_from_document(document: Mapping[str, Any]) -> Run:
    timeline = document["timeline"]
    counters = timeline["counters"]
    return Run(
        **{
            **document,
            "timeline": Timeline(
                chunks=tuple(Chunk(**chunk) for chunk in timeline["chunks"]),
                prompt_tokens=timeline["prompt_tokens"],
                completion_tokens=timeline["completion_tokens"],
                counters=NotMeasurable(**counters) if "reason" in counters else CounterWindow(**counters),
            ),
            "speed": Speed(**{key: _measured(value) for key, value in document["speed"].items()}),
            "check": Check(
                passed=document["check"]["passed"], facts=tuple(Fact(**fact) for fact in document["check"]["facts"])
            ),
        }
    )


def _measured(value: Any) -> Any:
    return NotMeasurable(**value) if isinstance(value, dict) else value
