from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.answer_points import points_seen


def standing(answer: str, point: str) -> str:
    return points_seen(answer, [point])[0].standing


@pytest.mark.parametrize(
    ("answer", "point", "expected"),
    [
        ("It refines a canvas of 256 tokens in parallel.", "A canvas of 256 tokens, refined in parallel", "said"),
        ("blocks of tokens", "A canvas of 256 tokens, refined in parallel", "not found"),
        ("a canvas of 256", "A canvas of 256 tokens, refined in parallel", "partly"),
        ("over 1100 tokens per second", "1,100 tokens per second", "said"),
        ("over 110 tok/s", "1,100 tokens per second", "not found"),
        ("It DENOISES; sure words are locking", "Denoising passes lock the sure ones", "said"),
        ("Der Entwurf wird entrauscht", "Entrauschen des Entwurfs", "said"),
        ("它并行细化画布", "并行细化一块画布", "said"),
        ("它很快", "并行细化一块画布", "not found"),
        ("", "Anything at all", "not found"),
        ("the of and", "The and of", "not found"),
    ],
)
def test_a_point_is_found_by_the_words_it_shares_with_the_answer(answer, point, expected):
    assert standing(answer, point) == expected


def test_what_is_missing_is_named_and_small_words_are_not():
    (seen,) = points_seen("a canvas", ["A canvas of 256 tokens"])
    assert seen.missing == ("256", "tokens")


@given(point=st.text(), others=st.text())
def test_any_text_can_be_compared_and_the_point_itself_misses_nothing(point, others):
    assert points_seen(f"{others} {point}", [point])[0].missing == ()


@given(answer=st.text(), more=st.text(), point=st.text())
def test_saying_more_never_takes_a_point_away(answer, more, point):
    assert len(points_seen(f"{answer} {more}", [point])[0].missing) <= len(points_seen(answer, [point])[0].missing)
