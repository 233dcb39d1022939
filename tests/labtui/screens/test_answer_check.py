from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.kept_answers import About, about_json, about_key, kept_answers, text_key
from labtui.screens.answer_check import AnswerCheckScreen
from labtui.screens.answer_marks import FaultSaid, marked_answer
from labtui.widgets.writing import Writing
from lessons.finding import find_lesson
from lessons.grounded_answer import check_answer
from lessons.prompt import grounded_prompt
from tests.fakes.lab_servers import ServerThere
from tests.fakes.vllm_stream import Canvas, FakeVllm, Script

LESSON = find_lesson("diffusiongemma")
KEY = f"answer/{LESSON.id}"
BAD = """\
# Harness map
The video promises over 1,100 tokens per second (0:35).

The speaker says that “no such words were ever in it”.

## Source check
- Speed is a claim (0:34)
"""
GOOD = "## Learning transfer\nI measure.\n\n## Source check\n- Speed is a claim (0:34)\n"


def in_answer(running, *keys: str, **options):
    return running(keys=("down", "enter", "d", *keys), **options)


async def test_a_pasted_answer_is_kept_and_its_faults_stand_below_their_lines(running, in_store) -> None:
    async with in_answer(running, "w") as lab:
        lab.screen.query_one(Writing).insert(BAD)
        await lab.settle()
        assert in_store(lambda store: store.progress.draft(KEY)) == BAD
        await lab.press("escape")
        rows = [row.strip() for row in lab.text.splitlines()]
        line = rows.index("✗ The video promises over 1,100 tokens per second (0:35).")
        assert rows[line + 1].startswith("↳ 0:35 is no anchor of this lesson; the nearest is 0:34")
        assert "↳ The section “Learning transfer” is missing." in rows
        assert "4 faults" in lab.line
    async with in_answer(running) as lab:
        assert "4 faults" in lab.line


async def test_n_goes_through_the_faults_and_w_begins_there(running, in_store) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, BAD))
    async with in_answer(running, "n", "n") as lab:
        assert "▸ 0:35 is no anchor" in lab.text
        assert "Fault 2 of 4" in lab.line
        await lab.press("left", "left")
        assert "Fault 4 of 4" in lab.line
        await lab.press("right", "right", "w")
        assert lab.screen.query_one(Writing).cursor_location == (1, 0)


async def test_an_answer_without_a_fault_says_that_it_may_still_be_wrong(running, in_store) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, GOOD))
    async with in_answer(running) as lab:
        assert "No fault by these rules. Whether it is right, you judge." in lab.line
        assert "✗" not in lab.text


async def test_a_file_is_imported_and_what_it_replaced_can_be_put_back(running, in_store, tmp_path: Path) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, BAD))
    (tmp_path / "answer.md").write_text(GOOD)
    async with in_answer(running, "i") as lab:
        lab.screen.query_one("#answer-file").value = str(tmp_path / "answer.md")
        await lab.press("enter")
        assert "No fault" in lab.line
        assert in_store(lambda store: store.progress.draft(KEY)) == GOOD
        await lab.press("u")
        assert "4 faults" in lab.line
        assert in_store(lambda store: store.progress.draft(KEY)) == BAD


@pytest.mark.parametrize(("name", "said"), [("nothing", "No such file"), (".", "is a folder"), ("bytes", "not UTF-8")])
async def test_a_file_that_cannot_be_read_changes_nothing(running, in_store, tmp_path, name, said) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, BAD))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    async with in_answer(running, "i") as lab:
        lab.screen.query_one("#answer-file").value = str(tmp_path / name)
        await lab.press("enter")
        assert said in str(lab.screen.query_one(".fault-cause").content)
        await lab.press("escape")
        assert isinstance(lab.screen, AnswerCheckScreen)
        assert lab.screen.query_one(Writing).text == BAD
    assert in_store(lambda store: store.progress.draft(KEY)) == BAD


async def test_without_an_answer_it_says_how_to_get_one(running, tmp_path: Path) -> None:
    async with in_answer(running) as lab:
        assert "No answer yet." in lab.text
        await lab.press("c")
        assert (tmp_path / "state" / "labtui" / "copied.txt").read_text() == grounded_prompt(LESSON)


