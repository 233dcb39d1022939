"""A mark stays when its text is reworded, and says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labtui.marking import changed_since_read, mark_step
from labtui.standing import standing_of
from lessons.finding import find_lesson
from store.opening import Store

LESSON = find_lesson("diffusiongemma")
CARD = LESSON.cards[0]
STEP = f"card/{CARD.id}"
REWORDED = replace(LESSON, cards=(replace(CARD, body=f"{CARD.body} More."), *LESSON.cards[1:]))


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "labtui.db") as opened:
        yield opened


def test_a_reworded_card_says_so_and_stays_done_until_it_is_marked_again(store) -> None:
    mark_step(LESSON, STEP, store)
    assert changed_since_read(LESSON, store) == {}
    standing = standing_of(REWORDED, store)
    assert standing.changed.keys() == {STEP}
    assert STEP in standing.done and standing.cards_done == standing_of(LESSON, store).cards_done
    mark_step(REWORDED, STEP, store)
    assert standing_of(REWORDED, store).changed == {}
    assert standing_of(LESSON, store).changed.keys() == {STEP}, "an older text is another one too"


def test_a_mark_from_before_fingerprints_were_kept_says_nothing(store) -> None:
    store.progress.mark(LESSON.id, STEP)
    assert standing_of(REWORDED, store).changed == {}


def test_what_was_unmarked_or_is_no_card_says_nothing(store) -> None:
    mark_step(LESSON, STEP, store)
    mark_step(LESSON, STEP, store, done=False)
    store.progress.mark(LESSON.id, f"recall/{LESSON.recall[0].id}", fingerprint="another")
    store.progress.mark(LESSON.id, "card/gone", fingerprint="another")
    assert standing_of(REWORDED, store).changed == {}
