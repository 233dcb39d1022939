from __future__ import annotations

from datetime import UTC, datetime, timedelta

from labtui.screens.recall import RecallScreen
from labtui.widgets.writing import Writing
from lessons.finding import find_lesson
from store.recall import item_hash

LESSON = "diffusiongemma"
NOW = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
FIRST, SECOND, THIRD = find_lesson(LESSON).recall


def graded(in_store, item, grade: str = "good"):
    def change(store):
        answer = store.recall.add_answer(LESSON, item.id, "known", item_hash(item))
        return store.recall.grade(answer.id, grade, NOW)

    return in_store(change)


async def test_answer_first_then_reveal_then_grade(running, in_store) -> None:
    async with running(keys=("r",)) as lab:
        assert "1 of 3" in lab.title
        assert FIRST.points[0] not in lab.text
        await lab.type("a canvas")
        await lab.press("escape", "enter")
        assert FIRST.points[0] in lab.text
        assert "a canvas" in lab.text
        assert "Saved" in lab.line
        answer = in_store(lambda store: store.recall.latest(LESSON)[FIRST.id])
        assert (answer.answer, answer.grade) == ("a canvas", None)
        await lab.press("3")
        assert "good, comes back in" in lab.line
        answer = in_store(lambda store: store.recall.latest(LESSON)[FIRST.id])
        assert answer.grade == "good"
        assert answer.due_on > NOW.date()
        await lab.press("enter")
        assert "2 of 3" in lab.title


async def test_nothing_is_revealed_without_an_answer(running, in_store) -> None:
    async with running(keys=("r", "escape", "enter")) as lab:
        assert "Answer first" in lab.line
        assert FIRST.points[0] not in lab.text
    assert in_store(lambda store: store.recall.answers(LESSON)) == []


async def test_a_grade_can_be_taken_back(running, in_store) -> None:
    async with running(keys=("r", "x", "escape", "enter", "4", "enter", "escape", "u")) as lab:
        assert "1 of 3" in lab.title
        assert "taken back" in lab.line
        assert in_store(lambda store: store.recall.latest(LESSON)[FIRST.id].grade) is None
        await lab.press("1")
        assert in_store(lambda store: store.recall.latest(LESSON)[FIRST.id].grade) == "again"


async def test_an_answer_that_was_not_graded_waits_for_its_grade(running, in_store) -> None:
    in_store(lambda store: store.recall.add_answer(LESSON, FIRST.id, "before the crash", item_hash(FIRST)))
    async with running(keys=("r",)) as lab:
        assert "before the crash" in lab.text
        assert FIRST.points[0] in lab.text
        await lab.press("2")
    assert in_store(lambda store: [one.grade for one in store.recall.answers(LESSON)]) == ["hard"]


async def test_a_half_typed_answer_comes_back(running) -> None:
    async with running(keys=("r",)) as lab:
        await lab.type("half")
    async with running(keys=("r",)) as lab:
        assert lab.screen.query_one(Writing).text == "half"


async def test_only_what_is_due_is_asked_and_a_asks_everything(running, in_store) -> None:
    for item in (FIRST, SECOND, THIRD):
        graded(in_store, item)
    async with running(keys=("r",)) as lab:
        assert "Nothing is due. The next question comes back in" in lab.text
        await lab.press("a")
        assert "1 of 3" in lab.title
    async with running(keys=("r",), now=lambda: NOW + timedelta(days=30)) as lab:
        assert "1 of 3" in lab.title


async def test_the_end_shows_how_it_went(running) -> None:
    keys = ("x", "escape", "enter", "3", "enter")
    async with running(keys=("r", *keys, *keys, *keys)) as lab:
        assert "That was the last one." in lab.text
        assert lab.text.count("✓ good, comes back") == 3


async def test_a_question_of_the_lesson_opens_there(running) -> None:
    async with running() as lab:
        lab.app.open_recall(LESSON, THIRD.id)
        await lab.settle()
        assert isinstance(lab.screen, RecallScreen)
        assert "3 of 3" in lab.title


async def test_a_double_key_saves_one_answer(running, in_store) -> None:
    async with running(keys=("r", "x", "escape")) as lab:
        lab.screen.action_reveal()
        lab.screen.action_reveal()
        await lab.settle()
    assert len(in_store(lambda store: store.recall.answers(LESSON))) == 1


async def test_points_are_marked_by_the_words_of_the_answer(running) -> None:
    async with running(keys=("r",), size=(116, 40)) as lab:
        lab.screen.query_one(Writing).text = FIRST.points[0]
        await lab.press("escape", "enter")
        assert f"● {FIRST.points[0][:30]}" in lab.text
        assert "○" in lab.text and "you decide" in lab.text


async def test_a_reworded_question_says_so_until_it_is_answered(running, in_store) -> None:
    def change(store):
        answer = store.recall.add_answer(LESSON, FIRST.id, "known", "older-hash")
        store.recall.grade(answer.id, "good", NOW - timedelta(days=30))

    in_store(change)
    async with running(keys=("r",)) as lab:
        assert "Changed since you answered it on" in lab.text
        await lab.press("x", "escape", "enter")
        assert "Changed since" not in lab.text


async def test_a_question_that_keeps_being_missed_leads_back_to_its_anchor(running, in_store) -> None:
    def change(store):
        for day in range(3):
            answer = store.recall.add_answer(LESSON, FIRST.id, "?", item_hash(FIRST))
            store.recall.grade(answer.id, "again", NOW - timedelta(days=30 - day))

    in_store(change)
    async with running(keys=("r", "x", "escape", "enter"), size=(116, 40)) as lab:
        assert "You have missed" not in lab.text
        await lab.press("1")
        assert "You have missed this 4 times." in lab.text
        assert "0:34" in lab.text
        await lab.press("u")
        assert "You have missed" not in lab.text


async def test_the_history_of_a_question(running, in_store) -> None:
    graded(in_store, FIRST)
    async with running(keys=("r", "escape", "a", "escape", "left", "escape", "h")) as lab:
        assert "known" in lab.text
        assert "good on 2026-03-02, back on 2026-03-04" in lab.text
        await lab.press("escape")
        assert isinstance(lab.screen, RecallScreen)


async def test_due_from_four_in_the_morning_of_the_day(running, in_store) -> None:
    for item in (FIRST, SECOND, THIRD):
        graded(in_store, item)
    async with running(keys=("r",), now=lambda: datetime(2026, 3, 4, 3, 59, tzinfo=UTC)) as lab:
        assert "Nothing is due. The next question comes back today at 4:00." in lab.text
    async with running(keys=("r",), now=lambda: datetime(2026, 3, 4, 4, 0, tzinfo=UTC)) as lab:
        assert "1 of 3" in lab.title
