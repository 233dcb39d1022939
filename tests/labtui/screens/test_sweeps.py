"""Sweeps by keys, against a server of known answers over real HTTP."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from exercises.speed import format_rate
from exercises.sweep import SweepProgress
from exercises.sweep_panels import UNKNOWN_TOGETHER
from labtui.screens.fault import FaultBox
from labtui.screens.home import HomeScreen
from labtui.screens.sweep_boxes import PointsBox
from labtui.screens.sweep_desk import SweepDesk
from labtui.screens.sweeps import SweepScreen
from labtui.sweep_progress import SweepOrder, SweepTeller
from tests.exercises.test_sweep_plot import document
from tests.fakes.lab_servers import ServerThere
from tests.fakes.vllm_stream import Canvas, FakeVllm, Script
from tests.labtui.screens.conftest import NOW, Driven

LESSON = "diffusiongemma"
ANSWER = Script((Canvas(0.01, 64, "def is_prime(n):\n"), Canvas(0.03, 40, "    return n\n")))
HANGS = Script((Canvas(0.01, 64, "def is_prime(n):\n"),), hang=True)
ONE_ROUND = ("r", "1", "down", "0", "enter")


class LaunchedThere(ServerThere):
    """As one that labtui started: its command is known."""

    def endpoint(self):
        command = ["vllm", "serve", "m", "--max-num-seqs", "2"]
        found = super().endpoint()
        return replace(found, evidence={**found.evidence, "command": command})


@pytest.fixture
def in_sweeps(running):
    @asynccontextmanager
    async def open_sweeps(script=ANSWER, size=(80, 24), keys=(), server=ServerThere, **known):
        with FakeVllm(script) as fake:
            async with running(size, supervisor=server(fake.url, **known)) as driven:
                driven.app.push_screen(SweepScreen(LESSON))
                await driven.settle()
                driven.fake = fake
                await driven.press(*keys)
                yield driven

    return open_sweeps


async def until(driven, there, limit_s: float = 20.0) -> None:
    """Lets the app go on until it is so; the deadline is only there so that a broken test ends."""
    deadline = time.monotonic() + limit_s
    while not there():
        assert time.monotonic() < deadline, driven.text
        await driven.pilot.pause()


async def test_what_would_be_run_is_told_before_it_is(in_sweeps) -> None:
    async with in_sweeps() as lab:
        assert "[kind of prompt]" in lab.text and "short, prose, code, structured" in lab.text
        assert "3 rounds, after 1 warm-up · 16 requests" in lab.text
        assert not lab.fake.bodies
        await lab.press("k")
        assert "[requests at once]" in lab.text and "1, 2, 3, 4, 5, 6, 7, 8" in lab.text
        assert "t  task    coding" in lab.text and "144 requests" in lab.text
        await lab.press("t")
        assert "t  task    vision" in lab.text


async def test_a_sweep_by_kind_is_drawn_and_kept_with_the_numbers_of_the_command(in_sweeps, in_store) -> None:
    async with in_sweeps(keys=(*ONE_ROUND, "enter")) as lab:
        (record,) = in_store(lambda store: store.sweeps.list())
        assert lab.screen.document == record.document
        assert lab.line == "✓ 4 of 4 points, 4 runs saved."
        text = lab.text
        for point in record.document["points"]:
            assert point["label"] in text and format_rate(point["aggregate_tps"]) in text
        assert "these numbers say nothing about DiffusionGemma" in text
        assert "Completion tokens of one stream ÷ (its last content byte − its request sent)." in " ".join(text.split())
        await lab.press("pagedown")
        assert "steps per canvas" in lab.text and "█" in lab.text


async def test_points_are_chosen_and_more_at_once_than_run_together_is_called_queueing(in_sweeps) -> None:
    async with in_sweeps(server=LaunchedThere, size=(80, 40), keys=("k", *ONE_ROUND, "p")) as lab:
        assert isinstance(lab.screen, PointsBox)
        await lab.type("1,3")
        await lab.press("enter")
        assert "4 requests" in lab.text
        await lab.press("enter")
        text = " ".join(lab.text.split())
        assert "This server runs 2 requests together (--max-num-seqs): at 3 at once some wait" in text
        assert text.count("· queueing") + text.count(" queueing ") >= 1
        assert "all requests together" in text and "each request, median" in text


async def test_where_the_servers_queue_is_not_known_that_is_said(in_sweeps) -> None:
    async with in_sweeps(size=(80, 40), keys=("k", *ONE_ROUND, "p", "1", "enter", "enter")) as lab:
        assert UNKNOWN_TOGETHER in " ".join(lab.text.split())


async def test_steps_say_why_they_cannot_be_varied_here_and_nothing_is_sent(in_sweeps) -> None:
    async with in_sweeps(keys=("k", "k", "enter")) as lab:
        assert "on the CPU build of vLLM such a request kills the engine" in " ".join(lab.text.split())
        assert lab.line.startswith("✗ This server takes no cap on denoising steps by request")
        assert not lab.fake.bodies


async def test_steps_are_varied_where_the_server_takes_them(in_sweeps) -> None:
    known = {"practice": False, "checkpoint": "bf16"}
    async with in_sweeps(keys=("k", "k", *ONE_ROUND, "p", *"8", "comma", *"16", "enter", "enter"), **known) as lab:
        assert [body["vllm_xargs"]["diffusion_max_steps"] for body in lab.fake.bodies] == [8, 16]
        assert "practice" not in lab.text
        assert "sweep by cap on denoising steps · coding · bf16" in lab.text


async def test_points_that_there_are_not_are_refused_with_those_that_there_are(in_sweeps) -> None:
    async with in_sweeps(keys=("p", *"poem", "enter", "enter")) as lab:
        assert "There is no kind of prompt 'poem'" in lab.text and "structured" in lab.text
        assert not lab.fake.bodies


async def test_stopping_keeps_what_is_finished(in_sweeps, in_store) -> None:
    async with in_sweeps(HANGS) as lab:
        await lab.pilot.press("enter")
        await until(lab, lambda: lab.fake.bodies and "of 16 requests" in lab.text)
        assert "x stops the sweep and keeps what is finished" in lab.line
        await lab.press("x")
        assert "Stopped" in lab.line
        assert not lab.screen.desk.busy
        kept = in_store(lambda store: store.sweeps.list())
        assert all(record.document["cancelled"] for record in kept)


async def test_it_goes_on_and_is_kept_when_the_screen_is_left(in_sweeps, in_store) -> None:
    async with in_sweeps(keys=ONE_ROUND) as lab:
        await lab.pilot.press("enter")
        await lab.pilot.press("escape")
        await until(lab, lambda: isinstance(lab.screen, HomeScreen))
        await lab.settle()
        assert lab.screen.query_one(SweepDesk).display is False
        (record,) = in_store(lambda store: store.sweeps.list())
        assert len(record.document["points"]) == 4


async def test_arrows_walk_the_sweeps_that_are_kept(in_sweeps, in_store) -> None:
    async with in_sweeps(keys=(*ONE_ROUND, "enter", "p", *"code", "enter", "enter")) as lab:
        newest, older = in_store(lambda store: store.sweeps.list())
        assert lab.screen.document["id"] == newest.id
        await lab.press("left")
        assert lab.screen.document["id"] == older.id and "Sweep 1 of 2" in lab.line
        await lab.press("left", "right")
        assert lab.screen.document["id"] == newest.id
        await lab.press("k")
        assert lab.screen.document is None, "none by requests at once yet"
        await lab.press("k", "k")
        assert lab.screen.document["id"] == newest.id


async def test_c_runs_what_a_stopped_sweep_misses(in_sweeps, in_store) -> None:
    async with in_sweeps(keys=(*ONE_ROUND, "p", *"code", "enter", "enter")) as lab:
        assert "c continue" not in lab.keys
        (record,) = in_store(lambda store: store.sweeps.list())
        stopped = {**record.document, "labels": ["short", "code"], "asked": 2, "cancelled": True}
        in_store(lambda store: store.sweeps.save(stopped))
        await lab.press("escape")
        lab.app.push_screen(SweepScreen(LESSON))
        await lab.settle()
        assert "1 of 2 points have runs." in lab.text and any("continue" in key for key in lab.keys)
        await lab.press("c")
        whole = in_store(lambda store: store.sweeps.get(record.id)).document
        assert [point["label"] for point in whole["points"]] == ["short", "code"]
        assert lab.screen.document == whole and not whole["cancelled"]


async def test_a_server_that_refuses_is_explained_and_nothing_is_drawn(in_sweeps) -> None:
    async with in_sweeps(Script(refuse=(500, "EngineCore encountered an issue")), keys=(*ONE_ROUND, "enter")) as lab:
        assert isinstance(lab.screen, FaultBox) and "EngineCore" in lab.text
        await lab.press("escape")
        assert isinstance(lab.screen, SweepScreen)
        assert not lab.screen.desk.busy and lab.screen.document is None


async def test_without_a_server_it_says_where_one_is_started(running) -> None:
    async with running() as lab:
        lab.app.push_screen(SweepScreen(LESSON))
        await lab.settle()
        assert "No server is ready: esc, then s in the lab" in lab.line
        await lab.press("enter")
        assert lab.line.startswith("✗ The server is not ready")


def test_a_moment_says_how_far_it_is_and_what_is_left() -> None:
    said = []
    teller = SweepTeller(SweepOrder("kinds", None), lambda: NOW, said.append)
    teller.tell(SweepProgress("s-1", 8, 16, 70.0))
    bar, _ = said[-1].lines(NOW + timedelta(seconds=10))
    assert bar == "■" * 12 + "□" * 12 + "  8 of 16 requests · about 1:00 left"
    assert said[-1].words(NOW) == "sweep by kind of prompt · 8 of 16 requests · about 1:10 left"


def kept_sweep(store) -> None:
    """Fixed numbers, of a server that runs two together."""
    made = document("concurrency", [("1", 871.0, 2.0), ("2", 1185.0, 2.0), ("4", 1356.0, None)], practice=True)
    for point in made["points"]:
        point |= {"streams": int(point["label"]), "task": "code", "runs": ["r"], "aggregate_tps_interval": None}
        point |= {"steps_per_canvas_reason": None if point["steps_per_canvas"] else "others were answered meanwhile"}
    store.sweeps.save(made | {"checkpoint": "practice", "runs_together": 2, "rounds": 1, "asked": 3})


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
def test_a_picture_of_a_sweep(snap_compare, make_app, in_store, size) -> None:
    in_store(kept_sweep)
    app = make_app(supervisor=ServerThere("http://127.0.0.1:2"))

    async def open_it(pilot) -> None:
        driven = Driven(pilot)
        await driven.settle()
        app.push_screen(SweepScreen(LESSON))
        await driven.settle()

    assert snap_compare(app, terminal_size=size, run_before=open_it)