async def test_control_bytes_of_an_answer_do_not_reach_the_terminal(running, in_store, tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_bytes(b"The video \x1b]0;owned\x07 says 5\n")
    async with in_answer(running, "i") as lab:
        lab.screen.query_one("#answer-file").value = str(tmp_path / "answer.md")
        await lab.press("enter")
        assert "owned" in lab.text
        assert not {"\x1b", "\x07"} & set(lab.text)


def answering(text: str, **more) -> FakeVllm:
    return FakeVllm(Script((Canvas(0.0, 20, text),), **more))


async def test_a_sends_the_prompt_and_the_answer_is_kept_and_checked(running, in_store) -> None:
    with answering(BAD) as fake:
        async with in_answer(running, "a", supervisor=ServerThere()) as lab:
            lab.screen.query_one("#ask-address").value = fake.url
            await lab.press("enter", "enter")
            assert "4 faults" in lab.line
            assert f"fake-diffusion at {fake.url} · just now" in lab.text
            assert "✗ The video promises" in lab.text
        assert fake.bodies[0]["messages"][0]["content"] == grounded_prompt(LESSON)
    (kept,) = in_store(lambda store: kept_answers(LESSON.id, store))
    assert kept.text == BAD
    async with in_answer(running, supervisor=ServerThere()) as lab:
        assert "4 faults" in lab.line
        await lab.press("a")
        assert lab.screen.query_one("#ask-address").value == fake.url


async def test_x_stops_it_and_what_came_is_kept(running, in_store) -> None:
    with answering(GOOD, hang=True) as fake:
        async with in_answer(running, "a", supervisor=ServerThere()) as lab:
            lab.screen.query_one("#ask-address").value = fake.url
            await lab.press("enter")
            await lab.pilot.press("enter")
            await until(lab, lambda: "Learning transfer" in lab.text)
            assert "x stops" in lab.line and "paste, write" not in " ".join(lab.keys)
            await lab.press("x")
            assert "! cut off: you stopped it" in lab.text
            assert "I measure." in lab.text
    assert in_store(lambda store: kept_answers(LESSON.id, store))[0].about.ended == "cancelled"


async def test_leaving_the_screen_stops_it_and_what_came_is_kept(running, in_store) -> None:
    with answering(GOOD, hang=True) as fake:
        async with in_answer(running, "a", supervisor=ServerThere()) as lab:
            lab.screen.query_one("#ask-address").value = fake.url
            await lab.press("enter")
            await lab.pilot.press("enter")
            await until(lab, lambda: "Learning transfer" in lab.text)
            await lab.press("escape")
            assert fake.closed_early.wait(5)
    assert in_store(lambda store: kept_answers(LESSON.id, store))[0].text == GOOD


async def until(lab, seen) -> None:
    """Until the person sees it; what was asked for still runs."""
    for _ in range(500):
        if seen():
            return
        await lab.pilot.pause(0.01)
    raise AssertionError(lab.text)


async def test_practice_is_said_not_to_be_asked_before_and_after(running, in_store) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, BAD))
    with answering(GOOD) as fake:
        there = ServerThere(fake.url)
        async with in_answer(running, "a", supervisor=there) as lab:
            assert "practice checkpoint" in str(lab.screen.query_one("#ask-words").content)
            await lab.press("enter", "enter")
            assert "The practice checkpoint is not asked" in lab.text
            await lab.press("escape")
            assert "4 faults" in lab.line, "what was there stands there again"
        assert fake.bodies == []


async def test_a_server_that_is_not_there_is_said_and_nothing_is_lost(running, in_store) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, BAD))
    async with in_answer(running, "a", supervisor=ServerThere()) as lab:
        lab.screen.query_one("#ask-address").value = "http://127.0.0.1:9"
        await lab.press("enter", "enter")
        assert "No server answers at http://127.0.0.1:9" in lab.text
        await lab.press("escape")
        assert lab.screen.query_one(Writing).text == BAD


async def test_answers_are_listed_opened_discarded_and_brought_back(running, in_store) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, GOOD))
    about = about_json(About("gemma", "http://there", "length"))
    in_store(lambda store: store.progress.save_draft(about_key(LESSON.id, "a-1"), about))
    in_store(lambda store: store.progress.save_draft(text_key(LESSON.id, "a-1"), BAD))
    async with in_answer(running, "l") as lab:
        assert "gemma at http://there" in lab.text and "pasted or imported" in lab.text
        assert "4 faults · " in lab.text and "cut off: its limit" in lab.text
        await lab.press("home", "enter")
        first = lab.screen.query_one(Writing).text
        await lab.press("l", "end", "enter")
        assert {first, lab.screen.query_one(Writing).text} == {GOOD, BAD}
        shown = lab.screen.query_one(Writing).text
        await lab.press("d")
        assert lab.screen.query_one(Writing).text == first
        assert len(in_store(lambda store: kept_answers(LESSON.id, store))) == 1
        await lab.press("u")
        assert lab.screen.query_one(Writing).text == shown
        assert len(in_store(lambda store: kept_answers(LESSON.id, store))) == 2


@given(
    st.lists(st.sampled_from([*BAD.split("\n"), "x", "", '4:15 "never said by him at all"', "| a | b |"]), max_size=12)
)
def test_every_fault_is_shown_once_for_any_answer(rows) -> None:
    text = "\n".join(rows)
    faults = check_answer(LESSON, text)
    said = [widget for widget in marked_answer(text, faults) if isinstance(widget, FaultSaid)]
    assert len(said) == (len(faults) if text.strip() else 0)


def test_a_picture_of_a_checked_answer(snap_compare, make_app, after_keys, in_store) -> None:
    in_store(lambda store: store.progress.save_draft(KEY, BAD))
    assert snap_compare(make_app(), run_before=after_keys("down", "enter", "d", "n", "n"))
