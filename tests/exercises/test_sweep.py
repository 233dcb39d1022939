"""Sweeps against a server of a known timeline."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from exercises.errors import ExerciseError
from exercises.records import NotMeasurable
from exercises.running import RunFinished
from exercises.sweep import PointFinished, PointStarted, SweepProgress, run_sweep, sweep_to_json
from exercises.sweep_points import Point, points_by_concurrency, points_by_kind, points_by_steps, requests_of
from exercises.tasks import prompt_kinds_for
from tests.exercises.test_running import GOOD, TASK, endpoint
from tests.fakes.vllm_stream import Canvas, FakeVllm, Script

KINDS = prompt_kinds_for("practice", True)


def test_by_kind_every_kind_has_its_runs_and_its_steps():
    with FakeVllm(GOOD) as server:
        sweep = run_sweep("kinds", points_by_kind(KINDS), endpoint(server), rounds=2, warmup=1, seed=5)
    assert [one.point.label for one in sweep.points] == ["short", "prose", "code", "structured"]
    for result in sweep.points:
        assert [run.warmup for run in result.runs] == [True, False, False]
        assert {run.trial for run in result.runs} == {result.trial}
        assert result.steps.median == 16
        assert result.runs[0].evidence["sweep"] == {"id": sweep.id, "axis": "kinds", "point": result.point.label}
    assert not sweep.cancelled and sweep.error is None


def test_progress_counts_requests_and_estimates_the_rest():
    events = []
    with FakeVllm(GOOD) as server:
        points = points_by_kind(KINDS, ["short", "code"])
        run_sweep("kinds", points, endpoint(server), rounds=2, warmup=0, usual_s=3.0, on_event=events.append)
    progress = [event for event in events if isinstance(event, SweepProgress)]
    assert progress[0].left_s == 4 * 3.0
    assert [(one.done, one.of) for one in progress if one.done] == [(1, 4), (2, 4), (2, 4), (3, 4), (4, 4)]
    assert progress[-1].left_s == 0
    assert progress[1].left_s / 3 >= 0.1
    started = [(one.number, one.of, one.point.label) for one in events if isinstance(one, PointStarted)]
    assert started == [(1, 2, "short"), (2, 2, "code")]
    assert [len(one.so_far.points) for one in events if isinstance(one, PointFinished)] == [1, 2]


def test_at_once_the_streams_overlap_and_the_rate_is_of_all_together():
    script = Script((Canvas(0.3, 256, "first "), Canvas(0.6, 200, "second ")))
    with FakeVllm(script) as server:
        sweep = run_sweep("concurrency", points_by_concurrency(TASK, [1, 4]), endpoint(server), rounds=1, warmup=0)
    alone, four = sweep.points
    assert len(alone.runs) == 1 and len(four.runs) == 4
    (together,) = four.rounds
    assert together.completion_tokens == 4 * 456
    assert alone.aggregate.median == pytest.approx(456 / 0.6, rel=0.2)
    assert 2.5 < four.aggregate.median / alone.aggregate.median <= 4.1
    assert all(rate <= alone.aggregate.median * 1.1 for rate in together.per_stream_tps)
    assert together.steps_per_canvas == 16
    assert [run.evidence["streams"] for run in four.runs] == [4] * 4
    assert len({run.evidence["seed"] for run in four.runs}) == 4
    assert all(isinstance(run.speed.steps_per_canvas, NotMeasurable) for run in four.runs)
    assert "4 requests ran at once" in four.runs[0].speed.steps_per_canvas.reason


def test_events_of_all_streams_come_in_the_calling_thread():
    threads = set()
    with FakeVllm(GOOD) as server:
        run_sweep(
            "concurrency",
            points_by_concurrency(TASK, [3]),
            endpoint(server),
            rounds=1,
            warmup=0,
            on_event=lambda event: threads.add(threading.get_ident()),
        )
    assert threads == {threading.get_ident()}


def test_a_cancel_keeps_what_finished_and_says_so():
    cancel = threading.Event()
    kept = []

    def on_event(event):
        if isinstance(event, RunFinished):
            kept.append(event.run)
            if len(kept) == 3:
                cancel.set()

    with FakeVllm(GOOD) as server:
        points = points_by_kind(KINDS)
        sweep = run_sweep("kinds", points, endpoint(server), rounds=2, warmup=0, on_event=on_event, cancel=cancel)
    assert sweep.cancelled and sweep.asked == 4
    assert [len(one.runs) for one in sweep.points] == [2, 1]
    assert sweep_to_json(sweep)["cancelled"] is True


def test_a_server_that_fails_in_the_middle_leaves_what_was_before():
    refuse = Script(refuse=(500, "EngineCore encountered an issue."))
    with FakeVllm(GOOD, scripts={3: refuse}) as server:
        sweep = run_sweep("kinds", points_by_kind(KINDS), endpoint(server), rounds=2, warmup=0)
    assert [len(one.runs) for one in sweep.points] == [2, 1]
    assert "EngineCore" in sweep.error.cause


def test_a_server_that_fails_at_once_is_an_error():
    with FakeVllm(Script(refuse=(400, "no"))) as server, pytest.raises(ExerciseError):
        run_sweep("kinds", points_by_kind(KINDS), endpoint(server), rounds=1)


def test_one_refused_stream_of_four_leaves_the_other_three_and_no_rate_of_all():
    with FakeVllm(GOOD, scripts={2: Script(refuse=(400, "no"))}) as server:
        sweep = run_sweep("concurrency", points_by_concurrency(TASK, [4]), endpoint(server), rounds=1, warmup=0)
    (result,) = sweep.points
    assert len(result.runs) == 3 and result.rounds == ()
    assert isinstance(result.aggregate, NotMeasurable)
    assert sweep.error is not None


def test_a_listener_that_fails_ends_the_streams_and_is_not_swallowed():
    class Full(Exception):
        pass

    told = []

    def on_event(event):
        if isinstance(event, RunFinished):
            told.append(event)
            raise Full

    with FakeVllm(GOOD) as server, pytest.raises(Full):
        run_sweep(
            "concurrency", points_by_concurrency(TASK, [3]), endpoint(server), rounds=1, warmup=0, on_event=on_event
        )
    assert len(told) == 3


def test_a_cap_is_sent_with_the_request_and_kept_with_the_run():
    with FakeVllm(GOOD) as server:
        there = endpoint(server, practice=False, vllm_version="0.32.0", evidence={"hardware": ["NVIDIA H200"]})
        sweep = run_sweep("steps", points_by_steps(TASK, there, [8, 16]), there, rounds=1, warmup=0)
        bodies = [body["vllm_xargs"] for body in server.bodies]
    assert bodies == [{"diffusion_max_steps": 8}, {"diffusion_max_steps": 16}]
    caps = [one.runs[0].evidence["step_cap"] for one in sweep.points]
    assert caps == [{"steps": 8, "source": "the request"}, {"steps": 16, "source": "the request"}]


@pytest.mark.parametrize(
    "changes",
    [
        {"practice": True, "vllm_version": "0.32.0"},
        {"practice": False, "vllm_version": "0.32.0", "evidence": {"hardware": ["CPU, 2 cores, 16 GiB of memory"]}},
        {"practice": False, "vllm_version": "0.26.0"},
        {"practice": False, "vllm_version": None},
        {"practice": False, "vllm_version": "somebody's"},
    ],
)
def test_a_cap_is_never_sent_to_a_server_that_ignores_it_or_dies_of_it(changes):
    with FakeVllm(GOOD) as server:
        with pytest.raises(ExerciseError) as caught:
            points_by_steps(TASK, endpoint(server, **changes))
        assert server.bodies == []
    assert caught.value.exit_code == 2


def test_points_that_cannot_be_are_refused():
    with FakeVllm(GOOD) as server:
        there = endpoint(server, practice=False, vllm_version="0.33.1")
        for call in (
            lambda: points_by_kind(KINDS, ["poetry"]),
            lambda: points_by_concurrency(TASK, [0]),
            lambda: points_by_concurrency(TASK, [9]),
            lambda: points_by_steps(TASK, there, [0]),
            lambda: run_sweep("kinds", [], there),
            lambda: run_sweep("kinds", [Point("x", TASK)], there, rounds=0),
        ):
            with pytest.raises(ExerciseError) as caught:
                call()
            assert caught.value.exit_code == 2
    assert [point.streams for point in points_by_concurrency(TASK)] == list(range(1, 9))
    assert requests_of(points_by_concurrency(TASK, [1, 4]), rounds=3, warmup=1) == 20


def test_the_record_has_medians_intervals_and_reasons():
    with FakeVllm(GOOD, scripts={n: replace(GOOD, continuous_usage=False) for n in range(9)}) as server:
        sweep = run_sweep("concurrency", points_by_concurrency(TASK, [1, 2]), endpoint(server), rounds=2, warmup=0)
    one, two = sweep_to_json(sweep)["points"]
    assert one["aggregate_tps"] == one["summary"]["values"]["end_to_end_tps"]["median"]
    assert one["aggregate_tps_interval"] is None
    assert "too few runs" in one["summary"]["values"]["end_to_end_tps"]["interval_reason"]
    assert len(two["each_round"]) == 2 and two["aggregate_tps"] > one["aggregate_tps"]
    assert len(two["runs"]) == 4 and two["warmups"] == []
