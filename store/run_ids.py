from __future__ import annotations

import secrets
from datetime import datetime

from store import moments

# Without 0, 1, i, l, o and u, which are misread or mistyped.
ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"


def new_id(letter: str = "r", at: datetime | None = None) -> str:
    """Such as r-20261130-211530-x7k: sorts by time (UTC), and its three last characters are enough to name it."""
    moment = moments.from_text(moments.to_text(at or moments.now()))
    tail = "".join(secrets.choice(ALPHABET) for _ in range(3))
    return f"{letter}-{moment:%Y%m%d-%H%M%S}-{tail}"
