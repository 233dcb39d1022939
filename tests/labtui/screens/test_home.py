from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual.widgets import Static

from labtui.screens.doctor import DoctorScreen
from labtui.screens.export import ExportScreen
from labtui.screens.fault import FaultBox, StoreFaultScreen
from labtui.screens.home import HomeScreen
from labtui.screens.lesson import LessonScreen
from labtui.screens.recall import RecallScreen
from labtui.screens.verdict import VerdictScreen
from labtui.serving.status import Status
from lessons.scaffold import scaffold

OWN_WORDS = "At 0:34 he promises a thousand tokens each second and times nothing."


async def test_it_paints_before_the_store_is_open(make_app) -> None:
    app = make_app()
    held = threading.Event()
    app.books.submit(lambda store: held.wait(20))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert isinstance(app.screen, HomeScreen)
        assert app.store_usable is None
        assert "One moment" in str(app.screen.query_one("#next-line", Static).content)
        held.set()


async def test_enter_does_the_one_next_thing(running) -> None:
    async with running() as lab:
        assert "NEXT" in lab.text
        assert "▸ Begin: DiffusionGemma" in lab.text
        await lab.press("enter")
        assert isinstance(lab.screen, LessonScreen)
        assert lab.screen.step.id == "frame"


async def test_what_was_done_is_shown_with_its_label(running, in_store, make_run) -> None:
    in_store(lambda store: store.runs.add(make_run()))
    in_store(lambda store: store.progress.mark("diffusiongemma", "frame"))
    in_store(lambda store: store.progress.save_gate("diffusiongemma", "claim-in-own-words", OWN_WORDS))
    async with running() as lab:
        assert "practice · 350 tok/s end to end · passed" in lab.text
        assert "1/4 gates" in lab.text


async def test_what_a_command_did_meanwhile_is_shown_at_the_next_look(running, in_store, make_run) -> None:
    async with running() as lab:
        assert "Nothing yet." in lab.text
        collected = []
        seen = lab.screen.post_message
        lab.screen.post_message = lambda message: collected.append(message) or seen(message)
        in_store(lambda store: store.runs.add(make_run()))
        lab.app.look_at_server()
        await lab.settle()
        assert "practice · 350 tok/s end to end · passed" in lab.text
        lab.app.look_at_server()
        await lab.settle()
        assert len([one for one in collected if isinstance(one, HomeScreen.Seen)]) == 1, "nothing new is not collected"


async def test_hints_are_the_commands_that_this_person_types(running, monkeypatch) -> None:
    monkeypatch.setenv("LABTUI_PROGRAM", "./lab")
    async with running() as lab:
        await lab.press("d", "question_mark")
        prose = str(lab.screen.query(".help-prose").first(Static).content)
        assert "The command `./lab doctor` prints the same." in prose
        await lab.press("escape", "escape")
        lab.screen.say("See `labtui serve status`.")
        await lab.settle()
        assert "See `./lab serve status`." in lab.line


@pytest.mark.parametrize(
    ("key", "screen"), [("r", RecallScreen), ("v", VerdictScreen), ("e", ExportScreen), ("d", DoctorScreen)]
)
async def test_each_key_opens_its_screen_and_esc_comes_back(running, monkeypatch, key, screen) -> None:
    monkeypatch.setattr("labtui.screens.doctor.DoctorScreen.action_look", lambda self: None)
    async with running() as lab:
        await lab.press(key)
        assert isinstance(lab.screen, screen)
        await lab.press("escape")
        if not isinstance(lab.screen, HomeScreen):  # the first esc left the text
            await lab.press("escape")
        assert isinstance(lab.screen, HomeScreen)


async def test_the_choice_survives_a_visit(running) -> None:
    async with running(keys=("down", "e", "escape")) as lab:
        assert lab.screen.query_one("#home-list").chosen_id == "lesson/diffusiongemma"


