from __future__ import annotations

from dataclasses import replace

import pytest

from labtui.screens.fault import FaultBox
from labtui.screens.lab import LabScreen
from labtui.screens.lab_plan import PlanScreen
from labtui.screens.lab_planning import PlanChoice, choice_of, kept_choice, plan_for
from labtui.serving.asked import Asked
from labtui.serving.known_flags import KnownFlag, KnownFlags
from labtui.serving.machine import Machine
from tests.fakes.lab_servers import MACHINE, ServerThere

LESSON = "diffusiongemma"


@pytest.fixture(autouse=True)
def one_machine(monkeypatch) -> None:
    for module in ("plan", "preflight", "machine"):
        monkeypatch.setattr(f"labtui.serving.{module}.read_machine", lambda: MACHINE)


@pytest.fixture
def in_plan(running):
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def open_plan(size=(80, 24)):
        async with running(size, supervisor=ServerThere()) as driven:
            driven.app.open_lab(LESSON)
            await driven.settle()
            await driven.press("p")
            yield driven

    return open_plan


def flat(driven) -> str:
    return " ".join(driven.text.replace("│", " ").split())


async def test_checkpoints_stand_with_whether_they_fit_and_the_suggested_one_is_chosen(in_plan) -> None:
    async with in_plan() as lab:
        assert isinstance(lab.screen, PlanScreen)
        assert "▸ practice" in lab.text
        assert lab.text.count("does not fit") == 5
        assert "Its numbers are practice numbers." in lab.text


async def test_the_whole_command_and_what_each_flag_is_for(in_plan) -> None:
    async with in_plan((100, 60)) as lab:
        assert "VLLM_NO_USAGE_STATS=1" in flat(lab)
        assert "--served-model-name practice" in flat(lab)
        assert "requests that denoise together" in flat(lab)
        assert "✓ vLLM 0.32.0 serves this checkpoint" in flat(lab)


async def test_own_flags_replace_and_are_taken_and_kept(in_plan, in_store) -> None:
    async with in_plan((100, 60)) as lab:
        await lab.press("f")
        await lab.type("--max-num-seqs 2")
        await lab.press("escape")
        assert "--max-num-seqs 2 yours" in flat(lab)
        assert "--max-num-seqs 4" not in flat(lab)
        assert in_store(kept_choice) == PlanChoice()
        await lab.press("enter")
        assert isinstance(lab.screen, LabScreen)
        assert in_store(kept_choice) == PlanChoice("practice", "--max-num-seqs 2")
        assert lab.screen.planned.plan.argv[-2:] == ["--max-num-seqs", "2"]


async def test_esc_takes_nothing_and_half_typed_flags_wait(in_plan, in_store) -> None:
    async with in_plan() as lab:
        await lab.press("f")
        await lab.type("--max-num-seqs 2")
        await lab.press("escape", "escape")
        assert isinstance(lab.screen, LabScreen)
        assert in_store(kept_choice) == PlanChoice()
        assert "--max-num-seqs 2" not in " ".join(lab.screen.planned.plan.argv)
        await lab.press("p")
        assert "--max-num-seqs 2" in lab.text


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("--max-num-seqs 'two", "Your flags cannot be read"),
        ("word", "'word' is no vLLM flag"),
        ("--api-key x", "--api-key would show a secret"),
        ("--host 0.0.0.0", "opens the server to other machines"),
    ],
)
async def test_flags_that_cannot_be_are_told_and_not_taken(in_plan, in_store, typed, words) -> None:
    async with in_plan((100, 40)) as lab:
        lab.screen.query_one("#plan-flags").text = typed
        await lab.settle()
        assert words in flat(lab)
        await lab.press("enter")
        assert isinstance(lab.screen, PlanScreen)
        assert in_store(kept_choice) == PlanChoice()


async def test_another_checkpoint_changes_tasks_and_labels(in_plan) -> None:
    async with in_plan() as lab:
        await lab.press("up", "enter")
        assert lab.screen.planned.plan.checkpoint.id == "gemma4"
        assert "✗ No NVIDIA GPU answers" in lab.text
        assert [task.id for task in lab.screen.tasks][:2] == ["coding", "vision"]


