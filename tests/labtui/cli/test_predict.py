from __future__ import annotations

import pytest

from labtui.errors import USAGE
from labtui.serving.state import ServerState
from labtui.serving.status import Status
from labtui.serving.supervisor import Supervisor

LESSON = "kv-cache-line"
LONG = "long-requests-on-an-h200"


def test_the_list_says_how_each_stands(lab) -> None:
    lab("predict", LESSON, LONG, "9.0 since it is long")
    listed = lab("predict", LESSON).stdout
    assert f"{LONG}: Long requests on a large card (9.0% too high)" in listed
    assert "tokens-at-1536: And how many tokens does the same line name? (not predicted yet)" in listed
    assert len(lab.json("predict", LESSON)) == 5


def test_the_question_comes_without_its_answer(lab) -> None:
    asked = lab("predict", LESSON, LONG).stdout
    assert "What is the concurrency?" in " ".join(asked.split())
    assert "8.26" not in asked
    assert lab.json("predict", LESSON, LONG)["seen"] is None


def test_a_number_is_kept_and_judged(lab) -> None:
    result = lab("predict", LESSON, LONG, "8.3", "by", "hand")
    assert "kept" in result.stderr
    assert "Seen: 8.26x (recorded, not yours: vLLM 0.26.0 on an H200, 2026-11-30)" in result.stdout
    assert "So: right" in result.stdout
    assert "How it comes about" in result.stdout
    data = lab.json("predict", LESSON, LONG)
    assert (data["predicted"], data["words"], data["right"]) == (8.3, "8.3 by hand", True)


def test_what_an_own_server_can_show_waits_for_it_or_for_the_record(lab) -> None:
    waiting = lab("predict", LESSON, "half-the-length", "80.31").stdout
    assert "labtui serve start --checkpoint practice --max-model-len 768 --wait" in waiting
    assert "75.85" not in waiting
    assert "75.85x" in lab("predict", LESSON, "half-the-length", "--recorded").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((LESSON, "half-the-lenght"), "half-the-length"),
        ((LESSON, "half-the-length", "I", "think", "80"), "number first"),
        (("diffusiongemma", "one"), "nothing to predict"),
    ],
)
def test_wrong_words_end_with_2_and_say_what_instead(lab, arguments, words) -> None:
    result = lab("predict", *arguments)
    assert result.exit_code == USAGE
    assert words in result.stderr


def test_the_walk_asks_before_it_tells(lab) -> None:
    asked = "80.31, twice 40.16\nrecorded\nquit\n"
    told = lab("study", LESSON, "--plain", "--from", "predict/half-the-length", given=asked).stdout
    before, _, after = told.partition("Saved.")
    assert "75.85" not in before
    assert "Seen: 75.85x" in after
    lab("study", LESSON, "--plain", "--from", "predict/half-the-length", given="unnote\nquit\n")
    again = lab("study", LESSON, "--plain", "--from", "predict/half-the-length", given="quit\n").stdout
    assert "Predicted: 80.31, twice 40.16" in again
    assert '"piece"' not in told + again


def test_a_launch_that_nobody_waited_for_counts(lab, monkeypatch) -> None:
    command = ("vllm", "serve", "m", "--max-model-len", "768", "--kv-cache-memory-bytes", "134217728")
    launch = ServerState("l", "launched", "http://127.0.0.1:1", "m", "practice", True, 1.0, command=command)
    ready = Status("ready", launch_id="l", ready_after_s=20.0, facts={"max_concurrency": 75.85})
    monkeypatch.setattr(Supervisor, "launch", launch)
    monkeypatch.setattr(Supervisor, "status", lambda self, **options: ready)
    told = lab("predict", LESSON, "half-the-length", "75.85").stdout
    assert "75.85x (your launch of 1970-01-01 00:00 UTC)" in told
    assert "So: right" in told


def test_an_empty_line_leaves_it_for_a_server(lab) -> None:
    told = lab("study", LESSON, "--plain", "--from", "predict/half-the-length", given="80.31\n\nquit\n").stdout
    assert "--max-model-len 768 --wait" in told
    assert "75.85" not in told
