"""The fenced blocks of an answer, found in time that grows no faster than the answer: no text makes it slow."""

from __future__ import annotations

FENCE = "```"


def fenced_blocks(answer: str) -> list[str]:
    """What stands in each block, without the line that opens it. A last block that nothing closes counts too."""
    blocks = []
    for part in answer.split(FENCE)[1::2]:
        _, newline, body = part.partition("\n")
        if newline:
            blocks.append(body)
    return blocks
