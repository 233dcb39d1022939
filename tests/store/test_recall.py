from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.model import RecallItem
from store import Store, StoreError
from store.recall import RATINGS, item_hash

MONDAY = datetime(2026, 11, 30, 21, 15, tzinfo=UTC)
ITEM = RecallItem("tradeoff", "What tradeoff?", "Speed for quality.", ("speed", "quality"))


def answered(store, item="tradeoff", lesson="lesson", text="Speed for quality."):
    return store.recall.add_answer(lesson, item, text, "hash-1")


def test_an_answer_is_kept_before_it_is_graded(store):
    answer = answered(store)
    assert store.recall.answers("lesson") == [answer]
    assert (answer.grade, answer.due_at) == (None, None)
    assert store.recall.schedule() == []


@pytest.mark.parametrize("grade", RATINGS)
def test_a_graded_item_comes_back_on_a_later_day(store, grade):
    graded = store.recall.grade(answered(store).id, grade, MONDAY)
    assert graded.grade == grade and graded.graded_at == MONDAY
    assert graded.due_on is not None and graded.due_at is not None
    assert graded.due_on >= MONDAY.date() + timedelta(days=1)
    assert store.recall.due(graded.due_at - timedelta(seconds=1)) == []
    assert [due.item for due in store.recall.due(graded.due_at)] == ["tradeoff"]


def test_better_grades_come_back_later_and_repetition_lengthens_the_wait(store):
    waits = []
    for grade in RATINGS:
        due = store.recall.grade(answered(store, item=grade).id, grade, MONDAY).due_on
        assert due is not None
        waits.append(due - MONDAY.date())
    assert waits == sorted(waits) and waits[0] < waits[-1]
    first = store.recall.grade(answered(store).id, "good", MONDAY).due_at
    second = store.recall.grade(answered(store).id, "good", first).due_at
    assert second - first > first - MONDAY
    assert [due.due_at for due in store.recall.schedule() if due.item == "tradeoff"] == [second]


def test_the_same_grades_give_the_same_day(store):
    days = {store.recall.grade(answered(store, item=str(n)).id, "easy", MONDAY).due_at for n in range(5)}
    assert len(days) == 1


def test_undo_puts_the_schedule_back_and_keeps_the_history(store):
    before = store.recall.grade(answered(store).id, "good", MONDAY)
    second = answered(store)
    store.recall.grade(second.id, "easy", before.due_at)
    undone = store.recall.undo_grade(second.id)
    assert (undone.grade, undone.due_at) == (None, None)
    assert [due.due_at for due in store.recall.schedule()] == [before.due_at]
    regraded = store.recall.grade(second.id, "hard", before.due_at)
    assert store.recall.schedule()[0].due_at == regraded.due_at
    with store._connection.reading() as db:
        rows = db.execute("SELECT grade, undone_at IS NULL FROM recall_grades ORDER BY id").fetchall()
    assert rows == [("good", 1), ("easy", 0), ("hard", 1)]


def test_undoing_the_only_grade_takes_the_item_off_the_schedule(store):
    answer = answered(store)
    store.recall.grade(answer.id, "good", MONDAY)
    store.recall.undo_grade(answer.id)
    assert store.recall.schedule() == []
    with pytest.raises(StoreError, match="no grade to undo"):
        store.recall.undo_grade(answer.id)


def test_grading_again_replaces_the_grade_as_if_it_had_never_been(store):
    mistyped = answered(store)
    store.recall.grade(mistyped.id, "again", MONDAY)
    corrected = store.recall.grade(mistyped.id, "good", MONDAY)
    other = store.recall.grade(answered(store, item="other").id, "good", MONDAY)
    assert corrected.due_at == other.due_at
    assert len(store.recall.answers("lesson", "tradeoff")) == 1


