from __future__ import annotations

from pathlib import Path

import pytest

from labtui.errors import LabError
from labtui.kept_answers import (
    PASTED,
    About,
    about_json,
    about_key,
    discard,
    kept_answer,
    kept_answers,
    restore,
    text_key,
)
from store.opening import Store

LESSON = "a-lesson"


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "labtui.db") as opened:
        yield opened


def keep(store: Store, answer_id: str, text: str, about: About | None = None) -> None:
    store.progress.save_draft(text_key(LESSON, answer_id), text)
    if about is not None:
        store.progress.save_draft(about_key(LESSON, answer_id), about_json(about))


def ids(store: Store, **options) -> list[str]:
    return [one.id for one in kept_answers(LESSON, store, **options)]


def test_the_newest_comes_first_and_other_lessons_do_not_mix(store) -> None:
    keep(store, "a-1", "one", About("m", "http://there", "complete"))
    keep(store, PASTED, "pasted")
    store.progress.save_draft("answer/a-lesson-too", "of another lesson")
    store.progress.save_draft("answer/a-lesson-too/a-9", "of another lesson")
    assert ids(store) == [PASTED, "a-1"]
    assert kept_answer(LESSON, None, store).text == "pasted"
    assert kept_answer(LESSON, "a-1", store).about.whence == "m at http://there"


@pytest.mark.parametrize("answer_id", ["a-1", PASTED])
def test_discarding_takes_it_off_the_list_and_can_be_undone(store, answer_id) -> None:
    keep(store, answer_id, "words", About("m", "http://there", "length") if answer_id != PASTED else None)
    before = kept_answer(LESSON, answer_id, store)
    kept_as = discard(LESSON, answer_id, store)
    assert ids(store) == [] and ids(store, discarded=True) == [kept_as]
    restore(LESSON, kept_as, store)
    (back,) = kept_answers(LESSON, store)
    assert (back.text, back.about) == (before.text, before.about)
    assert ids(store, discarded=True) == []


def test_after_a_pasted_one_was_discarded_the_next_can_be_pasted(store) -> None:
    keep(store, PASTED, "first")
    kept_as = discard(LESSON, PASTED, store)
    keep(store, PASTED, "second")
    restore(LESSON, kept_as, store)
    assert {one.text for one in kept_answers(LESSON, store)} == {"first", "second"}


def test_the_end_of_an_id_will_do_where_it_is_the_only_one(store) -> None:
    keep(store, "a-20261201-1-x7k", "one")
    keep(store, "a-20261201-2-y7k", "two")
    assert kept_answer(LESSON, "x7k", store).text == "one"
    with pytest.raises(LabError, match="fits"):
        kept_answer(LESSON, "7k", store)
    with pytest.raises(LabError, match="is called 'zzz'"):
        kept_answer(LESSON, "zzz", store)


@pytest.mark.parametrize("text", ["", "[]", "no json", '{"ended": "gone", "model": 5, "discarded": "yes"}'])
def test_an_about_that_came_from_elsewhere_breaks_nothing(store, text) -> None:
    keep(store, "a-1", "words")
    store.progress.save_draft(about_key(LESSON, "a-1"), text)
    (kept,) = kept_answers(LESSON, store)
    assert kept.text == "words" and kept.remark == "" and not kept.about.discarded
