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


def graded_again(store, times: int) -> None:
    for day in range(times):
        answer = store.recall.add_answer("diffusiongemma", ITEMS[0].id, "no idea", "older-hash")
        store.recall.grade(answer.id, "again", now=datetime.now(UTC) - timedelta(days=40 - day))


def test_the_points_that_an_answer_shares_words_with_are_marked_as_a_help(lab) -> None:
    point = ITEMS[0].points[0]
    printed = lab("recall", "diffusiongemma", "--plain", given=f"{point}\n").stdout
    assert f"● {point}" in printed
    assert f"○ {ITEMS[0].points[-1]}" in printed
    assert "you decide" in printed


def test_a_question_that_was_reworded_says_so_before_it_is_answered(lab, store) -> None:
    graded_again(store, 1)
    printed = lab("recall", "diffusiongemma", "--plain").stdout
    assert "Changed since you answered it on" in printed
    assert printed.index("Changed since") < printed.index(ITEMS[0].question)
    lab("recall", "diffusiongemma", "--plain", given="as it is now\ngood\n")
    assert "Changed since" not in lab("recall", "diffusiongemma", "--plain", "--all").stdout


def test_a_question_that_keeps_being_missed_leads_back_to_its_anchor(lab, store) -> None:
    graded_again(store, 2)
    assert "You have missed" not in lab("recall", "diffusiongemma", "--plain", given="no idea\nagain\n").stdout
    printed = lab("recall", "diffusiongemma", "--plain", "--all", given="no idea\nagain\n").stdout
    anchor = next(one for one in find_lesson("diffusiongemma").anchors if one.id == ITEMS[0].anchors[0])
    assert "You have missed this 4 times." in printed
    assert anchor.quote in printed and f"t={int(anchor.start_s)}s" in printed
    assert "You have missed" not in lab("recall", "diffusiongemma", "--plain", "--all", given="known\ngood\n").stdout


def test_the_history_shows_every_answer_and_the_grades_that_were_taken_back(lab) -> None:
    lab("recall", "diffusiongemma", "--plain", given="one\ngood\n:undo\nhard\n")
    printed = lab("recall", "diffusiongemma", "--history").stdout
    assert ": one" in printed
    assert "hard on" in printed and "good on" in printed and "taken back" in printed
    assert printed.count("Not answered yet.") == 2


def test_due_says_the_day_and_how_often_it_was_missed(lab, store) -> None:
    graded_again(store, 3)
    (due,) = lab.json("due")
    assert due["missed"] == 3
    assert due["due_at"].startswith(due["due_on"][:8])


def test_never_graded_questions_are_told_from_none(lab) -> None:
    shown = lab("due").stderr
    assert "Nothing is due" in shown
    assert "never graded: labtui recall " in shown


def test_without_a_lesson_only_those_that_were_started_ask(lab, store) -> None:
    store.progress.set_position("kv-cache-line", "frame")
    printed = lab("recall", "--plain", given="").stdout
    title = find_lesson("kv-cache-line").title
    assert f"Question 1 of {len(find_lesson('kv-cache-line').recall)} · {title}" in printed
