"""lesson prompt, ask, check-answer and answers, as typed."""

from __future__ import annotations

import pytest

from labtui.errors import DONE, FAILED, NO_SERVER, USAGE
from lessons.finding import find_lesson
from lessons.prompt import grounded_prompt
from tests.fakes.vllm_stream import MODEL, Canvas, FakeVllm, Script

LESSON = "diffusiongemma"
GOOD = "## Learning transfer\nI measure.\n\n## Source check\n- Speed is a claim (0:34)\n"
BAD = "## Source check\n- Speed is a claim (0:35)\n"


@pytest.fixture(autouse=True)
def no_key(monkeypatch) -> None:
    monkeypatch.delenv("LABTUI_API_KEY", raising=False)


def answering(text: str) -> FakeVllm:
    return FakeVllm(Script((Canvas(0.0, 20, text),)))


def test_the_prompt_is_printed_as_it_is(lab) -> None:
    assert lab("lesson", "prompt", LESSON).stdout == grounded_prompt(find_lesson(LESSON))


def test_an_answer_is_asked_for_checked_kept_and_listed(lab) -> None:
    with answering(BAD) as fake:
        asked = lab("lesson", "ask", LESSON, "--url", fake.url)
    assert asked.exit_code == FAILED
    rows = asked.stdout.splitlines()
    line = rows.index("✗ - Speed is a claim (0:35)")
    assert rows[line + 1].startswith("  ↳ 0:35 is no anchor of this lesson; the nearest is 0:34")
    assert rows[0] == "↳ The section “Learning transfer” is missing."
    assert "2 faults" in asked.stderr and f"{MODEL} at {fake.url}" in asked.stderr
    (listed,) = lab.json("lesson", "answers", LESSON)
    assert (listed["text"], listed["model"], listed["ended"]) == (BAD, MODEL, "complete")
    assert [fault["rule"] for fault in listed["faults"]] == ["section", "citation"]
    again = lab.json("lesson", "check-answer", LESSON, code=FAILED)
    assert (again["answer"], again["faults"]) == (listed["answer"], listed["faults"])
    assert "2 faults" in lab("lesson", "answers", LESSON).stdout


def test_an_answer_without_a_fault_is_success(lab) -> None:
    with answering(GOOD) as fake:
        data = lab.json("lesson", "ask", LESSON, "--url", fake.url, code=DONE)
    assert data["faults"] == [] and data["text"] == GOOD


def test_an_answer_that_was_cut_off_is_not_success(lab) -> None:
    with FakeVllm(Script((Canvas(0.0, 20, GOOD),), finish_reason="length")) as fake:
        asked = lab("lesson", "ask", LESSON, "--url", fake.url)
    assert asked.exit_code == FAILED
    assert "Cut off: its limit of tokens was used up." in asked.stderr


def test_a_file_and_stdin_are_checked_and_not_kept(lab, tmp_path) -> None:
    (tmp_path / "answer.md").write_text(BAD)
    assert lab("lesson", "check-answer", LESSON, str(tmp_path / "answer.md")).exit_code == FAILED
    assert lab("lesson", "check-answer", LESSON, "-", given=GOOD).exit_code == DONE
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    assert lab("lesson", "check-answer", LESSON, str(tmp_path / "bytes")).exit_code == USAGE
    assert lab("lesson", "check-answer", LESSON).exit_code == USAGE
    assert lab.json("lesson", "answers", LESSON) == []


def test_one_can_be_shown_discarded_and_brought_back(lab) -> None:
    with answering(GOOD) as fake:
        answer = lab.json("lesson", "ask", LESSON, "--url", fake.url)["answer"]
    assert lab("lesson", "answers", LESSON, "--show", answer[-3:]).stdout == f"{GOOD}\n"
    gone = lab("lesson", "answers", LESSON, "--discard", answer)
    assert f"--restore {answer}" in gone.stderr and gone.stdout == ""
    assert [one["answer"] for one in lab.json("lesson", "answers", LESSON, "--discarded")] == [answer]
    assert answer in lab("lesson", "answers", LESSON, "--restore", answer).stdout
    assert lab("lesson", "answers", LESSON, "--discard", "zzz").exit_code == USAGE
    assert lab("lesson", "answers", LESSON, "--show", answer, "--discarded").exit_code == USAGE


def test_faults_of_the_way_there_have_their_exit_codes(lab) -> None:
    assert lab("lesson", "ask", LESSON).exit_code == NO_SERVER
    assert lab("lesson", "ask", LESSON, "--url", "http://127.0.0.1:9").exit_code == NO_SERVER
    with FakeVllm(models=("practice",)) as fake:
        refused = lab("lesson", "ask", LESSON, "--url", fake.url)
    assert refused.exit_code == USAGE and "practice checkpoint" in refused.stderr
    with FakeVllm(api_key="x") as fake:
        assert "wants an API key" in lab("lesson", "ask", LESSON, "--url", fake.url).stderr


def test_control_bytes_of_an_answer_do_not_reach_the_terminal(lab) -> None:
    with answering("The video \x1b]0;owned\x07 says 5\n") as fake:
        asked = lab("lesson", "ask", LESSON, "--url", fake.url)
    assert "owned" in asked.stdout
    assert not {"\x1b", "\x07"} & set(asked.stdout + asked.stderr)
