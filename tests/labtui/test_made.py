from __future__ import annotations

import pytest

from labtui.made import keep_piece, kept_piece, made_so_far, missing_at_gates, piece_draft_key
from labtui.standing import standing_of
from lessons.finding import find_lesson
from lessons.studio.keeping import to_json
from lessons.studio.pieces import EvidenceMap, HarnessMap, HarnessStage, TeachBack
from store import Store

LESSON = find_lesson("diffusiongemma")
PRACTICE = {piece.id: piece for piece in LESSON.practice}
WHOLE = HarnessMap(tuple(HarnessStage(card.stage, "a", "b", "c") for card in LESSON.cards), "Verifier", "a red test")


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "labtui.db") as opened:
        yield opened


def test_nothing_is_made_at_first_and_a_map_has_the_stages_of_the_diagram(store) -> None:
    kept = kept_piece(LESSON, PRACTICE["useful-artifact"], store)
    assert not kept.begun
    assert isinstance(kept.piece, HarnessMap)
    assert [stage.stage for stage in kept.piece.stages] == [card.stage for card in LESSON.cards]
    assert made_so_far(LESSON, store).pieces == {}


def test_a_map_begins_with_what_was_noted_at_the_cards(store) -> None:
    store.progress.save_note(LESSON.id, f"card/{LESSON.cards[1].id}", "one small card")
    kept = kept_piece(LESSON, PRACTICE["useful-artifact"], store)
    assert kept.piece.stages[1].here == "one small card"
    assert not kept.begun


def test_a_draft_goes_before_what_was_kept_and_keeping_it_ends_it(store) -> None:
    practice = PRACTICE["teach-back"]
    keep_piece(LESSON, practice, TeachBack("old"), store)
    store.progress.save_draft(piece_draft_key(LESSON.id, practice.id), to_json(TeachBack("new")))
    kept = kept_piece(LESSON, practice, store)
    assert (kept.piece, kept.draft) == (TeachBack("new"), True)
    keep_piece(LESSON, practice, kept.piece, store)
    kept = kept_piece(LESSON, practice, store)
    assert (kept.piece, kept.draft) == (TeachBack("new"), False)
    assert len(store.progress.note_history(LESSON.id)) == 2


@pytest.mark.parametrize("text", ["It came out well.", "{not json", to_json(EvidenceMap())])
def test_what_is_no_piece_of_that_kind_stays_as_it_was_written(store, text) -> None:
    store.progress.save_note(LESSON.id, "practice/teach-back", text)
    kept = kept_piece(LESSON, PRACTICE["teach-back"], store)
    assert (kept.begun, kept.earlier) == (False, text)
    assert "teach-back" not in made_so_far(LESSON, store).pieces


def test_a_stage_that_a_kept_map_lacks_is_there_to_be_written(store) -> None:
    keep_piece(LESSON, PRACTICE["useful-artifact"], HarnessMap((HarnessStage("Model", "x"),)), store)
    stages = kept_piece(LESSON, PRACTICE["useful-artifact"], store).piece.stages
    assert {stage.stage for stage in stages} == {card.stage for card in LESSON.cards}


def test_a_gate_is_met_by_evidence_alone(store) -> None:
    for gate in LESSON.gates:
        store.progress.mark(LESSON.id, f"gate/{gate.id}")
    assert standing_of(LESSON, store).gates_met == 0
    store.progress.save_gate(LESSON.id, "claim-in-own-words", "Fast.")
    assert any("whole sentence" in one for one in missing_at_gates(LESSON, store)["claim-in-own-words"])
    text = "At 0:34 he promises more than a thousand tokens every second, yet times nothing himself."
    store.progress.save_gate(LESSON.id, "claim-in-own-words", text)
    keep_piece(LESSON, PRACTICE["useful-artifact"], WHOLE, store)
    standing = standing_of(LESSON, store)
    assert standing.gates_met == 2
    assert {"gate/claim-in-own-words", "gate/mapped-weakest-link", "practice/useful-artifact"} <= standing.done
    assert standing.pieces["useful-artifact"] == ()
    assert standing.pieces["teach-back"] == ("It was not begun yet.",)
