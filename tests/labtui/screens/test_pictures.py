"""What the screens look like. Renew with --snapshot-update after looking at the pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from labtui.serving.status import Status
from lessons.finding import find_lesson
from store.recall import item_hash

LESSON = "diffusiongemma"
CHINESE = Path(__file__).parent / "lessons"
SMALL, NORMAL, JUST_WIDE, WIDE = (60, 20), (80, 24), (116, 30), (140, 40)


@pytest.fixture
def lived_in(in_store, make_run, server):
    """A store of somebody in the middle of the lesson, with a server that is ready."""
    first, *_ = find_lesson(LESSON).recall

    def fill(store) -> None:
        coding = store.runs.add(make_run())
        store.runs.add(make_run(task="vision", started_at="2026-03-02T09:40:00+00:00"))
        for step in ("frame", "card/intent", "card/model", "card/harness", "card/tools", "deep/denoising"):
            store.progress.mark(LESSON, step)
        store.progress.set_position(LESSON, "anchor/transformers-path")
        store.progress.save_gate(
            LESSON, "claim-in-own-words", "At 0:34 he promises a thousand tokens each second and times nothing."
        )
        store.verdicts.save(LESSON, "For drafts yes, for production no.", [coding.id])
        answer = store.recall.add_answer(LESSON, first.id, "A canvas, all at once.", item_hash(first))
        store.recall.grade(answer.id, "good")

    in_store(fill)
    server.status_now = Status("ready", checkpoint="practice", practice=True)


@pytest.mark.parametrize("size", [SMALL, NORMAL, WIDE], ids=["60x20", "80x24", "140x40"])
def test_home(snap_compare, make_app, after_keys, lived_in, size) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=after_keys())


@pytest.mark.parametrize("size", [SMALL, NORMAL, (115, 30), JUST_WIDE], ids=["60x20", "80x24", "115x30", "116x30"])
def test_an_anchor(snap_compare, make_app, after_keys, lived_in, size) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=after_keys("down", "enter"))


def test_a_misconception_told(snap_compare, make_app, after_keys, in_store) -> None:
    in_store(lambda store: store.progress.set_position(LESSON, "misconception/more-tools-help"))
    assert snap_compare(make_app(), run_before=after_keys("down", "enter", "t"))


@pytest.mark.parametrize("size", [NORMAL, WIDE], ids=["80x24", "140x40"])
def test_a_recall_answer_revealed(snap_compare, make_app, after_keys, size) -> None:
    keys = ("r", *"canvas", "escape", "enter")
    assert snap_compare(make_app(), terminal_size=size, run_before=after_keys(*keys))


@pytest.mark.parametrize("size", [SMALL, NORMAL, WIDE], ids=["60x20", "80x24", "140x40"])
def test_the_verdict(snap_compare, make_app, after_keys, lived_in, size) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=after_keys("v"))


def test_help(snap_compare, make_app, after_keys) -> None:
    assert snap_compare(make_app(), run_before=after_keys("question_mark"))


def test_a_chinese_lesson(snap_compare, make_app, after_keys, in_store) -> None:
    app = make_app(lesson_paths=(CHINESE,))

    async def open_anchor(pilot) -> None:
        await after_keys()(pilot)
        app.open_lesson("chinese", "anchor/first-claim")
        await after_keys()(pilot)

    assert snap_compare(app, run_before=open_anchor)


def test_sixteen_colours(snap_compare, make_app, after_keys, lived_in, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    monkeypatch.delenv("COLORTERM")
    assert snap_compare(make_app(), run_before=after_keys())


def test_no_colour(snap_compare, make_app, after_keys, lived_in, monkeypatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(make_app(), run_before=after_keys("v"))
