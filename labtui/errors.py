from __future__ import annotations

from typing import Protocol, TypeGuard

DONE = 0
FAILED = 1
USAGE = 2
NO_SERVER = 3
NO_STORE = 4


class LabError(Exception):
    """A fault in the words that the person reads: what happened, why, what to do. Exit codes are in the README."""

    def __init__(self, title: str, cause: str, fix: str, exit_code: int = FAILED) -> None:
        super().__init__(f"{title}: {cause}")
        self.title = title
        self.cause = cause
        self.fix = fix
        self.exit_code = exit_code


class Explained(Protocol):
    """What the errors of all four packages have in common."""

    title: str
    cause: str
    fix: str
    exit_code: int


def is_explained(error: BaseException) -> TypeGuard[Explained]:
    return all(hasattr(error, name) for name in ("title", "cause", "fix", "exit_code"))
