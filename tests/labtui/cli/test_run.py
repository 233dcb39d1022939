from __future__ import annotations

import json

import pytest

from exercises.endpoint import Endpoint
from labtui.errors import FAILED, NO_SERVER, NO_STORE, USAGE
from tests.fakes.vllm_stream import CASE_A, CASE_B, MODEL, FakeVllm, Script, scaled

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def served(monkeypatch):
    """A server of a known timeline, ten times as fast as the cases say."""

    def serve(fake: FakeVllm, *, practice: bool = True, launch: str | None = "launch-1") -> None:
        endpoint = Endpoint(
            fake.url, None, MODEL, "practice" if practice else "bf16", practice, "0.32.0", {"launch": launch}
        )
        monkeypatch.setattr("labtui.serving.supervisor.Supervisor.endpoint", lambda self: endpoint)

    return serve


FAST_A, FAST_B = scaled(CASE_A, 0.1), scaled(CASE_B, 0.1)


def test_one_canvas_is_not_measurable_in_every_place(lab, served) -> None:
    with FakeVllm(FAST_A) as fake:
        served(fake)
        run = lab.json("run", "coding", "--warmup", "0", code=FAILED)
    assert run["practice"] is True
    assert run["speed"]["after_first_canvas_tps"] is None
    assert run["speed"]["after_first_canvas_reason"] == "one canvas"
    ((at_s, tokens),) = run["chunks"]
    assert tokens == 180
    assert run["speed"]["end_to_end_tps"] == 180 / at_s
    assert "not measurable: one canvas" in lab("show", run["id"]).stdout
    assert lab.json("show", run["id"])["speed"] == run["speed"]


def test_the_first_canvas_is_left_out_of_the_rate_after_it(lab, served) -> None:
    with FakeVllm(FAST_B) as fake:
        served(fake)
        run = lab.json("run", "coding", "--warmup", "0", code=FAILED)
    (first, *_), _, (last, *_) = run["chunks"]
    assert run["speed"]["after_first_canvas_tps"] == (700 - 256) / (last - first)
    assert run["speed"]["after_first_canvas_gaps"] == 2
    assert [tokens for _, tokens in run["chunks"]] == [256, 256, 188]


def test_the_first_run_of_a_launch_is_warmed_up_and_says_so(lab, served, store) -> None:
    with FakeVllm(FAST_A) as fake:
        served(fake)
        first = lab("run", "coding")
        assert "One warm-up first" in first.stderr
        assert "practice checkpoint" in first.stdout
        second = lab("run", "coding")
        assert "One warm-up first" not in second.stderr
    assert sorted(run.warmup for run in store.runs.list()) == [False, False, True]


def test_a_trial_counts_valid_runs_and_keeps_the_others(lab, served, store) -> None:
    with FakeVllm(FAST_B, scripts={1: Script(FAST_B.canvases[:1], break_off_at_s=0.15)}) as fake:
        served(fake)
        trial = lab.json("run", "coding", "--runs", "3", "--warmup", "0", code=FAILED)
    assert trial["summary"]["counted"] == 2
    assert trial["summary"]["invalid"] == 1
    assert len(store.runs.list(trial=trial["trial"])) == 3
    with FakeVllm(FAST_B) as fake:
        served(fake)
        shown = lab("run", "coding", "--runs", "2", "--warmup", "0").stdout
    assert "median of 2" in shown
    assert "2 of 2 runs count" in shown
    assert "practice checkpoint" in shown


def test_an_answer_that_is_right_ends_with_0(lab, served) -> None:
    answer = "The vehicle passes. Yes. Yes, it passes under the barrier."
    from dataclasses import replace

    with FakeVllm(replace(FAST_A, canvases=(replace(FAST_A.canvases[0], text=answer),))) as fake:
        served(fake)
        codes = {lab("run", "vision", "--warmup", "0", "--seed", str(seed)).exit_code for seed in range(8)}
    assert codes == {0, FAILED}


def test_a_server_that_refuses_is_explained_and_nothing_is_kept(lab, served, store) -> None:
    with FakeVllm(Script(refuse=(500, "xgrammar does not like this"))) as fake:
        served(fake)
        result = lab("run", "coding")
    assert result.exit_code == FAILED
    assert "xgrammar does not like this" in result.stderr
    assert store.runs.list() == []


def test_a_server_that_has_gone_is_exit_3(lab, served) -> None:
    with FakeVllm() as fake:
        served(fake)
    assert lab("run", "coding").exit_code == NO_SERVER


def test_an_unknown_task_names_the_nearest_even_without_a_server(lab) -> None:
    result = lab("run", "visoin")
    assert result.exit_code == USAGE
    assert "vision" in result.stderr


def test_code_of_the_model_runs_only_when_the_person_says_so(lab, served, store) -> None:
    with FakeVllm(FAST_A) as fake:
        served(fake)
        refused = lab("run", "coding-python")
        assert refused.exit_code == USAGE
        assert "--run-code" in refused.stderr
        assert fake.bodies == []
        assert lab("run", "coding-python", "--run-code").exit_code == FAILED
    assert store.runs.list()


def test_a_run_that_cannot_be_kept_is_in_a_file_that_the_error_names(lab, served, monkeypatch) -> None:
    from store.errors import StoreError
    from store.runs import Runs

    def full(self, run):
        raise StoreError("The disk is full", "no space left", "Free some space.")

    monkeypatch.setattr(Runs, "add", full)
    with FakeVllm(FAST_B) as fake:
        served(fake)
        error = lab.json("run", "coding", "--warmup", "0", code=NO_STORE)["error"]
    (rescued,) = (lab.home / "state" / "labtui" / "not-kept").iterdir()
    assert str(rescued) in error["fix"]
    assert "The disk is full" in error["title"]
    assert lab.json("measure", str(rescued))["speed"]["completion_tokens"] == 700


def test_what_the_server_says_cannot_steer_the_terminal(lab, served) -> None:
    from dataclasses import replace

    hostile = "<svg>\x1b]0;owned\x07\x1b[2J\x9b31m</svg>"
    with FakeVllm(replace(FAST_A, canvases=(replace(FAST_A.canvases[0], text=hostile),))) as fake:
        served(fake)
        result = lab("run", "coding", "--warmup", "0")
        as_json = lab("run", "coding", "--warmup", "0", "--json")
    for printed in (result.output, as_json.output):
        assert not {"\x1b", "\x07", "\x9b"} & set(printed)
    assert json.loads(as_json.stdout)["output"] == hostile


def test_an_error_of_a_server_that_died_names_its_log(tmp_path) -> None:
    from types import SimpleNamespace

    from exercises.errors import ExerciseError
    from labtui.cli.run import with_log
    from labtui.serving.status import Status

    error = ExerciseError("The server failed on this request", "it answered 500: EngineCore died", "Look into its log.")
    log = tmp_path / "my log.txt"
    died = with_log(error, SimpleNamespace(status=lambda: Status("stopped", log_path=log)))
    assert str(log) in died.cause
    assert f"labtui diagnose '{log}'" in died.fix
    assert with_log(error, SimpleNamespace(status=lambda: Status("ready", log_path=log))) is error
