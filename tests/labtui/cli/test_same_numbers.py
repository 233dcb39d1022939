"""Every fault of a stream, and the two worked cases, over real HTTP: the numbers are the right ones, and the same ones
in the store, in every command, in a bundle read back, and in every export."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from exercises.endpoint import Endpoint
from exercises.records import NotMeasurable
from exercises.running import run_task
from exercises.speed import format_rate, speed_lines
from exercises.tasks import find_task, task_set_for
from tests.fakes.vllm_stream import CASE_A, CASE_B, MODEL, Canvas, FakeVllm, Script, scaled

TWO = (Canvas(0.1, 256, "some more words "), Canvas(0.2, 100, "naïve – 模型 🌋 end "))
FIRST = (TWO[0],)


@dataclass(frozen=True)
class Right:
    """tokens and canvases that are right, whether an end-to-end rate and a rate after the first canvas exist."""

    tokens: int | None
    canvases: int
    end_to_end: bool = True
    after_first: bool = True
    valid: bool = True


CASES: dict[str, tuple[Script, Right]] = {
    "case-a": (scaled(CASE_A, 0.1), Right(180, 1, after_first=False)),
    "case-b": (scaled(CASE_B, 0.1), Right(700, 3)),
    "reasoning-text": (Script((Canvas(0.1, 256, "", "a thought "), Canvas(0.2, 100, "an answer "))), Right(356, 2)),
    "empty-deltas": (Script((Canvas(0.1, 256, ""), Canvas(0.2, 100, "an answer "))), Right(356, 2)),
    "usage-only": (Script(TWO, continuous_usage=False), Right(356, 2, after_first=False)),
    "keep-alives": (Script(TWO, comments=True), Right(356, 2)),
    "crlf": (Script(TWO, crlf=True), Right(356, 2)),
    "utf-8-cut": (Script(TWO, cut=7), Right(356, 2)),
    "break-off": (Script(FIRST, break_off_at_s=0.15), Right(256, 1, after_first=False, valid=False)),
    "error-inside": (Script(FIRST, error_at_s=0.15), Right(256, 1, after_first=False, valid=False)),
    "nothing-but-empty-text": (Script((Canvas(0.1, 256, ""), Canvas(0.2, 256, ""))), Right(512, 2, valid=False)),
}


def measured(script: Script):
    task = replace(find_task("coding", task_set_for("practice", True)), id="coding")
    with FakeVllm(script) as server:
        return run_task(task, Endpoint(server.url, None, MODEL, "practice", True, "0.32.0"), seed=3)


@pytest.mark.parametrize("name", list(CASES))
def test_the_numbers_are_right_and_the_same_everywhere(lab, store, tmp_path, name):
    script, right = CASES[name]
    run = store.runs.add(measured(script))
    speed = run.speed

    assert run.valid is right.valid
    assert speed.canvases == right.canvases
    assert speed.completion_tokens == right.tokens
    assert isinstance(speed.end_to_end_tps, NotMeasurable) is not right.end_to_end
    assert isinstance(speed.after_first_canvas_tps, NotMeasurable) is not right.after_first
    if right.end_to_end:
        assert speed.end_to_end_tps == pytest.approx(right.tokens / speed.wall_s)
        assert speed.wall_s == pytest.approx(script.canvases[-1].at_s, abs=0.08)

    bundle = tmp_path / "bundle.json"
    shown = lab.json("show", run.id, "--bundle", str(bundle))
    code = 0 if right.valid else 1
    documents = {
        "show": shown,
        "runs": lab.json("runs")[0],
        "compare": lab.json("compare", run.id, run.id)["runs"][0],
        "recompute": lab.json("show", run.id, "--recompute"),
        "measure bundle": lab.json("measure", str(bundle), code=code),
    }
    (tmp_path / "show.json").write_text(json.dumps(shown))
    documents["measure show"] = lab.json("measure", str(tmp_path / "show.json"), code=code)
    assert lab("export", "diffusiongemma", "--format", "json,md", "--to", str(tmp_path)).exit_code == 0
    documents["export"] = json.loads((tmp_path / "diffusiongemma.json").read_text())["runs"][0]
    speeds = {place: document["speed"] for place, document in documents.items()}
    assert all(one == shown["speed"] for one in speeds.values()), speeds
    assert documents["recompute"]["recomputed"] == {"same": True, "differences": []}

    texts = [lab(*command).stdout for command in (("show", run.id), ("measure", str(bundle)), ("runs",))]
    texts.append((tmp_path / "diffusiongemma.md").read_text())
    assert all(format_rate(speed.end_to_end_tps) in text for text in texts)
    for line in speed_lines(speed):
        assert line.value in texts[0] and line.value in texts[1]
        if "not measurable" not in line.value:
            assert " inf" not in line.value and not line.value.startswith("0 ")


def test_the_raw_stream_stands_in_the_bundle_and_in_no_list(lab, store, tmp_path):
    run = store.runs.add(measured(CASES["case-b"][0]))
    lab("show", run.id, "--bundle", str(tmp_path / "b.json"))
    bundle = json.loads((tmp_path / "b.json").read_text())
    assert bundle["format"] == "labtui-bundle"
    lines = bundle["run"]["evidence"]["raw"]["lines"]
    assert sum('"content": "second ' in line for line in lines) == 1
    assert "raw" not in lab.json("runs")[0]["evidence"]


def test_the_raw_lines_of_a_bundle_are_a_recorded_stream_of_their_own(lab, store, tmp_path):
    run = store.runs.add(measured(CASES["utf-8-cut"][0]))
    lab("show", run.id, "--bundle", str(tmp_path / "b.json"))
    lines = json.loads((tmp_path / "b.json").read_text())["run"]["evidence"]["raw"]["lines"]
    (tmp_path / "stream.txt").write_text("\n".join(lines), encoding="utf-8")
    again = lab.json("measure", str(tmp_path / "stream.txt"))
    assert again["chunks"] == lab.json("show", run.id)["chunks"]
    assert again["output"] == run.output


def test_a_bundle_that_was_changed_is_found_out(lab, store, tmp_path):
    run = store.runs.add(measured(CASES["case-b"][0]))
    path = tmp_path / "b.json"
    lab("show", run.id, "--bundle", str(path))
    bundle = json.loads(path.read_text())
    bundle["run"]["chunks"][-1][0] /= 2
    path.write_text(json.dumps(bundle))
    result = lab("measure", str(path))
    assert result.exit_code == 1
    assert "contradicts itself" in result.stderr


def test_a_bundle_replaces_no_file(lab, keep_run, tmp_path):
    run = keep_run()
    path = tmp_path / "b.json"
    path.write_text("mine")
    result = lab("show", run.id, "--bundle", str(path))
    assert result.exit_code == 2 and "is there already" in result.stderr
    assert path.read_text() == "mine"
    result = lab("show", run.id, "--bundle", str(tmp_path / "no/such/b.json"))
    assert result.exit_code == 2 and "was not written" in result.stderr