async def test_a_broken_lesson_is_listed_and_told(running, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "broken").mkdir(parents=True)
    (folder / "broken" / "lesson.toml").write_text(scaffold("broken").replace('stage = "Intent"', "stage = 7"))
    async with running(lesson_paths=(folder,)) as lab:
        assert "broken: enter shows why" in lab.text
        await lab.press("end", "enter")
        assert isinstance(lab.screen, FaultBox)
        assert "lesson.toml:" in lab.text
        await lab.press("escape")
        assert isinstance(lab.screen, HomeScreen)


async def test_lessons_of_one_title_are_told_apart_by_their_ids(running, tmp_path: Path) -> None:
    for name in ("mine", "yours"):
        (tmp_path / name / name).mkdir(parents=True)
        (tmp_path / name / name / "lesson.toml").write_text(scaffold(name))
    async with running(lesson_paths=(tmp_path / "mine", tmp_path / "yours")) as lab:
        assert "mine: " in lab.text
        assert "yours: " in lab.text
        assert "diffusiongemma: " not in lab.text


async def test_an_unreadable_store_is_told_and_leaving_says_so(make_app, store_path: Path) -> None:
    store_path.write_bytes(b"not a database" * 100)
    app = make_app()
    async with app.run_test() as pilot:
        while not isinstance(app.screen, StoreFaultScreen):
            await pilot.pause()
        await pilot.pause()
        assert app.screen.query(".fault-fix")
        await pilot.press("escape")
        await pilot.pause()
    assert app.return_code == 4
    assert store_path.read_bytes() == b"not a database" * 100


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status("stopped"), "server ○ stopped"),
        (Status("ready", checkpoint="practice", practice=True), "server ● ready · practice"),
        (
            Status("starting", stage="loading weights 4/9", checkpoint="practice", since_s=72.4),
            "server ◐ loading weights 4/9 · practice · 1:12",
        ),
        (Status("foreign"), "server ◇ not ours"),
    ],
)
async def test_the_title_says_what_the_server_does(running, server, status, words) -> None:
    async with running() as lab:
        server.status_now = status
        lab.app.look_at_server()
        await lab.settle()
        assert words in lab.text


async def test_the_next_thing_follows_the_server(running, server, in_store) -> None:
    from lessons.finding import find_lesson
    from lessons.walk import steps

    lesson = find_lesson("diffusiongemma")
    for step in steps(lesson):
        if step.kind not in ("lab", "verdict", "recall", "gate"):
            in_store(lambda store, step=step: store.progress.mark(lesson.id, step.id))
    async with running() as lab:
        assert "Start the server" in lab.text
        server.status_now = Status("ready", checkpoint="practice", practice=True)
        lab.app.look_at_server()
        await lab.settle()
        assert "Run the coding task" in lab.text


async def test_q_leaves(make_app) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0


async def test_what_the_store_has_to_say_is_shown(running, monkeypatch) -> None:
    monkeypatch.setattr("store.opening.choose_journal", lambda db, file_system: "The store lies on NFS.")
    async with running() as lab:
        assert "! The store lies on NFS." in lab.text


async def test_a_store_that_cannot_be_read_is_told_once_and_again_only_after_it_could(running, monkeypatch) -> None:
    from store.errors import StoreError

    def refuse(*_args):
        raise StoreError("The store is busy", "another program holds it", "Close it.")

    async with running() as lab:
        with monkeypatch.context() as broken:
            broken.setattr("labtui.screens.home.home_picture", refuse)
            lab.screen.refresh_picture()
            await lab.settle()
            assert isinstance(lab.screen, FaultBox)
            await lab.press("escape")
            assert isinstance(lab.screen, HomeScreen)
            assert "still cannot be read" in lab.line
        lab.screen.refresh_picture()
        await lab.settle()
        assert "still cannot be read" not in lab.line
        monkeypatch.setattr("labtui.screens.home.home_picture", refuse)
        lab.screen.refresh_picture()
        await lab.settle()
        assert isinstance(lab.screen, FaultBox)
