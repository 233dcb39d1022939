"""How names that come from a file or a command line stand in a message."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

QUOTED_LENGTH = 80


def printable(text: str) -> str:
    """text with everything escaped that a terminal would act on, break the line at, or fail to encode."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )


def quoted(text: str) -> str:
    """In quotes, printable, of bounded length."""
    return f'"{printable(text if len(text) <= QUOTED_LENGTH else text[:QUOTED_LENGTH] + "…")}"'


def nearest(name: str, known: Iterable[str]) -> str:
    """'; did you mean "..."?' or nothing."""
    match = get_close_matches(name[:QUOTED_LENGTH].lower(), list(known), n=1)
    return f'; did you mean "{match[0]}"?' if match else ""
