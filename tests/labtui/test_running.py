from __future__ import annotations

import threading

import pytest

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.records import Run
from exercises.running import ChunkArrived, RunFinished, RunStarted
from labtui.errors import USAGE, LabError
from labtui.running import RunKept, refuse_unknown_task, run_and_keep, task_for, warmups_needed
from store import Store
from tests.fakes.vllm_stream import CASE_B, MODEL, FakeVllm, scaled

FAST = scaled(CASE_B, 0.05)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def endpoint_of(fake: FakeVllm, launch: str | None = "launch-1") -> Endpoint:
    return Endpoint(fake.url, None, MODEL, "practice", True, "0.32.0", {"launch": launch} if launch else {})


def test_a_run_is_in_the_store_before_anything_says_that_it_is_kept(store) -> None:
    seen: list[object] = []

    def on_event(event: object) -> None:
        seen.append(event)
        if isinstance(event, RunKept):
            assert store.runs.get(event.run.id) == event.run
        if isinstance(event, RunFinished):
            assert event.run.id not in {run.id for run in store.runs.list()}

    with FakeVllm(FAST) as fake:
        endpoint = endpoint_of(fake)
        trial = run_and_keep(
            task_for(endpoint, "coding"), endpoint, store.runs.add, runs=2, warmup=1, on_event=on_event
        )
    kinds = [type(event) for event in seen if not isinstance(event, ChunkArrived)]
    assert [kind for kind in kinds if kind in (RunStarted, RunFinished, RunKept)] == [
        RunStarted,
        RunFinished,
        RunKept,
    ] * 3
    assert len(store.runs.list(trial=trial.id)) == 3


def test_a_cancel_keeps_what_was_finished(store) -> None:
    cancel = threading.Event()

    def on_event(event: object) -> None:
        if isinstance(event, RunKept):
            cancel.set()

    with FakeVllm(FAST) as fake:
        endpoint = endpoint_of(fake)
        trial = run_and_keep(
            task_for(endpoint, "coding"), endpoint, store.runs.add, runs=5, on_event=on_event, cancel=cancel
        )
    assert trial.cancelled
    assert len(store.runs.list()) == 1


def test_one_warm_up_until_this_launch_has_answered(store) -> None:
    with FakeVllm(FAST) as fake:
        endpoint = endpoint_of(fake)
        assert warmups_needed(endpoint, store.runs.list()) == 1
        run_and_keep(task_for(endpoint, "coding"), endpoint, store.runs.add)
        assert warmups_needed(endpoint, store.runs.list()) == 0
        assert warmups_needed(endpoint_of(fake, "launch-2"), store.runs.list()) == 1
        assert warmups_needed(endpoint_of(fake, None), store.runs.list()) == 1


def test_no_request_is_sent_for_a_task_whose_code_nobody_allowed(store) -> None:
    with FakeVllm(FAST) as fake:
        endpoint = endpoint_of(fake)
        with pytest.raises(LabError) as caught:
            run_and_keep(task_for(endpoint, "coding-python"), endpoint, store.runs.add)
        assert fake.bodies == []
    assert caught.value.exit_code == USAGE


def test_a_fault_of_the_store_saves_the_run_to_a_file(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def broken(run: Run) -> Run:
        raise RuntimeError("unforeseen")

    with FakeVllm(FAST) as fake:
        endpoint = endpoint_of(fake)
        with pytest.raises(LabError, match="unforeseen") as caught:
            run_and_keep(task_for(endpoint, "coding"), endpoint, broken)
    (path,) = (tmp_path / "labtui" / "not-kept").iterdir()
    assert str(path) in caught.value.fix


@pytest.mark.parametrize("task", ["coding", "vision", "coding-python"])
def test_known_tasks_are_known(task: str) -> None:
    refuse_unknown_task(task)


def test_an_unknown_task_is_refused_with_the_nearest() -> None:
    with pytest.raises(ExerciseError) as caught:
        refuse_unknown_task("codign")
    assert "coding" in caught.value.fix
    assert caught.value.exit_code == USAGE
