"""Whole runs against a real HTTP server of a known timeline."""

from __future__ import annotations

import json
import re
import socket
import threading
import time

import pytest

from exercises import running, server_pages
from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.records import Check, NotMeasurable
from exercises.run_json import recompute, run_from_json, run_to_json
from exercises.running import ChunkArrived, RunFinished, RunStarted, ServerBusy, run_task, run_trial
from exercises.tasks import Task, Variant, find_task, task_set_for
from exercises.trial import Spread, summarise, summary_to_json
from tests.fakes.vllm_stream import MODEL, Canvas, FakeVllm, Script

CIRCLE = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="4" fill="red"/></svg>'
GOOD = Script((Canvas(0.05, 256, CIRCLE[:20]), Canvas(0.1, 200, CIRCLE[20:])))
TASK = Task(
    id="coding",
    set_id="mine",
    kind="coding",
    title="A circle",
    body="Ask for a circle.",
    max_tokens=512,
    practice=True,
    checker_type="svg",
    variants=(Variant("Write an SVG of a red circle.", {"elements": ["circle"], "fill": "red"}),),
)


def endpoint(server: FakeVllm, **changes) -> Endpoint:
    known = {"base_url": server.url, "api_key": None, "model": MODEL, "checkpoint": "practice", "practice": True}
    return Endpoint(**{**known, **changes})


def run(server: FakeVllm, task: Task = TASK, **more):
    return run_task(task, endpoint(server), seed=7, **more)


def test_a_run_has_its_numbers_its_check_and_its_evidence():
    with FakeVllm(GOOD) as server:
        there = endpoint(server, api_key="sk-1", evidence={"command": ["vllm", "serve"], "gpu": "none"})
        done = run_task(TASK, there, seed=7)
    assert done.valid and done.check.passed and done.practice
    assert (done.task, done.task_set, done.checkpoint, done.output) == ("coding", "mine", "practice", CIRCLE)
    assert [chunk.tokens for chunk in done.timeline.chunks] == [256, 200]
    assert done.speed.steps_per_canvas == 16
    assert done.speed.canvas_fill == 456 / 512
    evidence = done.evidence
    assert (evidence["command"], evidence["gpu"]) == (["vllm", "serve"], "none")
    assert (evidence["prompt"], evidence["seed"], evidence["max_tokens"]) == (TASK.variants[0].prompt, 7, 512)
    assert (evidence["finish_reason"], evidence["ended"]) == ("stop", "complete")
    assert evidence["server"]["vllm_version"] == "0.32.0"
    assert evidence["counters"]["after"]["generation_tokens"] == 456
    assert evidence["prefix_cache"]["state"] == "cold"
    assert evidence["traffic"] == {"state": "alone", "reason": None}
    assert evidence["thinking"] == {"state": "off", "source": "the chat template's default"}
    assert evidence["streams"] == 1
    assert [float(line[1 : line.index("]")]) for line in evidence["raw"]["lines"]] == sorted(
        float(line[1 : line.index("]")]) for line in evidence["raw"]["lines"]
    )
    assert evidence["raw"]["lines"][-1].endswith("data: [DONE]") and not evidence["raw"]["cut"]
    assert re.fullmatch(r"20\d\d-.*T.*\+00:00", done.started_at)


def test_a_run_survives_json_with_the_same_numbers():
    with FakeVllm(GOOD) as server:
        done = run(server)
    text = json.dumps(run_to_json(done), allow_nan=False)
    assert run_from_json(json.loads(text)) == done
    assert recompute(done) == done


def test_events_come_in_order_and_in_the_calling_thread():
    events = []
    with FakeVllm(GOOD) as server:
        done = run(server, on_event=lambda event: events.append((threading.get_ident(), event)))
    assert {thread for thread, _ in events} == {threading.get_ident()}
    kinds = [type(event) for _, event in events]
    assert kinds == [RunStarted, ChunkArrived, ChunkArrived, RunFinished]
    started, first, second, finished = [event for _, event in events]
    assert started.prepared.prompt_text == TASK.variants[0].prompt
    assert (first.canvas, first.completion_tokens, first.text) == (1, 256, CIRCLE[:20])
    assert (second.canvas, second.completion_tokens) == (2, 456)
    assert finished.run == done
    assert {event.run_id for _, event in events if not isinstance(event, RunFinished)} == {done.id}


