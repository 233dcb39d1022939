"""Names of runs, trials, sweeps and launches: short, readable, and in the order of their making."""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime

# Without 0, 1, i, l, o and u, which are misread or mistyped.
ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"

_lock = threading.Lock()
_made: set[str] = set()


def new_id(letter: str = "r", at: datetime | None = None) -> str:
    """Such as r-20261130-211530-x7k: sorts by time (UTC), and its three last characters are enough to name it.

    letter: r for a run, t a trial, s a sweep, l a launch. No id comes twice from one process, also not for streams
    that start in the same second.
    """
    moment = (at or datetime.now(UTC)).astimezone(UTC)
    with _lock:
        while True:
            tail = "".join(secrets.choice(ALPHABET) for _ in range(3))
            made = f"{letter}-{moment:%Y%m%d-%H%M%S}-{tail}"
            if made not in _made:
                _made.add(made)
                return made
