"""Cases A and B and every recorded stream: the live view, the lab's panel and the result screen show exactly the
numbers that `runs --json`, `show` and `compare` give."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from exercises.records import Run
from exercises.speed import LABELS, format_rate, speed_from_json, speed_lines
from exercises.trace import read_traces
from labtui.cli.main import labtui
from labtui.result_text import Measured, sections
from labtui.screens.result import ResultScreen
from labtui.screens.runs import CompareScreen
from labtui.widgets.result_list import ResultList
from labtui.widgets.run_panel import RunPanel
from tests.fakes.lab_servers import ServerThere
from tests.fakes.vllm_stream import CASE_A, CASE_B, FakeVllm, scaled
from tests.labtui.test_trial_progress import CASE_A as A
from tests.labtui.test_trial_progress import CASE_B as B
from tests.labtui.test_trial_progress import FIXTURES


def recorded_runs(make_run) -> list[Run]:
    paths = [
        path
        for pattern in ("vllm-cpu-0.32*/streams/*.txt", "vllm-cuda-0.26/*.json", "vllm-cuda-0.26/streams/*.txt")
        for path in sorted(FIXTURES.glob(pattern))
    ]
    found = [run for path in paths for run in read_traces(path)]
    cases = [make_run(timeline=timeline) for timeline in (A, B)]
    return [
        replace(run, id="", trial=None, started_at=f"2026-03-02T09:{n // 60:02}:{n % 60:02}+00:00")
        for n, run in enumerate((*cases, *found))
    ]


@pytest.fixture
def command(store_path):
    def call(*words: str) -> Any:
        result = CliRunner().invoke(labtui, ["--store", str(store_path), *words])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout) if "--json" in words else result.stdout

    return call


def told(document: dict[str, Any]) -> dict[str, str]:
    """What the values of a document look like where they are shown."""
    return {line.key: line.value for line in speed_lines(speed_from_json(document["speed"]))}


def shown(rows: ResultList) -> dict[str, str]:
    return {choice.id: choice.right for choice in rows.choices if choice.id in LABELS}


async def test_every_recorded_run_has_the_same_numbers_on_the_screens_and_in_the_commands(
    running, in_store, make_run, command
) -> None:
    runs = in_store(lambda store: [store.runs.add(run) for run in recorded_runs(make_run)])
    listed = {document["id"]: document for document in command("runs", "--all", "--json")}
    assert set(listed) == {run.id for run in runs} and len(runs) > 50
    async with running((80, 24), supervisor=ServerThere()) as lab:
        lab.app.open_lab("diffusiongemma")
        await lab.settle()
        panel = lab.screen.query_one(RunPanel)
        for run in runs:
            panel.show_result(run, lab.app.now(), "")
            values = told(listed[run.id])
            assert shown(panel.query_one(ResultList)) == values
            rows = [row for part in sections(Measured(run), ()) for row in part.rows]
            assert {row.key: row.value for row in rows if row.key in LABELS} == values
        for run in (*runs[:2], runs[20], runs[-1]):
            show, compare = command("show", run.id, "--json"), command("compare", run.id, run.id, "--json")
            assert show["speed"] == listed[run.id]["speed"]
            assert [one["speed"] for one in compare["runs"]] == [show["speed"]] * 2
            lab.app.push_screen(ResultScreen(run))
            await lab.settle()
            assert shown(lab.screen.query_one(ResultList)) == told(show)
            text = command("show", run.id)
            assert all(value in text for value in told(show).values())
            await lab.press("escape")
            lab.app.push_screen(CompareScreen(run, run))
            await lab.settle()
            both = shown(lab.screen.query_one(ResultList))
            for key, value in told(show).items():
                assert both[key].startswith((f"{value} → {value}", f"both {value}"))
            await lab.press("escape")


@pytest.mark.parametrize("script", [scaled(CASE_A, 0.1), scaled(CASE_B, 0.1)], ids=["case-a", "case-b"])
async def test_a_run_under_way_ends_with_the_numbers_that_are_kept(running, command, script, monkeypatch) -> None:
    heads: list[str] = []
    head = RunPanel._head

    def listening(self: RunPanel, text: str, label: str) -> None:
        heads.append(text)
        head(self, text, label)

    monkeypatch.setattr(RunPanel, "_head", listening)
    with FakeVllm(script) as fake:
        async with running((80, 40), supervisor=ServerThere(fake.url)) as lab:
            lab.app.open_lab("diffusiongemma")
            await lab.settle()
            lab.screen._repeats = lab.screen._repeats.__class__(1, 0)
            await lab.press("enter")
            (document,) = command("runs", "--json")
            values = told(document)
            rate = format_rate(document["speed"]["end_to_end_tps"])
            live = [text for text in heads if "so far" in text]
            assert f"canvas {values['canvases']} · {values['completion_tokens']} tokens · {rate} so far" in live[-1]
            assert shown(lab.screen.query_one(ResultList)) == values
            await lab.press("o")
            assert shown(lab.screen.query_one(ResultList)) == values
            assert f"end to end {rate} · coding · practice" in lab.text
            assert told(command("show", document["id"], "--json")) == values
