"""What the lab looks like. Renew with --snapshot-update after looking at the pictures."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from exercises.records import Check, Fact
from labtui.screens.lab import LabScreen
from labtui.screens.lab_planning import Planned
from labtui.serving.asked import Asked
from labtui.serving.diagnosis import Cause
from labtui.serving.live_figures import Figures
from labtui.serving.plan import make_plan
from labtui.serving.preflight import Finding
from labtui.serving.remedies import Remedy
from tests.fakes.lab_servers import MACHINE, ServerThere, fake_plans
from tests.fakes.vllm_stream import Canvas, FakeVllm, Script
from tests.labtui.test_result_text import RECORDED, made

LESSON = "diffusiongemma"
SMALL, NORMAL, WIDE = (60, 20), (80, 24), (120, 36)
SIZES = pytest.mark.parametrize("size", [SMALL, NORMAL, WIDE], ids=["60x20", "80x24", "120x36"])
TWO = pytest.mark.parametrize("size", [NORMAL, WIDE], ids=["80x24", "120x36"])
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30">\n  <rect width="40" height="30" fill="lightblue"/>\n'
    '  <polygon points="0,30 16,12 26,30" fill="firebrick"/>\n  <circle cx="30" cy="8" r="4" fill="gold"/>\n</svg>'
)
FINDINGS = (
    Finding("vllm", True, "vLLM 0.32.0 is installed"),
    Finding("model", True, "The weights are there"),
    Finding("port", True, "Port 8000 is free"),
)
BROKEN = Finding(
    "vllm",
    False,
    "vLLM is not installed here",
    "Neither this Python environment nor PATH has a program called 'vllm'.",
    "Start labtui with ./lab, which sets everything up",
    blocking=True,
)


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch, tmp_path: Path) -> None:
    """The prompts that are drawn, and the plan of this machine."""
    monkeypatch.setattr("labtui.screens.lab_tasks.secrets.randbelow", lambda most: 7)
    plan_with(monkeypatch, tmp_path, FINDINGS)


def plan_with(monkeypatch, tmp_path: Path, findings) -> None:
    why = (
        "fits: 12.9 GiB of main memory stay free",
        "the server takes 1.5 GiB of main memory, 14.4 GiB are free",
        "numbers from it are practice numbers: they say nothing about DiffusionGemma 26B",
    )
    plan = replace(fake_plans(tmp_path / "weights")(), why=why)
    monkeypatch.setattr(
        "labtui.screens.lab_server.planned", lambda choice, measured=(): Planned(choice, plan, findings)
    )


@pytest.fixture
def picture(snap_compare, make_app, after_keys):
    def compare(server: ServerThere, size, *keys: str, then=None) -> bool:
        app = make_app(supervisor=server)

        async def before(pilot) -> None:
            await after_keys()(pilot)
            app.open_lab(LESSON)
            await after_keys(*keys)(pilot)
            if then is not None:
                await then(pilot)

        return snap_compare(app, terminal_size=size, run_before=before)

    return compare


@SIZES
def test_stopped(picture, size) -> None:
    assert picture(ServerThere(), size)


@TWO
def test_a_fault_before_the_start(picture, size, monkeypatch, tmp_path) -> None:
    plan_with(monkeypatch, tmp_path, (*FINDINGS[1:], BROKEN))
    assert picture(ServerThere(), size)


@TWO
def test_starting(picture, size, in_store) -> None:
    server = ServerThere()
    in_store(lambda store: store.launches.ready(store.launches.add("practice", "key", []).id, 161.0))
    line = "(EngineCore pid=71) INFO 03-02 10:30:01 [weights.py:12] Loading safetensors checkpoint shards:  44% | 4/9"
    server.be(
        "starting",
        stage="loading weights 44%",
        stage_id="weights",
        share=0.44,
        since_s=72.0,
        plan_key="key",
        last_line=line,
    )
    assert picture(server, size)


@TWO
def test_dead(picture, size, monkeypatch) -> None:
    cause = Cause(
        "kv-cache-too-small",
        "The KV cache is too small for 262,144 tokens",
        "vLLM has room for 187,392 tokens at this setting.",
        "Start with --max-model-len 187392.",
        412,
        "ValueError: To serve at least one request with the models's max seq len (262144), 24.0 GiB KV cache is needed",
    )
    server = ServerThere()
    server.be("stopped", launch_id="l", causes=(cause,), log_path=Path("/home/you/labtui/logs/20260302.log"))
    asked = Asked("practice", max_model_len=1536)
    plan = make_plan(**asked.choices(), machine=MACHINE)
    larger = make_plan("practice", machine=MACHINE, extra_flags=["--kv-cache-memory-bytes", "268435456"])
    server.offered = (
        (cause, Remedy(plan, "requests of 1,536 tokens at most instead of 4,096")),
        (cause, Remedy(larger, "256.0 MiB for the KV cache instead of 128.0 MiB")),
    )
    server.launch = SimpleNamespace(command=tuple(make_plan("practice", machine=MACHINE).argv))
    monkeypatch.setattr("labtui.launch_record.record_launch", lambda *known: None)
    assert picture(server, size)


@SIZES
def test_ready_for_the_vision_task(picture, size, in_store, make_run, monkeypatch) -> None:
    in_store(lambda store: store.runs.add(make_run(id="aaaa1111bbbb")))
    monkeypatch.setattr("labtui.screens.lab.LabScreen._figures", lambda self, status: Figures(1, 0, 0.02, 1060.0, 16.0))
    past = (0.0, None, 300.0, 900.0, 1060.0), (0.0, None, 0.2, 0.4, 0.02)
    monkeypatch.setattr("labtui.screens.lab.LabScreen._past", lambda self, seen: past)
    server = ServerThere()
    server.be("ready", since_s=60.0, launch_id="l")
    assert picture(server, size, "2")


@SIZES
def test_a_result(picture, size, in_store, make_run) -> None:
    check = Check(False, (Fact("is an SVG", True), Fact("parses as XML", True), Fact("moves", False, "no animation")))
    in_store(lambda store: store.runs.add(make_run(id="aaaa1111bbbb", check=check)))
    server = ServerThere()
    server.be("ready", since_s=60.0, launch_id="l")
    assert picture(server, size, "l", "enter")


@TWO
def test_a_run_under_way(picture, size) -> None:
    script = Script((Canvas(0.01, 64, SVG[:130]),), hang=True)
    with FakeVllm(script) as fake:

        async def run(pilot) -> None:
            await pilot.press("enter")
            deadline = time.monotonic() + 20
            while pilot.app.screen.desk.progress.canvases < 1:
                assert time.monotonic() < deadline
                await pilot.pause()
            await pilot.pause()
            moment = replace(pilot.app.screen.desk.progress, arrived_s=0.25)
            pilot.app.screen.panel.show_live(moment, pilot.app.now())
            await pilot.pause()

        assert picture(ServerThere(fake.url), size, then=run)


@SIZES
def test_an_answer(picture, size, in_store, make_run) -> None:
    run = make_run(id="aaaa1111bbbb", output=SVG, evidence={"prompt": "Write an SVG of a volcano."})
    in_store(lambda store: store.runs.add(run))
    server = ServerThere()
    server.be("ready", since_s=60.0, launch_id="l")

    async def drawn(pilot) -> None:
        await pilot.app.workers.wait_for_complete([one for one in pilot.app.workers if one.group == "answer"])
        await pilot.pause()

    assert picture(server, size, "l", "enter", "v", then=drawn)


@TWO
def test_a_trial_under_way(picture, size, make_run) -> None:
    script = Script((Canvas(0.01, 64, SVG[:130]),), hang=True)
    with FakeVllm(script) as fake:

        async def run(pilot) -> None:
            await pilot.press("r", "8", "enter", "enter")
            deadline = time.monotonic() + 20
            while not isinstance(pilot.app.screen, LabScreen) or pilot.app.screen.desk.progress is None:
                assert time.monotonic() < deadline
                await pilot.pause()
            while pilot.app.screen.desk.progress.canvases < 1:
                assert time.monotonic() < deadline
                await pilot.pause()
            kept = tuple(make_run(id=f"r{n}", warmup=n == 0) for n in range(4))
            panel, moment = pilot.app.screen.panel, pilot.app.screen.desk.progress
            moment = replace(moment, kept=kept, number=4, of=8, warmup=False, arrived_s=0.25)
            panel.show_live(moment, pilot.app.now())
            await pilot.pause()

        assert picture(ServerThere(fake.url), size, then=run)


@SIZES
def test_a_result_in_full(picture, size, in_store) -> None:
    runs = [
        made(run, id=f"aaaa1111bb0{n}", trial="t-1", warmup=n == 0, started_at=f"2026-03-02T09:0{n}:00+00:00")
        for n, run in enumerate(RECORDED)
    ]
    in_store(lambda store: [store.runs.add(run) for run in runs])
    server = ServerThere(practice=False, checkpoint="fp8")
    server.be("ready", since_s=60.0, launch_id="l")
    assert picture(server, size, "o", "n", "n")


def test_sixteen_colours(picture, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    monkeypatch.delenv("COLORTERM")
    server = ServerThere()
    server.be("ready", since_s=60.0, launch_id="l")
    assert picture(server, NORMAL, "2")


def test_how_often(picture) -> None:
    assert picture(ServerThere(), NORMAL, "r", "5")


def test_the_question_before_a_stop(picture) -> None:
    server = ServerThere()
    server.be("ready", since_s=60.0, launch_id="l")
    assert picture(server, NORMAL, "s")
