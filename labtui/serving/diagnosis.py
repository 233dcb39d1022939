"""From the text of a vLLM log to a named cause and its fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Cause:
    """line: the number of the line in the log that shows it, from 1. change: settings of a plan that would help."""

    id: str
    title: str
    cause: str
    fix: str
    line: int
    text: str = ""
    change: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "cause": self.cause,
            "fix": self.fix,
            "line": self.line,
            "text": self.text,
            "change": dict(self.change),
        }


def diagnose(text: str) -> list[Cause]:
    """Causes found in a log, best first; empty when nothing matched."""
    return []
