from __future__ import annotations

import json
from dataclasses import replace

import pytest

from labtui.errors import LabError
from labtui.made import missing_at_gates
from labtui.predicting import check, check_all, exercise_faults, exercise_of, outcome_words, predict, predicted_in
from labtui.standing import standing_of
from lessons.finding import PACKAGE, find_lesson
from lessons.scaffold import scaffold
from store import Store

LESSON = find_lesson("kv-cache-line")
BY_ID = {one.id: one for one in LESSON.predictions}
HALF = BY_ID["half-the-length"]
LAUNCH = ("vllm", "serve", "model", "--max-model-len", "768", "--kv-cache-memory-bytes", "134217728")


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "labtui.db") as opened:
        yield opened


def launched(store: Store, command: tuple[str, ...] = LAUNCH, checkpoint: str = "practice", times: float = 75.85):
    launch = store.launches.add(checkpoint, "key", command)
    return store.launches.ready(launch.id, 20.0, memory={"max_concurrency": times, "kv_tokens": 58254})


def test_nothing_is_told_before_there_is_a_prediction(store) -> None:
    launched(store)
    assert check(LESSON, HALF, store, recorded=True) == (None, None)
    assert store.progress.notes(LESSON.id) == {}


def test_a_prediction_is_kept_first_and_checked_by_the_launch_that_fits(store) -> None:
    predict(LESSON, HALF, "80.31, twice as many", store)
    kept = predicted_in(store.progress.notes(LESSON.id)["predict/half-the-length"].text)
    assert (kept.value, kept.words, kept.seen) == (80.31, "80.31, twice as many", None)
    launched(store, (*LAUNCH[:4], "1536", *LAUNCH[5:]), times=40.16)
    launched(store, checkpoint="bf16", times=1.0)
    assert check(LESSON, HALF, store)[1] is None
    launched(store)
    predicted, seen = check(LESSON, HALF, store)
    assert (seen.value, seen.own) == (75.85, True)
    assert outcome_words(exercise_of(LESSON, HALF), predicted) == "5.9% too high"
    assert "predict/half-the-length" in standing_of(LESSON, store).done


def test_it_may_be_changed_until_it_was_told_and_not_after(store) -> None:
    predict(LESSON, HALF, "100", store)
    predict(LESSON, HALF, "75.85x", store)
    launched(store)
    assert check(LESSON, HALF, store)[0].value == 75.85
    with pytest.raises(LabError, match="checked already"):
        predict(LESSON, HALF, "76", store)
    assert check(LESSON, HALF, store)[0].value == 75.85


def test_what_was_recorded_is_told_when_it_is_asked_for_and_gives_way_to_an_own_launch(store) -> None:
    predict(LESSON, HALF, "75.85", store)
    assert check(LESSON, HALF, store)[1] is None
    recorded = check(LESSON, HALF, store, recorded=True)[1]
    assert (recorded.value, recorded.own) == (75.85, False)
    launched(store)
    assert check(LESSON, HALF, store)[1].own
    history = [json.loads(note.text)["seen"] for note in reversed(store.progress.note_history(LESSON.id))]
    assert [seen and seen["own"] for seen in history] == [None, False, True]


def test_what_only_a_record_can_show_is_told_at_once(store) -> None:
    prediction = BY_ID["long-requests-on-an-h200"]
    predict(LESSON, prediction, "8.3", store)
    predicted, seen = check(LESSON, prediction, store)
    assert not seen.own
    assert outcome_words(exercise_of(LESSON, prediction), predicted) == "right"


@pytest.mark.parametrize("words", ["", "I do not know", "twice as many"])
def test_without_a_number_nothing_is_kept(store, words) -> None:
    with pytest.raises(LabError, match="no number"):
        predict(LESSON, HALF, words, store)
    assert store.progress.notes(LESSON.id) == {}


def test_the_gate_asks_for_every_one(store) -> None:
    missing = missing_at_gates(LESSON, store)["predicted-then-checked"]
    assert [f"Predict and check: {one.title}" for one in LESSON.predictions] == list(missing)
    for one in LESSON.predictions:
        predict(LESSON, one, "1", store)
        check(LESSON, one, store, recorded=True)
    assert missing_at_gates(LESSON, store)["predicted-then-checked"] == ()


@pytest.mark.parametrize(
    "text", [None, "", "a remark", "{}", '{"piece": "prediction"}', "[1]", '{"piece": "teach-back"}']
)
def test_what_is_no_prediction_is_none(text) -> None:
    assert predicted_in(text) is None


def test_a_lesson_whose_exercise_is_missing_is_named_by_its_line_and_still_opens(store, tmp_path) -> None:
    file = tmp_path / "lesson.toml"
    file.write_text(scaffold("own").replace("kv-cache-line/half-the-length", "kv-cache-line/half-a-length"))
    [fault] = exercise_faults(file)
    assert file.read_text().splitlines()[fault.line - 1].startswith("exercise = ")
    assert "kv-cache-line/half-the-length" in fault.message
    lost = replace(LESSON, predictions=(replace(HALF, exercise="no/such"),))
    predict(lost, lost.predictions[0], "5", store)
    assert check_all(lost, store)[HALF.id].seen is None


def test_every_exercise_of_the_built_in_lessons_is_there() -> None:
    for folder in PACKAGE.glob("*/lesson.toml"):
        assert exercise_faults(folder) == []
