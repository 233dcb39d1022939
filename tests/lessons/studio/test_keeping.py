import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.errors import LessonError
from lessons.studio.keeping import SHAPES, from_json, from_plain_text, normal, to_json, to_plain_text
from lessons.studio.pieces import (
    KINDS,
    Checklist,
    ChecklistItem,
    EvidenceMap,
    EvidenceMapRow,
    HarnessMap,
    HarnessStage,
    TeachBack,
    Transfer,
    kind_of,
)

TEXTS = (
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.lists(st.sampled_from(["claim: x", "# a", "  b", "confidence: low", "", "proof signal", "seconds: 3", "-"]))
    .map("\n".join)
    .filter(bool)
).map(normal)
NAMES = TEXTS.map(lambda text: " ".join(text.split()))
ROWS = st.builds(EvidenceMapRow, NAMES, TEXTS, TEXTS, TEXTS, TEXTS)
STAGES = st.builds(HarnessStage, NAMES, TEXTS, TEXTS, TEXTS)
PIECES = st.one_of(
    st.builds(EvidenceMap, st.lists(ROWS, max_size=3).map(tuple), TEXTS),
    st.builds(HarnessMap, st.lists(STAGES, max_size=3).map(tuple), TEXTS, TEXTS),
    st.builds(TeachBack, TEXTS, TEXTS, TEXTS, TEXTS, st.none() | st.integers(1, 999).map(float)),
    st.builds(Checklist, st.lists(st.builds(ChecklistItem, NAMES, TEXTS), max_size=3).map(tuple), TEXTS),
    st.builds(Transfer, TEXTS, TEXTS, TEXTS),
)  # fmt: skip


@given(PIECES)
def test_plain_text_is_read_back(piece):
    read = from_plain_text(kind_of(piece), to_plain_text(piece))
    assert read.piece == piece
    assert read.unread == ()


@given(PIECES)
def test_json_is_read_back(piece):
    assert from_json(to_json(piece)) == piece


@given(
    st.sampled_from(sorted(KINDS)),
    st.text() | st.lists(st.sampled_from(["# a", "claim: x", "  y", "", "z"])).map("\n".join),
)
def test_any_text_is_read_and_nothing_is_lost(kind, text):
    read = from_plain_text(kind, text)
    again = to_plain_text(read.piece) + "\n".join(row for _, row in read.unread)
    kept = set("".join(again.split())) | set("".join(SHAPES[kind].labels.values()))
    assert set("".join(text.split())) - set("#:") <= kept
    assert from_plain_text(kind, to_plain_text(read.piece)).piece == read.piece


@given(st.text() | st.sampled_from(["{}", "[]", "null", '{"piece": 1}', '{"piece": "transfer", "x": 1}', "[" * 9000]))
def test_any_json_gives_a_piece_or_one_message(text):
    try:
        assert kind_of(from_json(text)) in KINDS
    except LessonError as error:
        assert error.title == "This piece cannot be read"


def test_what_a_person_types():
    text = """\
# 0:34
  Claim: over 1,100 tokens per second
  what the demo proves:
    that it is said,
    not that it is so
  confidence: low
4:15
still to verify: the flags
Where it will matter: at the next card
"""
    read = from_plain_text("evidence-map", text)
    assert read.unread == ()
    assert read.piece == EvidenceMap(
        (
            EvidenceMapRow("0:34", "over 1,100 tokens per second", "that it is said,\nnot that it is so", "low"),
            EvidenceMapRow("4:15", to_verify="the flags"),
        ),
        "at the next card",
    )


def test_a_line_in_no_field_is_named():
    read = from_plain_text("teach-back", "hello\nexplanation: it is a canvas\nseconds: 80 s\n")
    assert read.unread == ((1, "hello"),)
    assert read.piece == TeachBack("it is a canvas", seconds=80.0)


@pytest.mark.parametrize("text", ["nan", "-1", "0", "soon", "1e9", ""])
def test_seconds_that_are_none(text):
    read = from_plain_text("teach-back", f"seconds: {text}")
    assert read.piece == TeachBack()
    assert read.unread == ((1, f"seconds: {text}".strip()),)
