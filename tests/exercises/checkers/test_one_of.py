from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.one_of import OneOf, check_one_of

WORDS = {"left": ("left", "leftwards"), "right": ("right",), "up": ("up", "upwards"), "down": ("down",)}
LEFT = OneOf(WORDS, "left")


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("left", True),
        ("**Left**: it is at the right first and further left afterwards.", True),
        ("The ball moves leftwards.", True),
        ("It does not move up or right. Answer: left", True),
        ("It stands at the right, then in the middle. Therefore, it moves left.", True),
        ("It moves from right to left.", True),
        ("The ball goes from the right side to the left side.", True),
        ("It moves from left to right.", False),
        ("right", False),
        ("It moves left and up.", False),
        ("It moves not left.", False),
        ("It stands still.", False),
        ("leftover", False),
        ("", False),
    ],
)
def test_one_answer_and_no_other(answer, passed):
    assert check_one_of(answer, LEFT).passed is passed


def test_what_it_says_is_said():
    facts = check_one_of("Down, clearly.", LEFT).facts
    assert facts[1].detail == "says down, the truth is left"
    assert check_one_of("It moves right, no, up.", LEFT).facts[0].detail.startswith("it says right")


@given(st.text())
def test_no_text_makes_it_raise(answer):
    check_one_of(answer, LEFT)