def test_text_that_is_empty_is_invalid_whatever_its_speed():
    with FakeVllm(Script((Canvas(0.02, 256, ""), Canvas(0.04, 256, "")))) as server:
        done = run(server)
    assert (done.valid, done.invalid_reason) == (False, "the text is empty")
    assert done.speed.end_to_end_tps > 1000
    assert not done.check.passed


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (Script(GOOD.canvases, break_off_at_s=0.12), "broke off"),
        (Script(GOOD.canvases, error_at_s=0.12), "EngineCore encountered an issue"),
        (Script(refuse_in_stream="temperature is not supported"), "temperature is not supported"),
    ],
)
def test_a_run_that_broke_off_is_kept_and_invalid(script, reason):
    events = []
    with FakeVllm(script) as server:
        done = run(server, on_event=events.append)
    assert not done.valid
    assert reason in done.invalid_reason
    assert not done.check.passed
    assert isinstance(done.speed.steps_per_canvas, NotMeasurable)
    assert isinstance(events[-1], RunFinished)


def test_a_cancelled_run_keeps_what_came():
    cancel = threading.Event()
    with FakeVllm(Script(GOOD.canvases, hang=True)) as server:
        done = run(
            server, cancel=cancel, on_event=lambda e: isinstance(e, ChunkArrived) and e.canvas == 2 and cancel.set()
        )
    assert done.invalid_reason == "cancelled before the answer was complete"
    assert done.output == CIRCLE
    assert done.evidence["ended"] == "cancelled"


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (FakeVllm(GOOD, other_tokens=64), "other traffic: the server delivered 520 tokens in the window, 456 of them"),
        (FakeVllm(GOOD, metrics="plain"), "no diffusion counters"),
        (FakeVllm(GOOD, metrics="none"), "HTTP 404"),
        (FakeVllm(GOOD, metrics="garbage"), "not in the Prometheus text format"),
    ],
)
def test_counters_that_cannot_be_trusted_leave_the_run_valid(server, reason):
    with server:
        done = run(server)
    assert done.valid and done.check.passed
    assert done.speed.end_to_end_tps > 0
    assert reason in done.speed.steps_per_canvas.reason
    assert done.speed.canvas_fill == done.speed.steps_per_canvas


def test_counters_that_follow_late_are_waited_for():
    with FakeVllm(GOOD, counters_lag_s=0.4) as server:
        assert run(server).speed.steps_per_canvas == 16


def test_a_busy_server_is_told_waited_for_and_named(monkeypatch):
    monkeypatch.setattr(server_pages, "LONGEST_WAIT_FOR_IDLE_S", 0.1)
    monkeypatch.setattr(server_pages, "LONGEST_WAIT_FOR_COUNTERS_S", 0.1)
    events = []
    with FakeVllm(GOOD, busy=2) as server:
        done = run(server, on_event=events.append)
    assert ServerBusy(done.id, 2) in events
    assert "2 running" in done.speed.steps_per_canvas.reason
    assert done.valid


def test_cancel_ends_the_wait_for_an_idle_server():
    cancel = threading.Event()
    with FakeVllm(GOOD, busy=1) as server:
        began = time.monotonic()
        done = run(server, cancel=cancel, on_event=lambda event: cancel.set())
        assert time.monotonic() - began < 5
    assert done.invalid_reason.startswith("cancelled")


def test_no_server_raises_and_makes_no_run():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    events = []
    with pytest.raises(ExerciseError) as fault:
        run_task(TASK, Endpoint(f"http://127.0.0.1:{port}", None, MODEL, "x", False), seed=1, on_event=events.append)
    assert fault.value.exit_code == 3
    assert not any(isinstance(event, RunFinished) for event in events)


def test_a_checker_that_breaks_its_promise_loses_no_run(monkeypatch):
    def stumble(answer: str) -> Check:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("exercises.tasks.read_checker", lambda *args: stumble)
    with FakeVllm(GOOD) as server:
        done = run(server)
    assert done.valid and not done.check.passed
    assert "oops" in done.check.facts[0].detail


def test_the_key_is_in_nothing_that_is_kept():
    with FakeVllm(Script(refuse_in_stream="key sk-very-secret is bad"), api_key="sk-very-secret") as server:
        there = endpoint(server, api_key="sk-very-secret", evidence={"env": {"A": ["x sk-very-secret"]}})
        done = run_task(TASK, there, seed=1)
    assert "sk-very-secret" not in json.dumps(run_to_json(done))
    assert "[api key]" in done.invalid_reason


def test_a_picture_is_kept_by_its_hash_and_not_sent_to_the_record():
    task = find_task("vision", task_set_for("practice", True))
    with FakeVllm(Script((Canvas(0.05, 9, "Yes, it does."),))) as server:
        done = run(server, task)
        sent = server.bodies[0]["messages"][0]["content"][0]["image_url"]["url"]
    (picture,) = done.evidence["images"]
    assert len(picture["sha256"]) == 64 and picture["bytes"] > 1000
    assert sent.startswith("data:image/png;base64,")
    assert "base64" not in json.dumps(done.evidence)
    assert done.check.passed is done.evidence["prepared"]["picture"]["passes"]


