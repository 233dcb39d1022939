from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.errors import ExerciseError
from exercises.records import Chunk
from exercises.speed import speed_of
from exercises.stream import StreamReader


def event(content=None, completion=None, finish=None, prompt=20, **delta) -> str:
    if content is not None:
        delta["content"] = content
    out = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    if completion is not None:
        out["usage"] = {"prompt_tokens": prompt, "completion_tokens": completion}
    return json.dumps(out)


def usage_only(completion, prompt=20) -> str:
    return json.dumps({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})


def read(*events: tuple[float, str]):
    reader = StreamReader()
    for at_s, payload in events:
        reader.feed(payload, at_s)
    return reader.outcome()


def test_the_role_chunk_and_the_usage_at_the_end_are_no_canvases():
    outcome = read(
        (0.5, event("", 0, role="assistant")),
        (0.5, event("one ", 64)),
        (0.9, event("two", 100, "stop")),
        (0.9, usage_only(100)),
        (0.9, "[DONE]"),
    )
    assert outcome.timeline.chunks == (Chunk(0.5, 64, 4), Chunk(0.9, 36, 3))
    assert (outcome.timeline.prompt_tokens, outcome.timeline.completion_tokens) == (20, 100)
    assert (outcome.text, outcome.ended, outcome.finish_reason) == ("one two", "complete", "stop")
    assert outcome.server["usage"] == "continuous"


def test_a_canvas_without_text_counts_its_tokens_and_its_time():
    outcome = read((0.28, event("", 256)), (0.47, event("", 512, "length")), (0.47, "[DONE]"))
    assert [(c.at_s, c.tokens, c.characters) for c in outcome.timeline.chunks] == [(0.28, 256, 0), (0.47, 256, 0)]
    assert outcome.text == ""


def test_an_empty_delta_without_new_tokens_is_nothing():
    outcome = read((0.2, event("a", 64)), (0.3, event("", 64)), (0.4, event("b", 128)), (0.5, "[DONE]"))
    assert [chunk.at_s for chunk in outcome.timeline.chunks] == [0.2, 0.4]


def test_without_continuous_usage_the_tokens_of_a_chunk_are_unknown():
    outcome = read((0.2, event("a")), (0.4, event("b", finish="stop")), (0.4, usage_only(90)), (0.4, "[DONE]"))
    assert [chunk.tokens for chunk in outcome.timeline.chunks] == [None, None]
    assert outcome.timeline.completion_tokens == 90
    assert outcome.server["usage"] == "final only"


def test_without_any_usage_nothing_is_made_up():
    outcome = read((0.2, event("a")), (0.4, event("b", finish="stop")), (0.4, "[DONE]"))
    assert outcome.timeline.completion_tokens is None
    assert outcome.server["usage"] == "none"


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_reasoning_is_delivered_text_of_its_own(key):
    outcome = read((0.2, event(None, 64, **{key: "I think "})), (0.4, event("yes", 70, "stop")), (0.4, "[DONE]"))
    assert (outcome.reasoning, outcome.text) == ("I think ", "yes")
    assert [chunk.characters for chunk in outcome.timeline.chunks] == [8, 3]


def test_an_error_inside_the_stream_breaks_it_in_the_servers_words():
    outcome = read((0.2, event("a", 64)), (0.9, json.dumps({"error": {"message": "engine died"}})), (0.9, "[DONE]"))
    assert (outcome.ended, outcome.error) == ("broken", "engine died")
    assert outcome.timeline.completion_tokens == 64


def test_an_end_without_done_and_without_finish_reason_is_a_break():
    outcome = read((0.2, event("a", 64)))
    assert outcome.ended == "broken"
    assert "broke off" in outcome.error


def test_a_finish_reason_completes_a_stream_whose_done_is_missing():
    assert read((0.2, event("a", 64, "stop"))).ended == "complete"


def test_events_that_are_no_json_are_counted_and_passed_over():
    outcome = read((0.1, "{half"), (0.1, "17"), (0.2, event("a", 64, "stop")), (0.2, "[DONE]"))
    assert outcome.server["unreadable_events"] == 2
    assert outcome.text == "a"


@pytest.mark.parametrize("tokens", [True, -1, "64", 64.5, None, math.nan, [64]])
def test_a_count_that_is_no_count_was_not_said(tokens):
    payload = event("a", tokens) if tokens is not None else event("a")
    assert read((0.2, payload), (0.2, "[DONE]")).timeline.completion_tokens is None


def test_a_count_that_falls_is_kept_and_makes_the_rates_not_measurable():
    outcome = read((0.2, event("a", 64)), (0.4, event("b", 32)), (0.6, event("c", 96, "stop")), (0.6, "[DONE]"))
    assert [chunk.tokens for chunk in outcome.timeline.chunks] == [64, -32, 64]
    assert "ran backwards" in speed_of(outcome.timeline).end_to_end_tps.reason


def test_half_a_character_never_leaves_the_reader():
    outcome = read((0.2, event("x\ud83d", 1)), (0.3, event("\ude00 \udc00", 2, "stop")), (0.3, "[DONE]"))
    assert outcome.text == "x😀 \ufffd"
    outcome.text.encode("utf-8")


@pytest.mark.parametrize("times", [(0.5, 0.4), (math.nan,), (math.inf,), (-1.0,)])
def test_times_that_cannot_be_are_refused(times):
    reader = StreamReader()
    with pytest.raises(ExerciseError, match="cannot be"):
        for at_s in times:
            reader.feed(event("a", 1), at_s)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
near_events = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.one_of(
            json_values,
            st.lists(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "delta": st.one_of(
                            json_values,
                            st.fixed_dictionaries(
                                {}, optional={"content": json_values, "reasoning": json_values, "role": json_values}
                            ),
                        ),
                        "finish_reason": json_values,
                        "index": json_values,
                    },
                ),
                max_size=2,
            ),
        ),
        "usage": st.one_of(
            json_values, st.fixed_dictionaries({"completion_tokens": json_values, "prompt_tokens": json_values})
        ),
        "error": json_values,
        "id": json_values,
    },
).map(json.dumps)


@given(st.lists(st.one_of(near_events, st.text(max_size=20), json_values.map(json.dumps)), max_size=8))
def test_no_event_makes_it_raise(payloads):
    reader = StreamReader()
    for n, payload in enumerate(payloads):
        reader.feed(payload, n * 0.1)
    outcome = reader.outcome()
    speed_of(outcome.timeline)
    (outcome.text + outcome.reasoning).encode("utf-8")
    assert (outcome.error is None) == (outcome.ended == "complete")
