from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.text import TextWanted, check_text, last_number


@pytest.mark.parametrize(
    ("answer", "wanted", "passed"),
    [
        ("The capital is Canberra.", TextWanted(contains=("canberra",), max_words=10), True),
        ("The capital is Sydney.", TextWanted(contains=("canberra",)), False),
        ("one two three", TextWanted(min_words=4), False),
        ("one two three", TextWanted(max_words=2), False),
        ("A lamp\nburns", TextWanted(any_of=("light", "lamp burns")), True),
        ("Nothing of it", TextWanted(any_of=("light", "lamp")), False),
        ("First 120, then 25, then 120.\n265", TextWanted(number=265), True),
        ("265 of 300", TextWanted(number=265), False),
        ("no idea", TextWanted(number=265), False),
        ("", TextWanted(), False),
    ],
)
def test_facts_decide(answer, wanted, passed):
    assert check_text(answer, wanted).passed is passed


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It is 1,250 litres.", 1250),
        ("**600**", 600),
        ("x = -3.5", -3.5),
        ("\u22127", -7),
        ("in v1 and x2", None),
        ("", None),
        ("1,2,", 12),
    ],
)
def test_the_last_number(text, number):
    assert last_number(text) == number


@given(st.text())
def test_no_text_makes_it_raise(answer):
    check_text(answer, TextWanted(("a",), ("b",), 1, 2, 3.0))
