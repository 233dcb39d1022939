"""The main job by commands, against the real vLLM: serve, run both tasks, judge, recall, export, find it all again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from exercises.run_json import recompute, run_from_json
from lessons.finding import find_lesson

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

TRIES = 4
"""Sampling is random and cannot be seeded: an answer may be wrong. Wrong this often in a row is a fault."""


def run_until_right(lab, task: str) -> dict[str, Any]:
    for _ in range(TRIES):
        done = lab("run", task, "--json")
        run = json.loads(done.stdout)
        assert run["valid"], run["invalid_reason"]
        assert done.returncode == (0 if run["check"]["passed"] else 1)
        if run["check"]["passed"]:
            return run
    pytest.fail(f"{task}: no right answer in {TRIES} runs, the last: {run['output']}")


def test_the_server_is_ready_and_says_what_it_serves(real_lab) -> None:
    started = real_lab.started
    assert started["state"] == "ready"
    assert (started["checkpoint"], started["practice"]) == ("practice", True)
    assert started["url"].startswith("http://127.0.0.1:")
    assert started["ready_after_s"] > 0
    again = real_lab.json("serve", "start", "--checkpoint", "practice", "--wait")
    assert again["pid"] == started["pid"]


def test_the_whole_job(real_lab, tmp_path) -> None:
    coding, vision = run_until_right(real_lab, "coding"), run_until_right(real_lab, "vision")
    for run in (coding, vision):
        assert run["practice"] is True
        assert run["speed"]["end_to_end_tps"] > 0
        assert run["chunks"]
        assert run["evidence"]["server"]["vllm_version"] == "0.32.0"
        assert 0 < run["speed"]["steps_per_canvas"] <= 48
    assert vision["evidence"]["images"]

    assert real_lab("verdict", "diffusiongemma", "Fast enough for drafts; I would check every answer.").returncode == 0
    verdict = real_lab.json("verdict", "diffusiongemma")
    assert set(verdict["runs"]) == {coding["id"], vision["id"]}

    lesson = find_lesson("diffusiongemma")
    answers = "".join(f"answer {item.id}\ngood\n" for item in lesson.recall)
    assert real_lab("recall", "diffusiongemma", "--plain", given=answers).returncode == 0

    to = tmp_path / "export"
    done = real_lab("export", "diffusiongemma", "--format", "md,json", "--to", str(to))
    assert done.returncode == 0, done.stderr
    markdown, document = [Path(line) for line in done.stdout.splitlines()]
    text = markdown.read_text()
    assert "Practice" in text
    assert "Fast enough for drafts" in text
    for item in lesson.recall:
        assert f"answer {item.id}" in text
    exported = {run["id"]: run for run in find_runs(json.loads(document.read_text()))}
    for run in (coding, vision):
        assert exported[run["id"]]["speed"] == run["speed"]
        assert recompute(run_from_json(run)).speed == run_from_json(run).speed
        assert real_lab("show", run["id"], "--recompute").returncode == 0

    # Found again, by processes that share nothing with the ones above but the disk.
    assert {coding["id"], vision["id"]} <= {run["id"] for run in real_lab.json("runs")}
    assert real_lab.json("next")["kind"] in ("read", "gate")


def find_runs(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, dict):
        here = [document] if {"id", "speed", "chunks"} <= set(document) else []
        return here + [run for value in document.values() for run in find_runs(value)]
    return [run for value in document for run in find_runs(value)] if isinstance(document, list) else []


def test_a_trial_has_a_median_and_a_spread_and_warm_ups_do_not_count(real_lab) -> None:
    trial = real_lab.json("run", "coding", "--runs", "3", "--warmup", "1", code=None)
    assert [run["warmup"] for run in trial["runs"]] == [True, False, False, False]
    assert trial["summary"]["counted"] + trial["summary"]["invalid"] == 3
    spread = trial["summary"]["values"]["end_to_end_tps"]
    assert spread["lowest"] <= spread["median"] <= spread["highest"]
    assert {run["trial"] for run in trial["runs"]} == {trial["trial"]}


def test_the_key_is_in_no_command_line_log_store_or_export(real_lab, tmp_path) -> None:
    state = json.loads(next((real_lab.home / "state").rglob("server.json")).read_text())
    key = state["api_key"]
    assert len(key) >= 20
    real_lab("export", "diffusiongemma", "--format", "md,json", "--to", str(tmp_path))
    places = [*(real_lab.home / "data").rglob("*"), *(real_lab.home / "state").rglob("*.log"), *tmp_path.rglob("*")]
    looked = [path for path in places if path.is_file()]
    assert any(path.suffix == ".db" for path in looked)
    assert any(path.suffix == ".log" for path in looked)
    for path in looked:
        assert key.encode() not in path.read_bytes(), path
    assert key not in Path(f"/proc/{real_lab.started['pid']}/cmdline").read_text()


def test_practice_is_not_asked_the_grounded_prompt_also_not_at_a_plain_address(real_lab, tmp_path) -> None:
    """From another home nothing is known of the server but its address and its key: it is told by what it serves."""
    refused = real_lab.json("lesson", "ask", "diffusiongemma", code=2)
    assert "practice checkpoint" in refused["error"]["title"]
    key = json.loads(next((real_lab.home / "state").rglob("server.json")).read_text())["api_key"]
    elsewhere = {**real_lab.environment, "XDG_STATE_HOME": str(tmp_path), "LABTUI_API_KEY": key}
    stranger = type(real_lab)(real_lab.home, elsewhere)
    refused = stranger.json("lesson", "ask", "diffusiongemma", "--url", real_lab.started["url"], code=2)
    assert "practice checkpoint" in refused["error"]["title"]
    del elsewhere["LABTUI_API_KEY"]
    without_key = stranger.json("lesson", "ask", "diffusiongemma", "--url", real_lab.started["url"], code=2)
    assert without_key["error"]["title"] == "The server wants an API key"
    assert real_lab.json("lesson", "answers", "diffusiongemma") == []


def start_long_trial(lab) -> tuple[subprocess.Popen[str], list[str]]:
    """A trial that is in the middle of its runs, and the ids of those that it has said were kept."""
    process = subprocess.Popen(
        [sys.executable, "-m", "labtui", "run", "coding", "--runs", "500", "--warmup", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=lab.environment,
    )
    kept: list[str] = []
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.match(r"run ([\w-]+): ", line):
            kept.append(found.group(1))
        if len(kept) == 2:
            return process, kept
    pytest.fail("the trial ended before two runs were kept")


def test_after_kill_9_in_a_run_the_server_answers_and_what_was_kept_is_there(real_lab) -> None:
    process, kept = start_long_trial(real_lab)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    status = real_lab.json("serve", "status")
    assert (status["state"], status["pid"]) == ("ready", real_lab.started["pid"])
    for run_id in kept:
        assert real_lab.json("show", run_id)["id"] == run_id
    assert "no damage" in real_lab("store", "check").stdout
    assert real_lab.json("run", "vision", code=None)["valid"] is True


def test_ctrl_c_in_a_trial_keeps_what_finished_and_ends_with_130(real_lab) -> None:
    process, kept = start_long_trial(real_lab)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    for run_id in kept:
        assert run_id in stdout
        assert real_lab.json("show", run_id)["valid"] is True
    assert real_lab.json("serve", "status")["state"] == "ready"


def test_quiet_says_nothing_but_the_data(real_lab) -> None:
    done = real_lab("run", "coding", "--quiet", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["practice"] is True


def test_the_log_is_there_and_safe_to_print(real_lab) -> None:
    logs = real_lab("serve", "logs", "-n", "500").stdout
    assert "Application startup complete" in logs
    assert "\x1b" not in logs


def test_a_run_on_a_terminal_shows_its_progress_and_leaves_the_result(real_lab) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "labtui", "run", "coding", "--warmup", "0"],
        env=real_lab.environment,
        encoding="utf-8",
        dimensions=(40, 100),
        timeout=60,
    )
    child.expect(r"run 1 of 1")
    child.expect(r"run [\w-]+: ")
    child.expect("practice checkpoint")
    child.expect("end to end")
    child.expect("answer")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus in (0, 1)
