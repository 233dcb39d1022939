from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.piece_entries import (
    anchor_at,
    can_add,
    entries,
    filled,
    missing_in,
    parts,
    summary,
    value,
    with_part,
    with_value,
    without_part,
)
from lessons.finding import find_lesson
from lessons.studio.checks import missing
from lessons.studio.pieces import (
    KINDS,
    Checklist,
    ChecklistItem,
    EvidenceMap,
    EvidenceMapRow,
    HarnessMap,
    HarnessStage,
    TeachBack,
)

LESSON = find_lesson("diffusiongemma")
TEXT = st.text(max_size=12)
ROWS = st.builds(EvidenceMapRow, TEXT, TEXT, TEXT, TEXT, TEXT)
PIECES = st.one_of(
    st.builds(EvidenceMap, st.lists(ROWS, max_size=4).map(tuple), TEXT),
    st.builds(HarnessMap, st.lists(st.builds(HarnessStage, TEXT, TEXT, TEXT, TEXT), max_size=4).map(tuple), TEXT, TEXT),
    st.builds(TeachBack, TEXT, TEXT, TEXT, TEXT, st.none() | st.floats(1, 200)),
    st.builds(Checklist, st.lists(st.builds(ChecklistItem, TEXT, TEXT), max_size=4).map(tuple), TEXT),
    st.builds(KINDS["transfer"], TEXT, TEXT, TEXT),
)


@given(PIECES, st.data(), TEXT)
def test_one_field_changes_and_nothing_else(piece, data, text) -> None:
    found = entries(LESSON, piece)
    entry = data.draw(st.sampled_from(found))
    field = data.draw(st.sampled_from(entry.fields))
    changed = with_value(piece, entry, field.name, text)
    assert value(changed, entry, field.name) == text
    assert with_value(changed, entry, field.name, value(piece, entry, field.name)) == piece
    assert [one.id for one in entries(LESSON, changed)] == [one.id for one in found]
    assert 0 <= filled(changed, entry) <= len(entry.fields)


@given(PIECES.filter(lambda piece: can_add(LESSON, piece)), st.data())
def test_a_part_that_is_taken_away_can_be_put_back(piece, data) -> None:
    index = data.draw(st.integers(0, len(parts(piece))))
    longer = with_part(piece, index)
    assert len(parts(longer)) == len(parts(piece)) + 1
    assert without_part(longer, index) == piece
    assert with_part(piece, index, parts(longer)[index]) == longer


@given(PIECES)
def test_every_fault_of_a_part_stands_at_that_part_too(piece) -> None:
    for entry in entries(LESSON, piece):
        assert len(missing_in(LESSON, piece, entry)) <= len(missing(LESSON, piece))
        summary(LESSON, piece, entry)


def test_what_is_missing_in_a_row_is_said_without_its_number() -> None:
    piece = EvidenceMap((EvidenceMapRow("4:15", "it is fast"),))
    row = entries(LESSON, piece)[0]
    assert "What the demo proves is missing." in missing_in(LESSON, piece, row)
    assert summary(LESSON, piece, row) == " 4:15  it is fast"
    anchor = anchor_at(LESSON, piece, row)
    assert anchor is not None
    assert anchor.start_s == 255
    checklist = Checklist((ChecklistItem("", ""), ChecklistItem("pin the version", "")))
    first, second, _ = entries(LESSON, checklist)
    assert missing_in(LESSON, checklist, first) == ["Item 1 is empty."]
    assert missing_in(LESSON, checklist, second) == ["Say what is there when it is done."]


def test_the_stages_of_a_map_are_those_of_the_diagram() -> None:
    piece = HarnessMap(tuple(HarnessStage(card.stage) for card in LESSON.cards))
    assert not can_add(LESSON, piece)
    assert [field.name for field in entries(LESSON, piece)[0].fields] == ["here", "boundary", "proof"]
    without = replace(LESSON, cards=())
    assert can_add(without, piece)
    assert "stage" in [field.name for field in entries(without, piece)[0].fields]


@pytest.mark.parametrize(("anchors", "kind"), [(LESSON.anchors, "anchor"), ((), "text")])
def test_a_lesson_without_anchors_lets_the_source_be_written(anchors, kind) -> None:
    piece = EvidenceMap((EvidenceMapRow(),))
    assert entries(replace(LESSON, anchors=anchors), piece)[0].fields[0].kind == kind