class TestTrial:
    def test_warm_ups_are_kept_and_left_out_of_the_summary(self):
        slow = Script((Canvas(0.4, 456, CIRCLE),))
        with FakeVllm(GOOD, scripts={0: slow}) as server:
            trial = run_trial(TASK, endpoint(server), runs=3, warmup=1, seed=10)
        assert [done.warmup for done in trial.runs] == [True, False, False, False]
        assert {done.trial for done in trial.runs} == {trial.id}
        assert [done.evidence["seed"] for done in trial.runs] == [13, 10, 11, 12]
        assert (trial.asked, trial.cancelled, trial.error) == (3, False, None)
        rates = sorted(done.speed.end_to_end_tps for done in trial.runs[1:])
        assert trial.summary.values["end_to_end_tps"] == Spread(
            3, rates[1], rates[0], rates[2], NotMeasurable("too few runs for an interval: 3, it needs 6")
        )
        assert (trial.summary.counted, trial.summary.invalid, trial.summary.passed) == (3, 0, 3)

    @pytest.mark.parametrize(("warmup", "seeds"), [(0, []), (1, [12]), (2, [12, 12]), (4, [12, 13, 14, 12])])
    def test_the_last_of_several_warm_ups_asks_again_what_the_first_asked(self, warmup, seeds):
        with FakeVllm(GOOD) as server:
            trial = run_trial(TASK, endpoint(server), runs=2, warmup=warmup, seed=10)
        assert [done.evidence["seed"] for done in trial.runs] == [*seeds, 10, 11]

    def test_events_say_which_run_of_how_many(self):
        events = []
        with FakeVllm(GOOD) as server:
            run_trial(TASK, endpoint(server), runs=2, warmup=1, seed=1, on_event=events.append)
        started = [(e.warmup, e.number, e.of) for e in events if isinstance(e, RunStarted)]
        assert started == [(True, 1, 1), (False, 1, 2), (False, 2, 2)]

    def test_invalid_runs_are_kept_and_not_counted(self):
        with FakeVllm(GOOD, scripts={1: Script((Canvas(0.02, 256, ""),))}) as server:
            trial = run_trial(TASK, endpoint(server), runs=2, warmup=0)
        assert [done.valid for done in trial.runs] == [True, False]
        assert (trial.summary.counted, trial.summary.invalid) == (1, 1)
        assert trial.summary.values["end_to_end_tps"].n == 1

    def test_cancel_keeps_what_finished(self):
        cancel = threading.Event()
        hanging = Script(GOOD.canvases, hang=True)

        def stop_the_second(event):
            if isinstance(event, RunStarted) and event.number == 2:
                threading.Timer(0.3, cancel.set).start()

        with FakeVllm(GOOD, scripts={1: hanging}) as server:
            trial = run_trial(TASK, endpoint(server), runs=5, warmup=0, cancel=cancel, on_event=stop_the_second)
        assert [done.valid for done in trial.runs] == [True, False]
        assert trial.cancelled and trial.asked == 5
        assert trial.summary.counted == 1

    def test_a_server_that_goes_away_keeps_what_finished(self):
        with FakeVllm(GOOD, scripts={1: Script(refuse=(503, "shutting down"))}) as server:
            trial = run_trial(TASK, endpoint(server), runs=3, warmup=0)
        assert len(trial.runs) == 1
        assert trial.error.exit_code == 3

    def test_a_trial_that_cannot_begin_raises(self):
        with FakeVllm(Script(refuse=(503, "starting"))) as server, pytest.raises(ExerciseError):
            run_trial(TASK, endpoint(server), runs=3)

    @pytest.mark.parametrize(("runs", "warmup"), [(0, 0), (-1, 0), (1, -1)])
    def test_a_trial_of_nothing_is_refused(self, runs, warmup):
        with pytest.raises(ExerciseError) as fault:
            run_trial(TASK, Endpoint("http://127.0.0.1:1", None, MODEL, "x", False), runs=runs, warmup=warmup)
        assert fault.value.exit_code == 2

    def test_a_summary_of_nothing_says_why(self):
        summary = summarise([])
        assert summary.values["end_to_end_tps"] == NotMeasurable("no valid run")
        data = summary_to_json(summary)
        assert data["values"]["end_to_end_tps"] is None
        assert data["values"]["end_to_end_tps_reason"] == "no valid run"


def test_what_others_use_is_there():
    assert all(hasattr(running, name) for name in running.__all__)
