from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.transcription import TranscriptionWanted, character_error_rate, check_transcription

TEXT = "dear agnes, the oak came in."


@pytest.mark.parametrize(
    ("said", "edits"),
    [
        (TEXT, 0),
        ("Dear Agnes,\nthe  oak came in.", 0),
        ("dear agnes the oak came in.", 1),
        ("dear agnes, the oat came in.", 1),
        ("dear agnes, the oak game in", 2),
        ("", len(TEXT)),
        (TEXT + "!", 1),
    ],
)
def test_the_rate_is_edits_by_characters_of_the_text(said, edits):
    assert character_error_rate(said, TEXT) == edits / len(TEXT)


def test_a_long_answer_counts_every_character_and_ends_soon():
    assert character_error_rate(TEXT + "x" * 100_000, TEXT) == pytest.approx(100_000 / len(TEXT))


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        (TEXT, True),
        (f"```text\n{TEXT}\n```", True),
        (f"Here is the transcription:\n\n{TEXT}", True),
        (f"**Transcription:**\n{TEXT}", True),
        (f"Here is the transcription: {TEXT}", False),
        ("dear agnes, the oat came in", True),
        ("It is a letter to Agnes.", False),
        ("", False),
    ],
)
def test_the_rate_decides(answer, passed):
    check = check_transcription(answer, TranscriptionWanted(TEXT, 0.1))
    assert check.passed is passed


def test_the_rate_is_shown():
    (_, fact) = check_transcription("dear agnes, the oat came in.", TranscriptionWanted(TEXT, 0.1)).facts
    assert fact.detail == "3.6 %"


SHORT = st.text(alphabet="abc ", max_size=12)


@given(SHORT, SHORT)
def test_it_is_a_distance(one, other):
    def distance(said, text):
        return round(character_error_rate(said, text) * len(" ".join(text.split())))

    assert character_error_rate(one, one) == 0
    if one.split() and other.split() and 4 * min(map(len, (one.strip(), other.strip()))) > 12:
        assert distance(one, other) == distance(other, one)
