"""Which of several answers a text gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from exercises.records import Check, Fact

_LONGEST_ANSWER = 20_000
_ORIGIN = re.compile(r"(?i)\bfrom\s+(?:the\s+|its\s+)?\w+")
"""Where something comes from is not where it goes: "from left to right"."""

_CONCLUSION = re.compile(r"(?i)\b(?:final answer|answer|conclusion|therefore)\b\W")


@dataclass(frozen=True, slots=True)
class OneOf:
    """words: for each answer the words that say it. right: which answer is right."""

    words: Mapping[str, tuple[str, ...]]
    right: str


def check_one_of(text: str, wanted: OneOf) -> Check:
    """Never raises. An answer that is the first word counts; else what stands after "answer:" or "therefore", else what
    the whole text says. Two answers at once are none."""
    text = _ORIGIN.sub("from there", text[:_LONGEST_ANSWER])
    opening = re.match(r"\W*([^\W_]+)", text)
    first = opening[1].casefold() if opening else ""
    said = {answer for answer, words in wanted.words.items() if first in map(str.casefold, words)}
    for part in () if said else (_CONCLUSION.split(text)[-1], text):
        said = {answer for answer, words in wanted.words.items() if any(_says(part, word) for word in words)}
        if said:
            break
    if len(said) != 1:
        detail = "none of them can be read in it" if not said else f"it says {' and '.join(sorted(said))}"
        return Check(False, (Fact("gives one answer", False, detail),))
    (answer,) = said
    right = answer == wanted.right
    return Check(
        right,
        (
            Fact("gives one answer", True, answer),
            Fact("the answer is right", right, f"says {answer}, the truth is {wanted.right}"),
        ),
    )


def _says(text: str, word: str) -> bool:
    """The word stands there and is not denied: "not to the left" does not say left."""
    denied = rf"(?:\bnot\b|\bnever\b|\bno\b|n't\b)(?:\s+\w+){{0,3}}\s+{re.escape(word)}\b"
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None and not re.search(
        denied, text, re.IGNORECASE
    )
