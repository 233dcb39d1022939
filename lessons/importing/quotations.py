"""Where in the captions a quotation stands, and how far that is from where the lesson says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from lessons.importing.captions import Captions, Word
from lessons.words import words_of

SLACK_S = 1.0
"""Times in a lesson are whole seconds: a quotation stands at one if its cue covers it within this."""

ALIKE = 0.8
"""The share of a quotation's words, in order, from which on captions are taken to hold it (they are often retyped)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """found_s: where the captions have the quotation, None if nowhere. distance_s: that minus the anchor's time.

    share: of its words found there in order, 1.0 for word for word.
    """

    anchor: str
    at_s: float
    found_s: float | None
    distance_s: float | None
    share: float

    @property
    def stands(self) -> bool:
        return self.distance_s == 0


def standing(anchor: str, at_s: float, quote: str, captions: Captions) -> Standing:
    """Of several places with the same words, the nearest to the anchor counts."""
    wanted = words_of(quote)
    found = _places(wanted, captions.words)
    if not found:
        return Standing(anchor, at_s, None, None, 0.0)
    share, word = max(found, key=lambda place: (place[0], -abs(_distance(place[1], at_s))))
    return Standing(anchor, at_s, word.start_s, _distance(word, at_s), round(share, 2))


def _distance(word: Word, at_s: float) -> float:
    """Seconds; 0 within the cue."""
    if word.start_s - SLACK_S <= at_s <= word.end_s + SLACK_S:
        return 0.0
    return round(word.start_s - at_s, 1)


def _places(wanted: Sequence[str], words: Sequence[Word]) -> list[tuple[float, Word]]:
    if not wanted:
        return []
    texts = [word.text for word in words]
    size = len(wanted)
    exact = [
        (1.0, words[start]) for start in range(len(texts) - size + 1) if texts[start : start + size] == list(wanted)
    ]
    return exact or _alike(wanted, texts, words)


def _alike(wanted: Sequence[str], texts: Sequence[str], words: Sequence[Word]) -> list[tuple[float, Word]]:
    """The best place for a quotation with words left out, added or heard otherwise.

    Candidates share many words with it; of these the order is compared.
    """
    size = len(wanted)
    need = set(wanted)
    windows = [
        (sum(text in need for text in texts[start : start + size]), start)
        for start in range(0, max(1, len(texts) - size + 1))
    ]
    best: list[tuple[float, Word]] = []
    for count, start in sorted(windows, key=lambda window: (-window[0], window[1]))[:20]:
        if count < ALIKE * size:
            break
        blocks = SequenceMatcher(None, texts[start : start + size], wanted, autojunk=False).get_matching_blocks()
        share = sum(block.size for block in blocks) / size
        if share >= ALIKE:
            best.append((share, words[start + blocks[0].a]))
    return best
