"""The lab by keys: tasks, runs and results against a server of known answers, over real HTTP."""

from __future__ import annotations

import threading
import time
from contextlib import asynccontextmanager

import pytest

from exercises.speed import format_rate
from labtui.screens.fault import FaultBox
from labtui.screens.home import HomeScreen
from labtui.screens.lab import LabScreen
from labtui.screens.lab_answer import AnswerScreen
from labtui.screens.lab_boxes import QuestionBox, RepeatsBox
from labtui.screens.lab_desk import RunDesk
from labtui.screens.verdict import VerdictScreen
from labtui.widgets.run_panel import RunPanel
from store.errors import StoreError
from tests.fakes.lab_servers import ServerThere
from tests.fakes.vllm_stream import CASE_B, Canvas, FakeVllm, Script, scaled

LESSON = "diffusiongemma"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4" fill="red"/></svg>'
FAST = scaled(CASE_B, 0.05)
ONE_CANVAS = Script((Canvas(0.02, 180, "Yes, it passes."),))
HANGS = Script((Canvas(0.02, 64, "<svg> the first canvas "),), hang=True)


class HeldVllm(FakeVllm):
    """Sends the first canvas, and the rest when it may go on."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.go_on = threading.Event()

    def wait_until(self, moment: float) -> None:
        if any("first " in payload for _, payload in self.sent):
            self.go_on.wait(60)


@pytest.fixture
def in_lab(make_app, running):
    """The app with the lab open, on a server that plays a script."""

    @asynccontextmanager
    async def open_lab(script=FAST, size=(80, 24), keys=(), scripts=None, fake=None, **server):
        with fake or FakeVllm(script, scripts=scripts or {}) as fake:
            there = ServerThere(fake.url, **server)
            async with running(size, supervisor=there) as driven:
                driven.app.open_lab(LESSON)
                await driven.settle()
                driven.fake, driven.server = fake, there
                await driven.press(*keys)
                yield driven

    return open_lab


async def until(driven, there, limit_s: float = 20.0) -> None:
    """Lets the app go on until it is so; the deadline is only there so that a broken test ends."""
    deadline = time.monotonic() + limit_s
    while not there():
        assert time.monotonic() < deadline, driven.text
        await driven.pilot.pause()


def panel(driven) -> RunPanel:
    return driven.screen.query_one(RunPanel)


async def test_the_tasks_are_those_of_the_served_checkpoint_the_lessons_own_first(in_lab) -> None:
    async with in_lab() as lab:
        assert [task.id for task in lab.screen.tasks] == ["coding", "vision", "coding-python"]
        assert "practice checkpoint" in lab.text
    async with in_lab(practice=False, checkpoint="bf16") as lab:
        assert [task.id for task in lab.screen.tasks][:2] == ["coding", "vision"]
        assert "practice" not in lab.text


async def test_the_prompt_that_is_shown_is_the_one_that_is_sent(in_lab) -> None:
    async with in_lab() as lab:
        shown = lab.screen.upcoming["coding"].prompt_text
        assert shown.strip() in " ".join(lab.text.split())
        lab.screen._repeats = lab.screen._repeats.__class__(1, 0)
        await lab.press("enter")
        assert [body["messages"][0]["content"] for body in lab.fake.bodies] == [shown]
        assert lab.screen.upcoming["coding"].prompt_text.strip()


async def test_a_coding_run_is_measured_kept_and_only_then_called_saved(in_lab, in_store) -> None:
    async with in_lab(keys=("enter",)) as lab:
        (run,) = [run for run in in_store(lambda store: store.runs.list()) if not run.warmup]
        assert run.practice and run.task == "coding"
        assert panel(lab).run_shown == run
        text = lab.text
        assert f"end to end              {format_rate(run.speed.end_to_end_tps)}" in text
        assert "Completion tokens ÷ (last content byte − request sent)." in text
        assert "after the first canvas" in text and "(2 gaps)" in text
        assert "these numbers say nothing about DiffusionGemma" in text
        assert f"saved · run {run.id}" in text
        assert lab.line.startswith("✓ 2 runs saved")


async def test_no_result_without_practice_in_it_where_it_is_practice(in_lab) -> None:
    async with in_lab(practice=False, checkpoint="bf16", keys=("enter",)) as lab:
        assert "practice" not in lab.text
        assert "coding · bf16 · saved" in lab.text


async def test_what_cannot_be_measured_says_so_with_its_reason(in_lab) -> None:
    async with in_lab(ONE_CANVAS, keys=("2", "enter")) as lab:
        assert "after the first canvas  not measurable: one canvas" in lab.text
        assert "inf" not in lab.text.replace("information", "")


async def test_every_value_shows_its_definition_when_it_is_chosen(in_lab) -> None:
    async with in_lab(size=(80, 40), keys=("enter", "i", "down", "down")) as lab:
        assert "prefill and all denoising steps of the first canvas" in " ".join(lab.text.split())
        assert "Completion tokens ÷" not in lab.text


async def test_the_facts_of_the_check_stand_with_their_signs(in_lab) -> None:
    script = Script((Canvas(0.02, 64, SVG),))
    async with in_lab(script, size=(80, 50), practice=False, checkpoint="bf16", keys=("enter",)) as lab:
        assert "✓ parses as XML" in lab.text
        assert "✗ moves: no animation in it" in lab.text


async def test_digits_and_arrows_choose_a_task_and_the_picture_of_a_vision_task_is_shown(in_lab) -> None:
    async with in_lab() as lab:
        assert "▀" not in lab.text
        await lab.press("2")
        assert lab.screen.chosen_task.id == "vision"
        assert "▀" in lab.text
        await lab.press("up")
        assert lab.screen.chosen_task.id == "coding"
        await lab.press("9")
        assert lab.screen.chosen_task.id == "coding"


async def test_in_few_colours_a_picture_is_told_in_words(in_lab, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    monkeypatch.delenv("COLORTERM")
    async with in_lab(keys=("2",)) as lab:
        assert "▀" not in lab.text
        assert "[picture:" in lab.text


async def test_r_asks_how_often_and_a_trial_shows_its_median(in_lab, in_store) -> None:
    async with in_lab(size=(120, 36)) as lab:
        await lab.press("r")
        assert isinstance(lab.screen, RepeatsBox)
        await lab.press("3", "down", "right", "enter")
        assert "3 runs, no warm-up" in lab.text
        await lab.press("enter")
        runs = in_store(lambda store: store.runs.list())
        assert len(runs) == 3 and not any(run.warmup for run in runs)
        words = " ".join(lab.text.replace("│", " ").split())
        assert "last of 3 runs that count" in words and "tok/s, median" in words
        assert lab.line.startswith("✓ 3 runs saved")


async def test_a_launch_that_has_answered_nothing_is_warmed_up_first_and_not_again(in_lab, in_store) -> None:
    async with in_lab(keys=("enter", "enter")) as lab:
        runs = in_store(lambda store: store.runs.list())
        assert sorted(run.warmup for run in runs) == [False, False, True]
        assert len(lab.fake.bodies) == 3


async def test_canvases_are_shown_as_they_come_and_x_keeps_what_came(in_lab, in_store) -> None:
    async with in_lab(HANGS) as lab:
        await lab.pilot.press("enter")
        await until(lab, lambda: "the first canvas" in lab.text)
        assert "warm-up" in lab.text
        assert "canvas 1 · 64 tokens" in lab.text
        assert lab.line == "▸ x stops the run and keeps what is finished. You may leave: it goes on."
        await lab.press("x")
        (run,) = in_store(lambda store: store.runs.list())
        assert not run.valid and "cancelled" in run.invalid_reason
        assert "the first canvas" in run.output
        assert "✗ not valid: cancelled" in lab.text
        assert lab.line.startswith("✓ Stopped. Saved.")


async def test_a_run_goes_on_when_the_lab_is_left_is_kept_and_shown_on_return(in_lab, in_store) -> None:
    held = HeldVllm(Script((Canvas(0.02, 64, "first "), Canvas(0.04, 64, "second "))))
    async with in_lab(fake=held) as lab:
        lab.screen._repeats = lab.screen._repeats.__class__(1, 0)
        await lab.pilot.press("enter")
        await until(lab, lambda: "canvas 1" in lab.text)
        await lab.pilot.press("escape")
        await until(lab, lambda: isinstance(lab.screen, HomeScreen))
        assert "◐ coding: run · practice · canvas 1" in lab.text
        held.go_on.set()
        await lab.settle()
        assert "◐ coding" not in lab.text
        assert "tok/s end to end" in lab.text
        (run,) = in_store(lambda store: store.runs.list())
        assert run.valid and run.output == "first second "
        await lab.press("s")
        assert f"saved · run {run.id}" in lab.text


async def test_leaving_labtui_ends_a_run_and_keeps_what_came(in_lab, in_store) -> None:
    async with in_lab(HANGS) as lab:
        await lab.pilot.press("enter")
        await until(lab, lambda: "the first canvas" in lab.text)
    (run,) = in_store(lambda store: store.runs.list())
    assert not run.valid and "the first canvas" in run.output


async def test_a_refused_request_is_one_clear_panel_and_the_next_run_works(in_lab) -> None:
    refuses = Script(refuse=(400, "max_tokens is too large"))
    async with in_lab(FAST, scripts={0: refuses}) as lab:
        await lab.press("enter")
        assert panel(lab).mode == "fault"
        assert "✗ The server refused the request" in lab.text
        assert "max_tokens is too large" in lab.text
        assert "→" in lab.text
        await lab.press("enter")
        assert panel(lab).mode == "result"


async def test_a_stream_that_breaks_off_is_kept_as_not_valid(in_lab, in_store) -> None:
    breaks = Script((Canvas(0.02, 64, "half an answer "),), break_off_at_s=0.05)
    async with in_lab(breaks, keys=("enter",)) as lab:
        assert "✗ not valid: the connection broke off" in lab.text
        assert all(not run.valid for run in in_store(lambda store: store.runs.list()))


async def test_a_server_that_is_gone_is_said_and_nothing_is_lost(in_lab, in_store) -> None:
    async with in_lab() as lab:
        lab.server.url = "http://127.0.0.1:9"
        await lab.press("enter")
        assert "✗ No server answers" in lab.text
        assert in_store(lambda store: store.runs.list()) == []
        await lab.press("escape")
        assert panel(lab).mode == "about"


async def test_a_run_that_the_store_cannot_take_is_in_a_file_that_is_named(in_lab, monkeypatch, tmp_path) -> None:
    def full(self, run):
        raise StoreError("The disk is full", "no space left", "Free some space.")

    async with in_lab() as lab:
        monkeypatch.setattr("store.runs.Runs.add", full)
        await lab.press("enter")
        assert "✗ The run was not kept: The disk is full" in lab.text
        assert "saved" not in lab.text.casefold()
        assert len(list((tmp_path / "state").rglob("run-*.json"))) == 1


async def test_code_of_the_model_runs_only_after_a_yes(in_lab) -> None:
    code = "```python\ndef is_prime(n):\n    return n > 1\n```"
    async with in_lab(Script((Canvas(0.02, 64, code),)), keys=("3", "enter")) as lab:
        assert isinstance(lab.screen, QuestionBox)
        await lab.press("n")
        assert lab.fake.bodies == []
        await lab.press("enter", "y")
        assert len(lab.fake.bodies) == 2
        await lab.press("enter")
        assert isinstance(lab.screen, LabScreen)
        assert len(lab.fake.bodies) == 3


async def test_nothing_in_an_answer_steers_the_terminal(in_lab) -> None:
    evil = Script((Canvas(0.02, 64, "\x1b]0;owned\x07[bold]not markup[/bold] \x9b2J"),), hang=True)
    async with in_lab(evil) as lab:
        await lab.pilot.press("enter")
        await until(lab, lambda: "not markup" in lab.text)
        assert "\x1b" not in lab.text and "\x9b" not in lab.text
        assert "[bold]not markup[/bold]" in lab.text
        await lab.press("x", "v")
        assert isinstance(lab.screen, AnswerScreen)
        assert "\x1b" not in lab.text and "␛]0;owned␇" in lab.text


async def test_latest_runs_can_be_looked_at_again(in_lab, in_store, make_run) -> None:
    kept = in_store(lambda store: store.runs.add(make_run(task="vision")))
    async with in_lab(size=(100, 30)) as lab:
        assert "vision · practice · " in lab.text
        await lab.press("l", "enter")
        assert panel(lab).run_shown == kept
        assert kept.id in lab.text
        await lab.press("escape")
        assert panel(lab).mode == "about"
        await lab.press("escape")
        assert isinstance(lab.screen, HomeScreen)


async def test_enter_without_a_ready_server_says_what_to_do(in_lab, in_store) -> None:
    async with in_lab() as lab:
        lab.server.be("starting", stage="loading weights", since_s=12.0)
        lab.app.look_at_server()
        await lab.settle()
        await lab.press("enter")
        assert lab.line == "✗ The server is not ready yet."
        assert lab.fake.bodies == []


async def test_w_goes_to_the_verdict(in_lab) -> None:
    async with in_lab(keys=("w",)) as lab:
        assert isinstance(lab.screen, VerdictScreen)


async def test_the_live_figures_come_from_the_servers_counters(in_lab) -> None:
    async with in_lab(keys=("enter",)) as lab:
        lab.app.look_at_server()
        await lab.settle()
        assert "requests 0 running, 0 waiting" in lab.text
        assert "steps 16" in lab.text
        lab.fake.metrics = "none"
        lab.app.look_at_server()
        await lab.settle()
        assert "requests – running, – waiting   KV –   delivering –   steps –" in lab.text


async def test_an_unreadable_store_does_not_stop_the_lab(in_lab, monkeypatch) -> None:
    def broken(self, **wanted):
        raise StoreError("The store cannot be read", "a test says so", "Mend it.")

    async with in_lab() as lab:
        monkeypatch.setattr("store.runs.Runs.list", broken)
        await lab.press("enter")
        boxes = 0
        while isinstance(lab.screen, FaultBox) and boxes < 3:
            await lab.press("escape")
            boxes += 1
        assert boxes
        assert isinstance(lab.screen, LabScreen)
        assert "✗ The store cannot be read" in lab.text
        await lab.press("escape")
        assert "asks:" in lab.text


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 36)])
async def test_everything_fits(in_lab, size) -> None:
    async with in_lab(size=size, keys=("enter",)) as lab:
        body = lab.screen.query_one("#body").region
        shown = lab.screen.query_one("#result").region
        assert shown.height >= 4
        assert body.contains_region(shown)


async def test_there_is_one_desk_however_often_the_lab_is_opened(in_lab) -> None:
    async with in_lab() as lab:
        await lab.press("escape", "s", "escape", "s")
        home = next(screen for screen in lab.app.screen_stack if isinstance(screen, HomeScreen))
        assert len(home.query(RunDesk)) == 1


async def test_runs_made_by_command_meanwhile_appear(in_lab, in_store, make_run) -> None:
    async with in_lab() as lab:
        assert "None yet." in lab.text
        in_store(lambda store: store.runs.add(make_run(id="bbbb1111cccc")))
        lab.app.look_at_server()
        await lab.settle()
        assert "None yet." not in lab.text
        assert "coding · practice" in lab.text
