from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.errors import ExerciseError
from exercises.records import Check, Chunk, CounterWindow, Fact, NotMeasurable, Run, Timeline
from exercises.run_json import recompute, run_from_json, run_to_json
from exercises.speed import speed_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
times = st.floats(0.001, 100)
counts = st.one_of(st.none(), st.integers(0, 10**6))
values = st.floats(0, 1e9)
timelines = st.builds(
    Timeline,
    st.lists(st.builds(Chunk, times, counts, st.integers(0, 1000)), max_size=5).map(tuple),
    counts,
    counts,
    st.one_of(st.builds(NotMeasurable, texts), st.builds(CounterWindow, values, values, values, values)),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def runs(draw) -> Run:
    timeline = draw(timelines)
    valid = draw(st.booleans())
    return Run(
        id=draw(texts),
        task=draw(texts),
        task_set=draw(texts),
        checkpoint=draw(texts),
        practice=draw(st.booleans()),
        started_at=draw(texts),
        valid=valid,
        invalid_reason=None if valid else draw(texts),
        timeline=timeline,
        speed=speed_of(timeline),
        check=Check(
            draw(st.booleans()), tuple(draw(st.lists(st.builds(Fact, texts, st.booleans(), texts), max_size=3)))
        ),
        output=draw(texts),
        reasoning=draw(texts),
        warmup=draw(st.booleans()),
        trial=draw(st.one_of(st.none(), texts)),
        evidence=draw(st.dictionaries(texts, json_values, max_size=3)),
    )


@given(runs())
def test_a_run_comes_back_as_it_was(run):
    text = json.dumps(run_to_json(run), allow_nan=False)
    assert run_from_json(json.loads(text)) == run


@given(runs())
def test_a_run_computed_again_has_the_same_numbers(run):
    assert recompute(run_from_json(json.loads(json.dumps(run_to_json(run))))) == run


EXAMPLE = Run(
    id="1",
    task="coding",
    task_set="practice",
    checkpoint="practice",
    practice=True,
    started_at="2026-11-30T20:00:00.000+00:00",
    valid=True,
    invalid_reason=None,
    timeline=Timeline((Chunk(0.9, 180, 700),), 20, 180),
    speed=speed_of(Timeline((Chunk(0.9, 180, 700),), 20, 180)),
    check=Check(True, (Fact("parses as XML", True),)),
    output="<svg/>",
    evidence={"seed": 7},
)


def test_the_shape_that_others_read():
    data = run_to_json(EXAMPLE)
    assert data["chunks"] == [[0.9, 180]]
    assert data["check"] == {"passed": True, "facts": [{"name": "parses as XML", "passed": True, "detail": ""}]}
    assert data["speed"]["end_to_end_tps"] == pytest.approx(200)
    assert data["speed"]["after_first_canvas_tps"] is None
    assert data["speed"]["after_first_canvas_reason"] == "one canvas"
    assert {"id", "task", "checkpoint", "practice", "valid", "invalid_reason", "evidence"} <= set(data)
    assert set(data["definitions"]) <= set(data["speed"])


def test_a_changed_number_does_not_survive_computing_it_again():
    boast = replace(EXAMPLE, speed=replace(EXAMPLE.speed, end_to_end_tps=1100.0))
    assert recompute(boast) == EXAMPLE


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": 7}, "id must be a text"),
        ({"valid": "yes"}, "valid must be true or false"),
        ({"chunks": [[0.5]]}, ""),
        ({"chunks": [["soon", 4]]}, "no number of seconds"),
        ({"chunks": [[0.5, "many"]]}, "no number of tokens"),
        ({"chunks": []}, "differ in length"),
        ({"chunks": None}, ""),
        ({"speed": {}}, "is missing"),
        ({"check": []}, ""),
        ({"counters": {"forwards": 1}}, ""),
        ({"counters": {"else": 1}}, ""),
        ({"format_version": 99}, "format_version 99"),
        ({"evidence": 5}, ""),
    ],
)
def test_what_is_no_run_says_why(change, words):
    with pytest.raises(ExerciseError) as fault:
        run_from_json({**run_to_json(EXAMPLE), **change})
    assert words in fault.value.cause
    assert fault.value.exit_code == 2


def test_every_key_is_needed():
    data = run_to_json(EXAMPLE)
    derived = {"doubt", "memory_floor_s", "memory_floor_reason"}
    for key in set(data) - {"format_version", "definitions"} - derived:
        with pytest.raises(ExerciseError):
            run_from_json({name: value for name, value in data.items() if name != key})
