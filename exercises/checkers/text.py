"""Facts about a plain text: its length, what it mentions, the number that it ends with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exercises.records import Check, Fact

_NUMBER = re.compile(r"(?<![\w.])[-\u2212]?\d[\d,\u202f\u00a0]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class TextWanted:
    """contains: phrases that must all occur. any_of: of these one is enough. Upper and lower case are alike.

    min_words, max_words: length, 0 for no limit. number: what the last number in the answer must be.
    """

    contains: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    min_words: int = 0
    max_words: int = 0
    number: float | None = None


def check_text(answer: str, wanted: TextWanted) -> Check:
    """Never raises, whatever the answer is."""
    words = len(answer.split())
    told = _folded(answer)
    facts = [Fact("has text", words > 0)]
    if wanted.min_words:
        facts.append(Fact(f"has {wanted.min_words} words or more", words >= wanted.min_words, f"{words} words"))
    if wanted.max_words:
        facts.append(Fact(f"has {wanted.max_words} words or fewer", words <= wanted.max_words, f"{words} words"))
    facts += [Fact(f"mentions {phrase!r}", _folded(phrase) in told) for phrase in wanted.contains]
    if wanted.any_of:
        found = [phrase for phrase in wanted.any_of if _folded(phrase) in told]
        named = " or ".join(repr(phrase) for phrase in wanted.any_of)
        facts.append(Fact(f"mentions {named}", bool(found), ", ".join(found)))
    if wanted.number is not None:
        said = last_number(answer)
        detail = "no number in it" if said is None else f"the last number is {said:g}"
        facts.append(Fact(f"ends with the number {wanted.number:g}", said == wanted.number, detail))
    return Check(all(fact.passed for fact in facts), tuple(facts))


def last_number(text: str) -> float | None:
    """ "That makes 1,250.": 1250. None where there is none."""
    found = _NUMBER.findall(text[-20_000:])
    if not found:
        return None
    number = re.sub(r"[,\u202f\u00a0]", "", found[-1]).replace("\u2212", "-")
    try:
        return float(number)
    except ValueError:
        return None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
