from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.validity import why_invalid


def reason(text: str, reasoning: str = "") -> str | None:
    return why_invalid(text, reasoning, "complete", None)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "Yes, it passes.",
        "11",
        "ha ha ha",
        "one, two, three, four, five, six, seven, eight, nine, ten",
        '<svg xmlns="http://www.w3.org/2000/svg"><mask id="m"/></svg>',
        "x" * 11,
        "日本語のテキスト",
        "a\tb\nc",
        "0101010101 is a number in base two",
    ],
)
def test_answers(text):
    assert reason(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("<pad>" * 256, "padding"),
        ("<eos><pad> <pad>", "padding"),
        ("<unused12><unused12>", "padding"),
        ("<turn|><|turn><|channel>", "padding"),
        ("\ufffd\ufffd\ufffd", "padding"),
        ("\x00" * 20, "padding"),
        ("the " * 64, "repeated: 'the'"),
        ("thethethethethethethethethethethethethethethethe", "repeated: 'the'"),
        ("!" * 200, "repeated: '!'"),
        ("one two " * 40 + "one tw", "repeated: 'one two'"),
        ("a\ufffd\x01b\ufffd\x02", "unreadable"),
        ("\ue000\ue001abc", "unreadable"),
    ],
)
def test_no_answers(text, words):
    assert words in reason(text)


def test_reasoning_counts_as_text():
    assert reason("", "the roof is lower than the bar") is None
    assert "empty" in reason("", "")


def test_how_it_ended_comes_first():
    assert why_invalid("fine", "", "cancelled", None) == "cancelled before the answer was complete"
    assert why_invalid("fine", "", "broken", "engine died") == "engine died"
    assert why_invalid("fine", "", "broken", None) == "the stream broke off"


@given(st.text(), st.text())
def test_never_raises(text, reasoning):
    assert reason(text, reasoning) is None or reason(text, reasoning)


@given(st.text(st.characters(categories=["L"]), min_size=1, max_size=6), st.integers(12, 60))
def test_any_short_piece_repeated_is_found(unit, times):
    assert reason(unit * times) is not None
    assert reason(f"{unit} " * times) is not None