def test_a_grade_that_a_later_one_builds_on_stays(store):
    first, second = answered(store), answered(store)
    store.recall.grade(first.id, "good", MONDAY)
    store.recall.grade(second.id, "good", MONDAY + timedelta(days=2))
    schedule = store.recall.schedule()
    for change in (lambda: store.recall.undo_grade(first.id), lambda: store.recall.grade(first.id, "easy")):
        with pytest.raises(StoreError, match="later answer") as caught:
            change()
        assert caught.value.exit_code == 2
    assert store.recall.schedule() == schedule


def test_an_unknown_answer_or_grade_is_explained(store):
    for change in (
        lambda: store.recall.grade(99, "good"),
        lambda: store.recall.undo_grade(99),
        lambda: store.recall.grade(answered(store).id, "perfect"),
    ):
        with pytest.raises(StoreError) as caught:
            change()
        assert caught.value.exit_code == 2


def test_the_clock_of_the_person_is_kept_beside_utc(store, in_zone):
    in_zone("Asia/Kathmandu")
    graded = store.recall.grade(answered(store).id, "good", MONDAY)
    assert graded.utc_offset_s == (5 * 60 + 45) * 60
    assert graded.graded_at == MONDAY


def test_a_moment_of_any_zone_is_the_same_moment(store):
    here = store.recall.grade(answered(store).id, "good", MONDAY)
    there = store.recall.grade(
        answered(store, item="other").id, "good", MONDAY.astimezone(timezone(timedelta(hours=-9)))
    )
    assert here.due_at == there.due_at


def test_lessons_and_items_do_not_mix(store):
    store.recall.grade(answered(store).id, "good", MONDAY)
    store.recall.grade(answered(store, lesson="second").id, "again", MONDAY)
    later = answered(store, text="Better.")
    assert [due.lesson for due in store.recall.schedule()] == ["second", "lesson"]
    assert [due.lesson for due in store.recall.due(MONDAY + timedelta(days=400), "second")] == ["second"]
    assert store.recall.latest("lesson") == {"tradeoff": later}
    assert [answer.answer for answer in store.recall.answers("lesson", "tradeoff")] == ["Better.", "Speed for quality."]


def test_the_hash_tells_a_reworded_item_from_a_rewrapped_one():
    assert item_hash(replace(ITEM, answer="Speed for\n  quality.")) == item_hash(ITEM)
    assert item_hash(replace(ITEM, id="renamed", anchors=("a",))) == item_hash(ITEM)
    assert item_hash(replace(ITEM, answer="Speed for quality!")) != item_hash(ITEM)
    assert item_hash(replace(ITEM, points=("speed",))) != item_hash(ITEM)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("recall") / "labtui.db") as store:
        yield store


@given(data=st.lists(st.tuples(st.sampled_from(list(RATINGS)), st.integers(0, 60)), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
def test_any_row_of_grades_can_be_undone_one_by_one(shared_store, data):
    item = f"item-{shared_store.recall.add_answer('count', 'x', '', '').id}"
    moment, stages = MONDAY, []
    for grade, days in data:
        moment += timedelta(days=days)
        answer = answered(shared_store, item=item)
        stages.append((answer.id, [due for due in shared_store.recall.schedule() if due.item == item]))
        assert shared_store.recall.grade(answer.id, grade, moment).due_at > moment
    for answer_id, schedule in reversed(stages):
        shared_store.recall.undo_grade(answer_id)
        assert [due for due in shared_store.recall.schedule() if due.item == item] == schedule


@given(text=st.text())
@settings(max_examples=40, deadline=None)
def test_any_answer_comes_back_as_it_was_typed(shared_store, text):
    answer = shared_store.recall.add_answer("texts", "item", text, "hash")
    assert answer.answer == text
    assert shared_store.recall.latest("texts")["item"] == answer


def test_opening_again_gives_the_same_answers(tmp_path):
    with Store.open(tmp_path / "labtui.db") as store:
        graded = store.recall.grade(answered(store).id, "good", MONDAY)
        schedule = store.recall.schedule()
    with Store.open(tmp_path / "labtui.db") as store:
        assert store.recall.answers("lesson") == [graded]
        assert store.recall.schedule() == schedule
