"""The main job in the app, by keys only, against the real vLLM: from the first card to the exported artifact."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from exercises.run_json import recompute
from exercises.speed import format_rate
from labtui.app import LabApp
from labtui.screens.home import HomeScreen
from labtui.screens.lab import LabScreen
from labtui.screens.lab_answer import AnswerScreen
from labtui.screens.lesson import LessonScreen
from labtui.serving.supervisor import Supervisor
from labtui.widgets.picture import Picture
from labtui.widgets.run_panel import RunPanel
from lessons.finding import find_lesson
from store.opening import Store
from tests.real.conftest import home_environment

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

LESSON = "diffusiongemma"
READY_LIMIT_S = 280
LIMIT_S = 60
COMES_BACK = re.compile(r"comes back (in \d+ days|tomorrow|today at 4:00)")
"""Which of them depends on the hour: the app runs on the real clock here."""
TRIES = 4
"""Sampling is random and cannot be seeded: an answer may be wrong. Wrong this often in a row is a fault."""


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A person's fresh folders; a server that was started in them is ended afterwards, whatever happened."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed here: ./lab test installs it")
    for name in [name for name in os.environ if name.startswith("LABTUI_")]:
        monkeypatch.delenv(name)
    for name, value in home_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    yield tmp_path
    report = Supervisor().stop()
    assert report.ok, report.message


class Person:
    """Presses keys and reads the screen."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.app: LabApp = pilot.app

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.press(*("space" if character == " " else character for character in text))

    async def wait(self, there: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
        deadline = time.monotonic() + limit_s
        while not there():
            assert time.monotonic() < deadline, self.text
            await self.pilot.pause(0.05)

    async def see(self, *words: str, limit_s: float = LIMIT_S) -> None:
        await self.wait(lambda: all(word in self.text for word in words), limit_s)

    @property
    def screen(self):
        return self.app.screen

    @property
    def line(self) -> str:
        return str(self.screen.query_one("#next-line", Static).content)

    @property
    def text(self) -> str:
        strips = self.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def run_until_right(self, number: str):
        """The chosen task, until its answer passes its check."""
        await self.press(number)
        for _ in range(TRIES):
            panel = self.screen.query_one(RunPanel)
            before = panel.run_shown
            await self.press("enter")
            await self.wait(
                lambda panel=panel, before=before: (
                    panel.mode == "result" and panel.run_shown is not None and panel.run_shown is not before
                )
            )
            assert panel.run_shown.valid, panel.run_shown.invalid_reason
            if panel.run_shown.check.passed:
                return panel.run_shown
        pytest.fail(f"no right answer in {TRIES} runs, the last: {panel.run_shown.output}")


async def test_the_main_job_by_keys(own_home: Path) -> None:
    lesson = find_lesson(LESSON)
    async with LabApp().run_test(size=(80, 24)) as pilot:
        person = Person(pilot)
        await person.see("Begin: DiffusionGemma")
        await person.press("enter")
        await person.wait(lambda: isinstance(person.screen, LessonScreen))
        await person.see("enter marks it as done")
        await person.press("enter")
        await person.wait(lambda: person.screen.step.id != "frame")
        await person.press("escape")
        await person.see("1/")

        await person.press("s")
        await person.wait(lambda: isinstance(person.screen, LabScreen))
        await person.see("PLAN  practice on the CPU", "checks before a start are in order")
        await person.press("s")
        await person.see("◐", "step ")
        await person.see("● ready · practice checkpoint", limit_s=READY_LIMIT_S)
        await person.see("requests 0 running, 0 waiting")

        coding = await person.run_until_right("1")
        await person.see(format_rate(coding.speed.end_to_end_tps), "these numbers say nothing about DiffusionGemma")
        assert coding.speed.canvases >= 2
        await person.press("v")
        await person.wait(lambda: isinstance(person.screen, AnswerScreen))
        await person.wait(lambda: bool(person.screen.query_one(Picture).display))
        await person.see("▀")
        await person.press("escape")

        vision = await person.run_until_right("2")
        await person.see("not measurable: one canvas")
        await person.press("v")
        await person.see("Truth: the vehicle")
        await person.press("escape")

        await person.press("w")
        await person.see("w writes")
        await person.press("w")
        await person.type("Fast enough for drafts")
        await person.press("escape", "s")
        await person.wait(lambda: "Saved, citing 2 runs" in person.line)
        await person.press("escape", "escape", "escape")
        await person.wait(lambda: isinstance(person.screen, HomeScreen))

        await person.press("r")
        for number, item in enumerate(lesson.recall, 1):
            await person.see(f"{number} of {len(lesson.recall)}")
            await person.type(f"answer {number}")
            await person.press("escape", "enter")
            await person.wait(lambda: "Saved" in person.line)
            await person.press("3")
            await person.wait(lambda: COMES_BACK.search(person.line) is not None)
            assert item.id
            await person.press("enter")
        await person.press("escape")
        await person.wait(lambda: isinstance(person.screen, HomeScreen))

        await person.press("e")
        await person.see("FORMATS")
        await person.press("x")
        await person.wait(lambda: "files written" in person.line)
        pid = person.app.server_status.pid

    # What is on the disk, seen by something that shares nothing with the app.
    with Store.open() as store:
        kept = {run.id: run for run in store.runs.list()}
        assert kept[coding.id] == coding and kept[vision.id] == vision
        for run in (coding, vision):
            assert run.practice
            assert recompute(run).speed == run.speed
            assert run.evidence["server"]["vllm_version"] == "0.32.0"
        verdict = store.verdicts.latest(LESSON)
        assert verdict is not None
        assert verdict.text == "Fast enough for drafts"
        assert set(verdict.runs) == {coding.id, vision.id}
        answers = store.recall.latest(LESSON)
        assert {answers[item.id].answer for item in lesson.recall} == {"answer 1", "answer 2", "answer 3"}
        assert all(answers[item.id].due_at is not None for item in lesson.recall)
        assert "frame" in store.progress.done(LESSON)
        (launch,) = store.launches.list()
        assert launch.ready_after_s is not None
    folder = own_home / "labtui" / LESSON
    text, document = (folder / f"{LESSON}.md").read_text(), (folder / f"{LESSON}.json").read_text()
    assert "Fast enough for drafts" in text and "ractice" in text
    assert coding.id in document and vision.id in document
    assert json.loads(document)

    # The server outlives the app, and the next one finds it and all that was done.
    assert psutil.pid_exists(pid)
    async with LabApp().run_test(size=(80, 24)) as pilot:
        person = Person(pilot)
        await person.see("server ● ready · practice")
        await person.press("s")
        await person.see("● ready, still running since", coding.task)
        assert person.app.server_status.pid == pid
        await person.press("s", "y")
        await person.see("○ stopped")
    # Ended; this process, which started it, may not have collected it yet.
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
