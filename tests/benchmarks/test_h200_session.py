"""The parts of a sitting that need no server; the whole was tried with --practice (benchmarks/h200/README.md)."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "h200"
MODULES = ("recording", "results", "driving", "bf16_steps", "fp8_steps", "session")
SUMMARY: dict[str, Any] = {
    "counted": 5,
    "invalid": 1,
    "values": {"end_to_end_tps": {"median": 1059.6}, "first_canvas_s": {"median": 0.2313}, "steps_per_canvas": None},
}


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """As Python finds them when session.py is run: each by its bare name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = {name: importlib.import_module(name) for name in MODULES}
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name)
    return found


@pytest.fixture
def recorder(scripts, tmp_path: Path):
    return scripts["recording"].Recorder(tmp_path / "work", tmp_path / "all.tar.gz", 600)


class Named:
    """In place of the steps: writes down which one ran, and fails at one of them."""

    def __init__(self, failing: str) -> None:
        self.ran: list[str] = []
        self.failing = failing

    def table(self, needs_s: float = 0) -> dict[str, Any]:
        def step(name: str):
            def act(sitting: object) -> None:
                self.ran.append(name)
                if name == self.failing:
                    raise SystemExit("no server")

            return act

        return {name: (step(name), needs_s if name == "two" else 0, 60) for name in ("one", "two", "three")}


def test_a_whole_fp8_sitting_has_twenty_minutes_at_most(scripts) -> None:
    steps = scripts["fp8_steps"].FP8_STEPS
    assert sum(most_s for _, _, most_s in steps.values()) <= 1200
    for sitting in (steps, scripts["bf16_steps"].BF16_STEPS):
        assert all(0 < needs_s < most_s for _, needs_s, most_s in sitting.values())


def test_sets_and_steps_are_named_and_an_unknown_one_says_which_there_are(scripts) -> None:
    named = scripts["session"].steps_named
    assert named("fp8") == tuple(scripts["fp8_steps"].FP8_STEPS)
    assert named("look,fp8-keep") == ("look", "fp8-keep")
    with pytest.raises(argparse.ArgumentTypeError, match="fp8-shorter"):
        named("fp8-short")


def test_a_failing_step_ends_no_other(scripts, recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    named = Named(failing="one")
    monkeypatch.setattr(scripts["session"], "STEPS", named.table())
    scripts["session"].run_steps(("one", "two", "three"), object(), object(), recorder)
    assert named.ran == ["one", "two", "three"]
    assert "one failed" in (recorder.folder / "session.log").read_text()


def test_a_step_that_does_not_fit_into_the_rest_is_left_out(scripts, recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    named = Named(failing="")
    monkeypatch.setattr(scripts["session"], "STEPS", named.table(needs_s=601))
    scripts["session"].run_steps(("one", "two", "three"), object(), object(), recorder)
    assert named.ran == ["one", "three"]
    assert "two is left out" in (recorder.folder / "session.log").read_text()


def test_a_command_gets_no_more_than_its_step_has(recorder) -> None:
    left: list[float] = []
    recorder.step("short", lambda: left.append(recorder.left_s), 20)
    assert left[0] <= 20
    assert recorder.left_s > 20


def test_figures_of_a_trial_and_of_a_sweep(scripts) -> None:
    results = scripts["results"]
    row = results.trial_row("fp8-16 coding", json.dumps({"trial": "t", "summary": SUMMARY}))
    assert row == {
        "what": "fp8-16 coding",
        "runs": 5,
        "invalid": 1,
        "end to end, tok/s": 1059.6,
        "first canvas, s": 0.2313,
    }
    point = {"label": "4", "summary": SUMMARY, "aggregate_tps": 2009.0}
    assert results.trial_id(json.dumps({"trial": "t-1"})) == "t-1"
    assert results.trial_id("killed") is None
    (swept,) = results.sweep_rows("streams", json.dumps({"points": [point]}))
    assert (swept["what"], swept["all together, tok/s"]) == ("streams 4", 2009.0)


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "{}", '{"points": []}'])
def test_no_figures_are_a_row_that_says_so(scripts, text) -> None:
    results = scripts["results"]
    assert results.trial_row("x", text)["state"] == "no figures"
    assert [row["state"] for row in results.sweep_rows("x", text)] == ["no figures"]


def test_the_table_has_every_column_and_leaves_open_what_is_not_there(scripts) -> None:
    rows = [{"what": "a|b", "ready after s": 81.25}, {"what": "c", "first canvas, s": 0.2313}]
    assert scripts["results"].table(rows).splitlines() == [
        "| what | ready after s | first canvas, s |",
        "| --- | --- | --- |",
        "| a/b | 81.2 |  |",
        "| c |  | 0.231 |",
    ]


def test_results_come_back_after_a_kill(scripts, recorder) -> None:
    def driver() -> Any:
        return scripts["driving"].Driver(recorder, None, [], (16, 48))

    driver().result({"what": "one"})
    driver().result({"what": "two"})
    assert "| one |\n| two |" in (recorder.folder / "results.md").read_text()


def test_what_is_started(scripts, recorder, tmp_path: Path) -> None:
    practice = scripts["fp8_steps"].Fp8(recorder, None, [], (16, 48))
    words = practice.plan_words(*practice.precision, cap=48)
    assert words[:2] == ["--checkpoint", "practice"]
    assert '"canvas_length": 64, "max_denoising_steps": 48' in words[-1]
    model = tmp_path / "model"
    model.mkdir()
    real = scripts["fp8_steps"].Fp8(recorder, model, ["--enforce-eager"], (16, 48))
    words = real.plan_words(*real.precision)
    assert words[-2:] == ["--quantization", "fp8"]
    assert {"--load-format", "dummy", "--enforce-eager"} <= set(words)
    assert "attention" not in " ".join(words)
    (model / "a.safetensors").touch()
    assert "dummy" not in scripts["fp8_steps"].Fp8(recorder, model, [], (16, 48)).plan_words()
