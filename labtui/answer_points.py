"""Which of the expected points an answer seems to hold, by the words that both have. A help for grading oneself: it
knows no synonyms and no negation, so the person decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

Standing = Literal["said", "partly", "not found"]

SIGNS: dict[Standing, str] = {"said": "●", "partly": "◐", "not found": "○"}
LEGEND = "● said  ◐ partly  ○ not found: by shared words alone, so you decide."

SAID = 0.55
PARTLY = 0.25
LONGEST_ENDING = 3

_NUMBER = r"\d+(?:[.,]\d+)*"
_PIECES = re.compile(rf"{_NUMBER}|[^\W\d_]+")
# Written without spaces between words: two characters in a row are the unit there.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_CARRY_NOTHING = frozenset(
    """
    a about after all also an and any are as at be because been but by can could did do does each for from had has
    have how i if in into is it its more most much no not of on one only or other our out over so some such than that
    the their them then there these they this those to too up use used was we were what when where which while who
    will with would you your
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class PointSeen:
    """missing: the words of the point that the answer does not have, as they stand in the point."""

    point: str
    standing: Standing
    missing: tuple[str, ...]

    @property
    def sign(self) -> str:
        return SIGNS[self.standing]


def points_seen(answer: str, points: Sequence[str]) -> tuple[PointSeen, ...]:
    said = frozenset(_units(answer))
    return tuple(_seen(point, said) for point in points)


def _seen(point: str, said: frozenset[str]) -> PointSeen:
    units = tuple(dict.fromkeys(_units(point)))
    missing = tuple(unit for unit in units if not any(_same(unit, other) for other in said))
    share = 1 - len(missing) / len(units) if units else 0.0
    standing: Standing = "said" if share >= SAID else "partly" if share >= PARTLY else "not found"
    return PointSeen(point, standing, missing)


def _units(text: str) -> list[str]:
    found: list[str] = []
    for piece in _PIECES.findall(unicodedata.normalize("NFKC", text).casefold()):
        if piece[0].isdigit():
            found.append(re.sub(r",(?=\d{3}(?:\D|$))", "", piece))
            continue
        for run in _UNSPACED.findall(piece):
            found += [run[at : at + 2] for at in range(max(len(run) - 1, 1))]
        found += [word for word in _UNSPACED.split(piece) if len(word) > 1 and word not in _CARRY_NOTHING]
    return found


def _same(one: str, other: str) -> bool:
    """Equal, or two forms of one word: denoise and denoising."""
    if one == other:
        return True
    if one[0].isdigit() or other[0].isdigit():
        return False
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    if max(len(one), len(other)) - shared > LONGEST_ENDING:
        return False
    return shared >= 5 or (shared >= 4 and shared == min(len(one), len(other)))
