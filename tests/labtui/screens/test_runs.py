"""All runs by keys: open one, compare two."""

from __future__ import annotations

import pytest

from labtui.result_text import PRACTICE
from labtui.screens.lab import LabScreen
from labtui.screens.result import ResultScreen
from labtui.screens.runs import CompareScreen, RunsScreen
from labtui.widgets.choices import Choices
from labtui.widgets.result_list import ResultList
from tests.fakes.lab_servers import ServerThere
from tests.labtui.test_result_text import RECORDED, made


@pytest.fixture
def kept(in_store, make_run):
    """Newest last: practice, then four of a real model in two trials."""

    def keep(store):
        store.runs.add(make_run(id="", started_at="2026-11-30T20:00:00+00:00"))
        for n in range(4):
            run = made(RECORDED[n], id="", trial=f"t{n // 2}", started_at=f"2026-11-30T21:0{n}:00+00:00")
            store.runs.add(run)
        return store.runs.list()

    return in_store(keep)


async def open_runs(lab) -> None:
    lab.app.open_lab("diffusiongemma")
    await lab.settle()
    await lab.press("u")
    assert isinstance(lab.screen, RunsScreen)


async def test_the_newest_comes_first_and_enter_opens_its_result(running, kept) -> None:
    async with running(supervisor=ServerThere()) as lab:
        await open_runs(lab)
        ids = [choice.id for choice in lab.screen.query_one(Choices).choices]
        assert ids == [run.id for run in kept]
        assert "5 runs" in lab.text and f"! {PRACTICE}" in lab.text
        await lab.press("down", "enter")
        assert isinstance(lab.screen, ResultScreen) and lab.screen.measured.run == kept[1]
        await lab.press("escape", "escape")
        assert isinstance(lab.screen, LabScreen)


async def test_two_marked_runs_are_compared_the_older_one_first(running, kept) -> None:
    async with running((80, 60), supervisor=ServerThere()) as lab:
        await open_runs(lab)
        assert "c compare" not in lab.keys
        await lab.press("space", "down", "down", "space")
        assert lab.line == "▸ c compares the two that are marked."
        await lab.press("c")
        assert isinstance(lab.screen, CompareScreen)
        rows = {choice.id: choice.right for choice in lab.screen.query_one(ResultList).choices}
        assert kept[2].id in rows["older"] and kept[0].id in rows["newer"]
        assert rows["end_to_end_tps"] == "1,048 tok/s → 1,064 tok/s   × 1.02"
        assert rows["trial/end_to_end_tps"].startswith("× 1.01; too few runs for an interval: 2")
        await lab.press("c")
        assert "end to end: 1,048 tok/s → 1,064 tok/s" in lab.app._clipboard


async def test_practice_is_never_divided_by_another_model(running, kept) -> None:
    async with running((80, 60), supervisor=ServerThere()) as lab:
        await open_runs(lab)
        await lab.press("space", "up", "space", "c")
        assert f"! {PRACTICE}" in lab.text
        assert "whose numbers say nothing about the other model" in " ".join(lab.text.split())
        assert "× " not in lab.text.replace("Passes ×", "")


async def test_a_third_mark_takes_the_place_of_the_first_and_a_mark_is_taken_back(running, kept) -> None:
    async with running(supervisor=ServerThere()) as lab:
        await open_runs(lab)
        await lab.press("space", "down", "space", "down", "space")
        ticked = [choice.id for choice in lab.screen.query_one(Choices).choices if choice.ticked]
        assert ticked == [kept[1].id, kept[2].id]
        await lab.press("space")
        assert [choice.id for choice in lab.screen.query_one(Choices).choices if choice.ticked] == [kept[1].id]


async def test_without_runs_it_says_how_to_get_one(running) -> None:
    async with running(supervisor=ServerThere()) as lab:
        await open_runs(lab)
        assert "None yet: enter in the lab runs a task." in lab.text
        await lab.press("enter", "space", "v")
        assert isinstance(lab.screen, RunsScreen)
