"""Which of two answers a text gives, in whatever words it says so."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exercises.records import Check, Fact

_LONGEST_ANSWER = 20_000
_NEGATORS = frozenset(
    {"not", "no", "never", "cannot", "cant", "wont", "isnt", "doesnt", "didnt", "wouldnt", "couldnt", "unable", "fails"}
    | {
        "fail",
        "unlikely",
        "neither",
        "without",
        "hardly",
        "prevents",
        "prevent",
        "stops",
        "stop",
        "too",
        "insufficient",
    }
)
_REACH = 8
"""A negator turns a phrase that begins within this many words after it, in the same clause."""

_CLAUSE_ENDS = frozenset({",", "so", "and", "but", "because", "since", "which", "while"})

_BARE = frozenset({"yes", "no"})
_NO_SUCH_THING = frozenset({"doubt", "problem", "question", "trouble", "issue", "obstacle", "matter"})


@dataclass(frozen=True, slots=True)
class Choice:
    """when_true, when_false: words or phrases that say so. answer: which one is right."""

    when_true: tuple[str, ...]
    when_false: tuple[str, ...]
    answer: bool


def check_choice(text: str, choice: Choice) -> Check:
    """Never raises, whatever the text is."""
    said = what_it_says(text, choice.when_true, choice.when_false)
    names = {True: choice.when_true[0], False: choice.when_false[0]}
    if said is None:
        gives = Fact("gives an answer", False, f"neither {names[True]!r} nor {names[False]!r} alone can be read in it")
        return Check(False, (gives,))
    right = said == choice.answer
    facts = (
        Fact("gives an answer", True, names[said]),
        Fact("the answer is right", right, f"says {names[said]!r}, the truth is {names[choice.answer]!r}"),
    )
    return Check(right, facts)


def what_it_says(text: str, when_true: tuple[str, ...], when_false: tuple[str, ...]) -> bool | None:
    """True or False, None where the text says neither or both.

    The longest phrase wins at each place; a negation just before a phrase turns it ("does not pass", "too tall to
    pass"). A bare yes or no counts where it begins a sentence or ends one ("the answer is no"). What stands after
    "answer:", "therefore" or the like outweighs what was considered before it.
    """
    text = text[:_LONGEST_ANSWER].replace("\u2019", "'")
    conclusion = re.split(r"(?i)\b(?:final answer|answer|conclusion|therefore|verdict)\b\W", text)[-1]
    for part in (conclusion, text):
        said = {
            stance
            for sentence in re.split(r"[.!?;:\n]+", part)
            for stance in _stances(_words(sentence), when_true, when_false)
        }
        if len(said) == 1:
            return said.pop()
        if len(said) > 1:
            return None
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+|,", re.sub(r"n't\b", "nt", text.lower().replace("can't", "cannot")))


def _stances(words: list[str], when_true: tuple[str, ...], when_false: tuple[str, ...]) -> list[bool]:
    phrases = sorted(
        [(_words(phrase), True) for phrase in when_true] + [(_words(phrase), False) for phrase in when_false],
        key=lambda phrase: -len(phrase[0]),
    )
    stances: list[bool] = []
    opening = 1 if words and words[0] in _BARE else 0
    place = 0
    while place < len(words):
        for phrase, stance in phrases:
            if not phrase or words[place : place + len(phrase)] != phrase:
                continue
            if phrase[0] in _BARE and len(phrase) == 1:
                if not _is_an_answer(words, place):
                    continue
                stances.append(stance)
            else:
                turned = sum(word in _NEGATORS for word in _clause_before(words, place, opening)) % 2 == 1
                stances.append(stance != turned)
            place += len(phrase) - 1
            break
        place += 1
    return stances


def _clause_before(words: list[str], place: int, opening: int) -> list[str]:
    start = place
    while start > max(place - _REACH, opening) and words[start - 1] not in _CLAUSE_ENDS:
        start -= 1
    return words[start:place]


def _is_an_answer(words: list[str], place: int) -> bool:
    if words[place + 1 : place + 2] == ["or"] or (place and words[place - 1] == "or"):
        return False
    if place == 0:
        return len(words) == 1 or words[1] not in _NO_SUCH_THING
    return place == len(words) - 1