async def test_the_command_is_copied_without_a_key(in_plan, tmp_path) -> None:
    async with in_plan() as lab:
        await lab.press("c")
        copied = (tmp_path / "state" / "labtui" / "copied.txt").read_text()
        assert "--served-model-name practice" in copied and "API_KEY" not in copied.upper()


async def test_a_choice_that_no_longer_exists_can_be_mended(running, in_store) -> None:
    in_store(lambda store: store.progress.save_draft("serve-checkpoint", "gone"))
    async with running(supervisor=ServerThere()) as lab:
        lab.app.open_lab(LESSON)
        await lab.settle()
        assert "✗ There is no checkpoint called 'gone'" in lab.text
        await lab.press("s")
        assert lab.line == "✗ There is no plan that could start: p changes it."
        await lab.press("p", "enter")
        assert not isinstance(lab.screen, FaultBox)
        assert "PLAN  practice" in lab.text


def test_no_vllm_still_makes_a_plan(monkeypatch) -> None:
    none = Machine(gpus=(), memory_available_gib=16.0, vllm=None)
    monkeypatch.setattr("labtui.serving.plan.read_machine", lambda: none)
    assert plan_for(PlanChoice()).program == ("vllm",)


TABLE = """
format_version = 1

[[checkpoint]]
id = "mine"
title = "My own weights"
model = "me/mine"
practice = false
architecture = "gemma4-26b-a4b"
diffusion = true
disk_gb = 28.0
resident_gib = 26.2
min_vllm = "0.26.0"
source = "measured at home"
precision = "fp8"
canvas = 256
min_compute_capability = "8.0"
native_compute_capability = "8.9"
max_num_seqs = 4
"""


async def test_checkpoints_of_ones_own_table_are_offered_and_planned(in_plan, tmp_path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text(TABLE)
    folder = tmp_path / "config" / "labtui"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'checkpoints = ["{table}"]\ncheckpoint = "mine"\nport = 8123\n')
    async with in_plan((100, 60)) as lab:
        assert "▸ mine" in lab.text
        assert "My own weights" in lab.text
        assert "--port 8123" in flat(lab)
        await lab.press("enter")
        assert lab.screen.planned.plan.checkpoint.id == "mine"


async def test_a_flag_that_this_vllm_does_not_have_is_named_with_the_nearest(in_plan, monkeypatch) -> None:
    names = ("--max-num-seqs", "--max-model-len")
    known = KnownFlags("0.32.0", {name: KnownFlag(name, f"what {name} does") for name in names})
    machine = replace(MACHINE, known_flags=known)
    async with in_plan((100, 60)) as lab:
        assert "flags are not held against the installed vLLM yet" in flat(lab)
        for module in ("plan", "preflight", "machine"):
            monkeypatch.setattr(f"labtui.serving.{module}.read_machine", lambda: machine)
        lab.app.look_at_server()
        await lab.settle()
        assert "not held against" not in flat(lab)
        lab.screen.query_one("#plan-flags").text = "--max-num-seq-s 2"
        await lab.settle()
        assert "vLLM 0.32.0 has no flag --max-num-seq-s: did you mean --max-num-seqs?" in flat(lab)
        lab.screen.query_one("#plan-flags").text = "--max-num-seqs 2"
        await lab.settle()
        assert "yours: what --max-num-seqs does" in flat(lab)


def test_what_a_command_asked_for_stays_in_the_choice_made_of_it() -> None:
    asked = Asked("practice", port=8123, max_model_len=1024, extra_flags=("--seed", "7"))
    choice = choice_of(asked)
    assert (choice.checkpoint, choice.flags) == ("practice", "--seed 7 --max-model-len 1024")
    plan = plan_for(choice)
    assert plan.port == 8123
    assert plan.argv[-4:] == ["--seed", "7", "--max-model-len", "1024"]
