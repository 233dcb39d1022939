"""How exactly an answer repeats a text: the character error rate, edits ÷ characters of the text (Levenshtein 1966)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exercises.checkers.fences import fenced_blocks
from exercises.records import Check, Fact

LONGEST_ANSWER = 4
"""An answer is read up to this many times the length of the text; what is beyond counts as so many errors."""

_OPENING = re.compile(r"\A\s{0,9}[^\n]{1,120}:[ \t*]{0,9}\n")


@dataclass(frozen=True, slots=True)
class TranscriptionWanted:
    """most_errors: the largest character error rate that passes, such as 0.1."""

    text: str
    most_errors: float


def check_transcription(answer: str, wanted: TranscriptionWanted) -> Check:
    """Never raises, whatever the answer is. Upper and lower case, where lines end, and a first line that announces the
    text and ends with a colon do not count."""
    blocks = fenced_blocks(answer)
    said = _OPENING.sub("", blocks[0] if blocks else answer, count=1)
    if not said.strip():
        return Check(False, (Fact("has text", False),))
    rate = character_error_rate(said, wanted.text)
    fact = Fact(
        f"character error rate of {wanted.most_errors:.0%} or less", rate <= wanted.most_errors, f"{rate * 100:.1f} %"
    )
    return Check(fact.passed, (Fact("has text", True), fact))


def character_error_rate(said: str, text: str) -> float:
    """Edits that turn said into text ÷ characters of text; above 1 where more was said than is there."""
    right = _normal(text)
    if not right:
        return 0.0 if not _normal(said) else 1.0
    whole = _normal(said)
    given = whole[: len(right) * LONGEST_ANSWER]
    return (_edits(given, right) + len(whole) - len(given)) / len(right)


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def _edits(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for number, character in enumerate(one, 1):
        diagonal, row[0] = row[0], number
        for at, wanted in enumerate(other, 1):
            diagonal, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, diagonal + (character != wanted))
    return row[-1]
