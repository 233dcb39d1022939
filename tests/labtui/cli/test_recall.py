from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lessons.finding import find_lesson

ITEMS = find_lesson("diffusiongemma").recall


def test_the_answer_stands_before_the_reveal_and_is_saved_before_it(lab, store) -> None:
    printed = lab("recall", "diffusiongemma", "--plain", given="in parallel\n").stdout
    assert printed.index("Saved.") < printed.index("A good answer says:")
    assert ITEMS[0].points[0] in printed
    assert store.recall.latest("diffusiongemma")[ITEMS[0].id].answer == "in parallel"


def test_before_an_answer_nothing_is_revealed(lab) -> None:
    printed = lab("recall", "diffusiongemma", "--plain", given="").stdout
    assert ITEMS[0].question in printed
    assert ITEMS[0].points[0] not in printed


def test_all_questions_through_a_pipe(lab, store) -> None:
    result = lab("recall", "diffusiongemma", "--plain", given="one\ngood\ntwo\\\nlines\nagain\nthree\ne\n")
    assert result.exit_code == 0
    kept = store.recall.latest("diffusiongemma")
    assert [kept[item.id].answer for item in ITEMS] == ["one", "two\nlines", "three"]
    assert [kept[item.id].grade for item in ITEMS] == ["good", "again", "easy"]


@pytest.mark.parametrize("given", ["one\n", "one\nnonsense\n"])
def test_input_that_ends_midway_keeps_the_answer_and_asks_for_its_grade_later(lab, store, given) -> None:
    assert lab("recall", "--plain", given=given).exit_code == 0
    kept = store.recall.latest("diffusiongemma")[ITEMS[0].id]
    assert (kept.answer, kept.grade) == ("one", None)
    later = lab("recall", "--plain", given="\nhard\n").stdout
    assert "did not grade it" in later
    kept = store.recall.latest("diffusiongemma")[ITEMS[0].id]
    assert (kept.answer, kept.grade) == ("one", "hard")


def test_undo_takes_the_last_grade_back(lab, store) -> None:
    lab("recall", "--plain", given="one\ngood\n:undo\nhard\n")
    assert store.recall.latest("diffusiongemma")[ITEMS[0].id].grade == "hard"


def test_undo_without_a_grade_says_so(lab) -> None:
    assert "no grade to take back" in lab("recall", "--plain", given=":undo\n").stdout


def test_a_skipped_question_stays_open(lab, store) -> None:
    lab("recall", "--plain", given="\ntwo\ngood\n")
    assert set(store.recall.latest("diffusiongemma")) == {ITEMS[1].id}
    assert ITEMS[0].question in lab("recall", "--plain").stdout


def test_what_is_not_due_is_not_asked_but_all_asks_it(lab) -> None:
    lab("recall", "diffusiongemma", "--plain", given="one\neasy\ntwo\neasy\nthree\neasy\n")
    printed = lab("recall", "diffusiongemma", "--plain").stdout
    assert "Nothing is due" in printed
    assert "Question 1 of 3" in lab("recall", "diffusiongemma", "--plain", "--all").stdout


def test_due_lists_what_has_come_back(lab, store) -> None:
    from store.recall import item_hash

    answer = store.recall.add_answer("diffusiongemma", ITEMS[0].id, "one", item_hash(ITEMS[0]))
    store.recall.grade(answer.id, "good", now=datetime.now(UTC) - timedelta(days=40))
    (due,) = lab.json("due")
    assert due["item"] == ITEMS[0].id
    assert due["question"] == ITEMS[0].question
    assert lab.json("lessons")[0]["due"] == 1
    assert "recall" in lab("next").stdout
    assert ITEMS[0].question in lab("due").stdout


def test_nothing_due_is_an_empty_list(lab) -> None:
    assert lab.json("due") == []


def test_an_answer_cannot_steer_the_terminal_when_it_is_shown_again(lab) -> None:
    lab("recall", "--plain", given="a\x1b[2Jb\n")
    assert "\x1b" not in lab("recall", "--plain").stdout
