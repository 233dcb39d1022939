"""`labtui measure` on recorded streams gives what a reader computes by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labtui.errors import FAILED, USAGE

STREAMS = Path(__file__).parents[2] / "fixtures" / "vllm-cpu-0.32" / "streams"
TIMELINES = Path(__file__).parents[2] / "fixtures" / "vllm-cuda-0.26"


def event(at_s: float, tokens: int, text: str = "some words ", finish: str | None = None) -> str:
    data = {
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 20, "completion_tokens": tokens, "total_tokens": 20 + tokens},
    }
    return f"[{at_s:7.3f}] data: {json.dumps(data)}\n"


@pytest.fixture
def case_a(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text(event(0.9, 180, finish="stop") + "[  0.900] data: [DONE]\n")
    return path


@pytest.fixture
def case_b(tmp_path: Path) -> Path:
    path = tmp_path / "b.txt"
    path.write_text(event(1.0, 256) + event(1.5, 512) + event(2.0, 700, finish="stop") + "[  2.000] data: [DONE]\n")
    return path


def test_one_canvas_has_an_end_to_end_rate_and_no_other(lab, case_a) -> None:
    speed = lab.json("measure", str(case_a))["speed"]
    assert speed["end_to_end_tps"] == pytest.approx(200)
    assert speed["after_first_canvas_tps"] is None
    assert speed["after_first_canvas_reason"] == "one canvas"
    assert "not measurable: one canvas" in lab("measure", str(case_a)).stdout


def test_three_canvases_leave_the_first_one_out_of_the_rate_after_it(lab, case_b) -> None:
    speed = lab.json("measure", str(case_b))["speed"]
    assert speed["end_to_end_tps"] == pytest.approx(350)
    assert speed["first_canvas_s"] == pytest.approx(1.0)
    assert speed["after_first_canvas_tps"] == pytest.approx(444)
    assert speed["canvases"] == 3


def test_a_recorded_stream_of_the_real_vllm(lab) -> None:
    """Four canvases, read by hand from the file: the first content at 0.871 s with 64 tokens, the last one of 200."""
    run = lab.json("measure", str(STREAMS / "sse_text_200_over_canvas.txt"))
    (first_at, first_tokens), *_, (last_at, _) = run["chunks"]
    assert (first_at, first_tokens) == (0.871, 64)
    assert run["practice"] is True
    speed = run["speed"]
    assert speed["completion_tokens"] == 200
    assert speed["end_to_end_tps"] == pytest.approx(200 / last_at)
    assert speed["after_first_canvas_tps"] == pytest.approx((200 - 64) / (last_at - 0.871))


@pytest.mark.parametrize("name", sorted(path.name for path in STREAMS.glob("*.txt")))
def test_every_recorded_stream_is_measured_or_explained(lab, name: str) -> None:
    result = lab("measure", str(STREAMS / name), "--json")
    data = json.loads(result.stdout)
    if "error" in data:
        assert result.exit_code == USAGE
        return
    assert result.exit_code == (0 if data["valid"] else FAILED)
    for key in ("end_to_end_tps", "after_first_canvas_tps"):
        value = data["speed"][key]
        assert value is None or 0 < value < 1e6


def test_times_that_are_too_good_without_text_are_not_valid(lab) -> None:
    result = lab("measure", str(TIMELINES / "timelines-degenerate-empty-text.json"))
    assert result.exit_code == FAILED
    assert "NOT VALID: the text is empty" in result.stdout


def test_several_runs_in_one_file_are_a_list(lab) -> None:
    data = json.loads(lab("measure", str(TIMELINES / "timelines-bf16.json"), "--json").stdout)
    assert len(data["runs"]) > 1


def test_a_run_that_was_shown_as_json_is_measured_again(lab, keep_run, tmp_path) -> None:
    path = tmp_path / "run.json"
    path.write_text(lab("show", keep_run().id, "--json").stdout)
    assert lab.json("measure", str(path))["speed"]["end_to_end_tps"] == 350


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"hello", b"{", b"[]", b'{"a": 1}', b"[ 1.0] data: {"])
def test_a_file_that_is_no_trace_is_explained(lab, tmp_path, content: bytes) -> None:
    path = tmp_path / "trace"
    path.write_bytes(content)
    result = lab("measure", str(path))
    assert result.exit_code in (FAILED, USAGE)
    assert "Traceback" not in result.output
    assert "fault in labtui" not in result.output


def test_a_file_that_is_not_there_is_a_usage_error(lab, tmp_path) -> None:
    assert lab("measure", str(tmp_path / "none")).exit_code == USAGE
    assert lab("measure", str(tmp_path)).exit_code == USAGE
