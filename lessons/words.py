"""Texts as sequences of words, for asking whether one says what the other says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
ALONE = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


def plain_form(text: str) -> str:
    """For comparing: full-width forms made narrow, letters small, everything but letters and digits one space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(character if character.isalnum() else " " for character in folded).split())


def words_of(text: str) -> list[str]:
    """Small letters, no punctuation; scripts that do not part words give one character each."""
    found: list[str] = []
    for match in WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'")):
        run = ""
        for character in match:
            if unicodedata.name(character, "").startswith(ALONE):
                found += [run, character] if run else [character]
                run = ""
            else:
                run += character
        found += [run] if run else []
    return found


def holds(text: Sequence[str], part: Sequence[str]) -> bool:
    """Whether these words stand in that text one after the other. Both as words_of gives them."""
    if not part:
        return True
    joined, wanted = f" {' '.join(text)} ", f" {' '.join(part)} "
    return wanted in joined


def longest_shared_run(text: str, other: str) -> list[str]:
    """The longest sequence of words that stands in both."""
    left, right = words_of(text), words_of(other)
    best_length, best_end = 0, 0
    lengths = [0] * (len(right) + 1)
    for position, word in enumerate(left, 1):
        row = [0] * (len(right) + 1)
        for column, candidate in enumerate(right, 1):
            if word == candidate:
                row[column] = lengths[column - 1] + 1
                if row[column] > best_length:
                    best_length, best_end = row[column], position
        lengths = row
    return left[best_end - best_length : best_end]
