"""The result screen by keys: a run, its trial, claims, the bundle; practice beside no claim."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from exercises.speed import format_rate
from exercises.trace import read_trace, read_traces
from labtui.result_text import PRACTICE
from labtui.screens.fault import FaultBox
from labtui.screens.lab import LabScreen
from labtui.screens.lab_answer import AnswerScreen
from labtui.screens.result import ResultScreen
from labtui.widgets.result_list import ResultList
from tests.fakes.lab_servers import ServerThere
from tests.labtui.test_result_text import EVIDENCE, made

ROOT = Path(__file__).parents[3]
RECORDED = read_traces(ROOT / "tests/fixtures/vllm-cuda-0.26/timelines-fp8.json")[:7]
NORMAL = (80, 24)


@pytest.fixture
def trial(in_store):
    """A warm-up and six runs of a real card in the store."""

    def keep(store):
        return [
            store.runs.add(
                made(
                    run,
                    id="",
                    trial="t-20261130-210000-abc",
                    warmup=n == 0,
                    started_at=f"2026-11-30T21:0{n}:00+00:00",
                    evidence={"seed": 10 + n},
                )
            )
            for n, run in enumerate(RECORDED)
        ]

    return in_store(keep)


@pytest.fixture
def showing(running):
    """The app with the result of a run open."""

    def open_result(run, size=NORMAL, **changes):
        context = running(size, supervisor=ServerThere(), **changes)

        class Opened:
            async def __aenter__(self):
                lab = await context.__aenter__()
                lab.app.push_screen(ResultScreen(run))
                await lab.settle()
                return lab

            async def __aexit__(self, *fault):
                return await context.__aexit__(*fault)

        return Opened()

    return open_result


def listed(lab) -> dict[str, str]:
    choices = lab.screen.query_one(ResultList).choices
    return {choice.id: choice.right for choice in choices if choice.id is not None}


def titles(lab) -> list[str]:
    return [choice.text for choice in lab.screen.query_one(ResultList).choices if choice.id is None]


async def test_a_trial_stands_beside_the_claims_that_mean_the_same(showing, trial) -> None:
    async with showing(trial[-1]) as lab:
        assert lab.text.splitlines()[2].strip().startswith("end to end 1,054 tok/s, median of 6 (882 tok/s")
        assert "1 warm-up dropped" in " ".join(lab.text.split())
        assert "CLAIMS OF END TO END, YOURS 1,054 tok/s, median of 6" in titles(lab)
        await lab.press("n", "n")
        assert "yours is × 1.05 of it · fp8, H100 · vLLM pull" in lab.text
        assert "not the same: hardware H100, yours NVIDIA H200" in " ".join(lab.text.split())
        await lab.press("n", "n")
        assert "NOT BESIDE IT: 45 CLAIMS" in lab.text
        await lab.press("b", "b")
        assert "CLAIMS OF END TO END" in lab.text


async def test_t_turns_to_the_run_alone_and_enter_to_another_one(showing, trial) -> None:
    async with showing(trial[-1]) as lab:
        assert "v answer" not in lab.keys
        await lab.press("t")
        assert titles(lab)[0] == "YOUR NUMBER, OF ONE RUN"
        assert listed(lab)["end_to_end_tps"] == format_rate(trial[-1].speed.end_to_end_tps)
        await lab.press("v")
        assert isinstance(lab.screen, AnswerScreen)
        await lab.press("escape", "t", "n", "enter")
        assert lab.screen.measured.run == trial[0]
        assert "a warm-up: it counts for nothing" in lab.text


async def test_practice_stands_beside_no_claim(showing, in_store, make_run) -> None:
    run = in_store(lambda store: store.runs.add(make_run(evidence={**EVIDENCE})))
    async with showing(run, (80, 60)) as lab:
        assert f"! {PRACTICE}" in lab.text
        assert "PUBLIC CLAIMS" in titles(lab)
        words = " ".join(lab.text.split())
        assert "none stands beside this: a number of the practice checkpoint says nothing" in words
        assert "Comparable would be a valid run of coding on real weights" in words
        every = repr(lab.screen.query_one(ResultList).choices)
        assert "1,100" not in every and "yours is" not in every
        await lab.press("c")
        assert lab.app._clipboard.startswith(PRACTICE)


async def test_doubt_traffic_and_not_valid_stand_before_the_number(showing, in_store) -> None:
    run = made(
        RECORDED[0],
        id="",
        valid=False,
        invalid_reason="the text is empty",
        evidence={"weights_gib": 2590, "traffic": {"state": "shared", "reason": "others got 30 tokens"}},
    )
    async with showing(in_store(lambda store: store.runs.add(run))) as lab:
        assert "✗ not valid: the text is empty" in lab.text
        assert "! touched by other traffic: others got 30 tokens" in lab.text
        assert "! faster than the card can feed: at least 8 passes over 2590 GiB" in lab.text
        assert "PUBLIC CLAIMS" in titles(lab)


async def test_k_computes_again_and_finds_a_changed_number(showing, in_store, trial) -> None:
    async with showing(trial[-1]) as lab:
        await lab.press("k")
        assert lab.line == "✓ all 7 runs: every number is the same when computed again from 22 stored chunks"
    changed = made(RECORDED[0], id="", speed=replace(RECORDED[0].speed, end_to_end_tps=9999.0))
    async with showing(in_store(lambda store: store.runs.add(changed))) as lab:
        await lab.press("k")
        assert lab.line.startswith("✗ run ") and "end_to_end_tps is stored as 9999.0" in lab.line


async def test_e_writes_bundles_that_measure_reads_back_and_replaces_no_file(showing, trial, tmp_path) -> None:
    folder = tmp_path / "labtui" / "bundles"
    async with showing(trial[-1]) as lab:
        await lab.press("e", "enter")
        assert lab.line == f"✓ 7 bundles are in {folder}"
        await lab.press("e", "enter")
        assert isinstance(lab.screen, FaultBox) and "is there already" in lab.text
        await lab.press("escape", "e", "escape")
        assert isinstance(lab.screen, ResultScreen)
    assert len(list(folder.iterdir())) == 7
    assert read_trace(folder / f"run-{trial[-1].id}.json").speed == trial[-1].speed
    assert json.loads((folder / f"run-{trial[-1].id}.json").read_text())["format"] == "labtui-bundle"


async def test_a_folder_that_cannot_be_made_is_said(showing, trial, tmp_path) -> None:
    (tmp_path / "labtui").write_text("a file")
    async with showing(trial[-1]) as lab:
        await lab.press("e", "enter")
        assert isinstance(lab.screen, FaultBox) and "The folder could not be made" in lab.text


async def test_o_in_the_lab_opens_the_latest_run_of_the_task_after_a_restart(running, trial, in_store) -> None:
    in_store(lambda store: store.runs.add(made(RECORDED[0], id="", task="vision")))
    async with running(NORMAL, supervisor=ServerThere(practice=False, checkpoint="fp8")) as lab:
        lab.app.open_lab("diffusiongemma")
        await lab.settle()
        await lab.press("o")
        assert isinstance(lab.screen, ResultScreen) and lab.screen.measured.run == trial[-1]
        await lab.press("escape", "2", "o")
        assert lab.screen.measured.run.task == "vision"
        await lab.press("escape", "3", "o")
        assert isinstance(lab.screen, LabScreen)
        assert lab.line == "✗ No run of this task yet: enter runs it."


async def test_every_definition_stands_in_the_help(showing, trial) -> None:
    async with showing(trial[-1], (100, 260)) as lab:
        await lab.press("question_mark")
        words = " ".join(lab.text.replace("│", " ").replace("┃", " ").split())
        for said in (
            "end to end: Completion tokens ÷ (last content byte − request sent).",
            "steps per canvas: Canvas positions ÷ committed tokens − 1",
            "interval: Between two of the ordered values",
            "step cap: the most denoising steps that a canvas may take",
            "least time: Passes × bytes of the weights",
            "a claim of per forward: Tokens of a forward pass ÷ time of a forward pass",
        ):
            assert said in words


async def test_a_ledger_with_faults_is_named_and_hides_nothing_else(showing, trial, monkeypatch) -> None:
    from lessons.claims import claims_of
    from lessons.errors import LessonError

    def broken(lesson):
        if lesson.id != "diffusiongemma":
            raise LessonError("The claims ledger has faults", "line 3", "Mend it.", exit_code=2)
        return claims_of(lesson)

    monkeypatch.setattr("labtui.claims.claims_of", broken)
    async with showing(trial[-1]) as lab:
        assert lab.line == "✗ The claims ledger has faults: line 3"
        assert "CLAIMS OF END TO END, YOURS 1,054 tok/s, median of 6" in titles(lab)


async def test_nothing_in_the_evidence_steers_the_terminal(showing, in_store) -> None:
    run = made(RECORDED[0], id="", evidence={"model": "diffusiongemma\x1b]0;owned\x07", "prompt": "a\x9b2J"})
    async with showing(in_store(lambda store: store.runs.add(run)), (80, 120)) as lab:
        assert "\x1b" not in lab.text and "\x9b" not in lab.text and "␛]0;owned␇" in lab.text


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 36)])
async def test_there_is_room_for_the_lines(showing, trial, size) -> None:
    async with showing(trial[-1], size) as lab:
        assert lab.screen.query_one(ResultList).region.height >= 6
        assert all(len(line) <= size[0] for line in lab.text.splitlines())
