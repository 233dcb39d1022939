from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lessons.messages import printable


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong with a lesson file. Faults of a whole file stand at line 1."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{printable(str(self.path))}:{self.line}: {self.message}"
