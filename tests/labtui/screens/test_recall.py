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
