from __future__ import annotations

import pytest

from exercises.endpoint import Endpoint
from labtui.errors import FAILED, USAGE
from tests.fakes.vllm_stream import MODEL, Canvas, FakeVllm, Script

pytestmark = pytest.mark.usefixtures("home")
ANSWER = Script((Canvas(0.05, 64, "def is_prime(n):\n"), Canvas(0.1, 40, "    return n\n")))


@pytest.fixture
def served(monkeypatch):
    def serve(fake: FakeVllm, **changes) -> None:
        known = {"practice": True, "vllm_version": "0.32.0"}
        endpoint = Endpoint(fake.url, None, MODEL, "practice", **{**known, **changes})
        monkeypatch.setattr("labtui.serving.supervisor.Supervisor.endpoint", lambda self: endpoint)

    return serve


def test_a_sweep_by_kind_needs_no_task_and_keeps_runs_and_record(lab, served, store, tmp_path):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        sweep = lab.json("run", "--sweep", "kinds", "--runs", "2", "--warmup", "0")
    assert [point["label"] for point in sweep["points"]] == ["short", "prose", "code", "structured"]
    assert sweep["practice"] is True
    kept = store.sweeps.get(sweep["id"])
    assert dict(kept.document) == sweep
    runs = [store.runs.get(run_id) for point in sweep["points"] for run_id in point["runs"]]
    assert len(runs) == 8 and all(run.evidence["sweep"]["id"] == sweep["id"] for run in runs)
    assert all(point["steps_per_canvas"] == 16 for point in sweep["points"])
    assert lab.json("sweeps", sweep["id"]) == sweep
    picture = tmp_path / "sweep.svg"
    assert str(picture) in lab("sweeps", sweep["id"], "--svg", str(picture)).stderr
    drawn = picture.read_text(encoding="utf-8")
    assert "practice checkpoint: a small stand-in" in drawn and "structured" in drawn and "steps per canvas" in drawn
    assert lab("sweeps", sweep["id"], "--svg", str(picture)).exit_code == USAGE
    assert picture.read_text(encoding="utf-8") == drawn
    assert lab("sweeps", "--svg", str(tmp_path / "none.svg")).exit_code == USAGE
    listed = lab("sweeps").stdout
    assert sweep["id"] in listed and "4 of 4" in listed


def test_a_sweep_by_concurrency_shows_all_together_and_each(lab, served):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        result = lab("run", "code", "--sweep", "concurrency", "--points", "1,3", "--runs", "1", "--warmup", "0")
    assert result.exit_code == 0, result.output
    assert "ALL REQUESTS TOGETHER" in result.stdout and "EACH REQUEST, MEDIAN" in result.stdout
    assert "practice checkpoint: a small stand-in" in result.stdout
    assert "last content byte of any of them" in result.stdout
    assert "2 points, 4 requests in all" in result.stderr


def test_without_runs_a_point_has_three_rounds(lab, served):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        sweep = lab.json("run", "short", "--sweep", "kinds", "--warmup", "0")
    assert [len(point["runs"]) for point in sweep["points"]] == [3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sweep", "concurrency"), "This sweep needs a task"),
        (("coding", "--sweep", "concurrency", "--points", "two"), "points of this sweep are numbers"),
        (("coding", "--sweep", "concurrency", "--points", "9"), "So many requests at once"),
        (("coding", "--sweep", "steps"), "takes no cap on denoising steps by request"),
        (("--sweep", "kinds", "--points", "reasoning"), "no kind of prompt 'reasoning'"),
        (("poetry", "--sweep", "kinds"), "There is no task 'poetry'"),
        (("coding-python", "--sweep", "concurrency"), "runs code that the model writes"),
        ((), "Missing argument 'TASK'"),
    ],
)
def test_what_cannot_be_swept_is_said_before_anything_is_sent(lab, served, arguments, words):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        result = lab("run", *arguments)
        assert fake.bodies == []
    assert result.exit_code == USAGE
    assert words in result.stderr


def test_a_step_cap_never_reaches_the_practice_server(lab, served):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        result = lab("run", "coding", "--sweep", "steps")
        assert "kills the engine" in result.stderr and fake.bodies == []
        served(fake, practice=False)
        sweep = lab.json("run", "short", "--sweep", "steps", "--points", "8,16", "--runs", "1", "--warmup", "0")
    assert [body["vllm_xargs"]["diffusion_max_steps"] for body in fake.bodies] == [8, 16]
    assert [point["label"] for point in sweep["points"]] == ["8", "16"]


def stopped_sweep(lab, store) -> dict:
    """One of which two points were run, and that was asked for all."""
    sweep = lab.json("run", "--sweep", "kinds", "--points", "short,code", "--runs", "2", "--warmup", "0", "--seed", "5")
    labels = ["short", "prose", "code", "structured"]
    store.sweeps.save({**sweep, "labels": labels, "asked": 4, "cancelled": True})
    return sweep


def test_a_stopped_sweep_goes_on_with_its_id_rounds_and_seed(lab, served, store):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        sweep = stopped_sweep(lab, store)
        whole = lab.json("sweeps", sweep["id"], "--continue")
        assert [point["label"] for point in whole["points"]] == ["short", "prose", "code", "structured"]
        assert (whole["id"], whole["started_at"]) == (sweep["id"], sweep["started_at"])
        assert whole["points"][0] == sweep["points"][0] and whole["points"][2] == sweep["points"][1]
        assert not whole["cancelled"] and len(whole["continued"]) == 1
        runs = [store.runs.get(run_id) for run_id in whole["points"][1]["runs"]]
        assert [run.evidence["seed"] for run in runs] == [5, 6], "the prompts of the other points"
        assert dict(store.sweeps.get(sweep["id"]).document) == whole
        again = lab("sweeps", sweep["id"], "--continue")
        assert again.exit_code == USAGE and "misses nothing" in again.stderr


def test_a_point_that_was_stopped_in_the_middle_is_run_again(lab, served, store):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        sweep = stopped_sweep(lab, store)
        part = {**sweep["points"][1], "runs": sweep["points"][1]["runs"][:1]}
        known = {**dict(store.sweeps.get(sweep["id"]).document), "points": [sweep["points"][0], part]}
        store.sweeps.save(known)
        whole = lab.json("sweeps", sweep["id"], "--continue")
    assert [len(point["runs"]) for point in whole["points"]] == [2, 2, 2, 2]
    assert whole["points"][2]["trial"] != sweep["points"][1]["trial"]


def test_a_sweep_goes_on_only_on_its_own_checkpoint(lab, served, store):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        sweep = stopped_sweep(lab, store)
        served(fake, practice=False)
        refused = lab("sweeps", sweep["id"], "--continue")
    assert refused.exit_code == USAGE and "is of another checkpoint" in refused.stderr
    assert lab("sweeps", "--continue").exit_code == USAGE


def test_no_sweeps_says_how_to_make_one(lab):
    assert "labtui run --sweep kinds" in lab("sweeps").stderr
    assert lab("sweeps", "nothing").exit_code == USAGE


def test_a_kind_can_be_run_by_itself(lab, served):
    with FakeVllm(ANSWER) as fake:
        served(fake)
        run = lab.json("run", "code", "--warmup", "0", "--seed", "1", code=FAILED)
    assert (run["task"], run["task_set"]) == ("code", "practice-kinds")
    assert run["claims"]["beside"] == [] and "practice" in run["claims"]["reason"]
