from __future__ import annotations


def storable(text: str) -> str:
    """The text as SQLite can keep it: half characters (lone surrogates) become U+FFFD, all else stays."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
