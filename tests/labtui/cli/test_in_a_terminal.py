"""The commands in a real pseudo-terminal: what a person types and sees."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from lessons.finding import find_lesson

pytestmark = pytest.mark.terminal

LESSON = find_lesson("diffusiongemma")


@pytest.fixture
def typed(home: Path) -> Iterator[Callable[..., pexpect.spawn]]:
    started: list[pexpect.spawn] = []

    def start(*arguments: str, **variables: str) -> pexpect.spawn:
        child = pexpect.spawn(
            sys.executable,
            ["-m", "labtui", *arguments],
            env={**os.environ, "TERM": "xterm-256color", **variables},
            encoding="utf-8",
            dimensions=(24, 80),
            timeout=30,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def test_recall_by_hand_with_the_backspace_key_and_undo(typed, store) -> None:
    child = typed("recall", "diffusiongemma", "--plain")
    for item in LESSON.recall:
        child.expect("Your answer")
        child.expect("> ")
        child.sendline(f"answer to {item.id}X\x7f")
        child.expect("Saved.")
        child.expect("Grade yourself")
        child.expect("> ")
        child.sendline("good")
    child.expect(":undo takes its grade back")
    child.sendline(":undo")
    child.expect("Grade yourself")
    child.sendline("again")
    child.expect(":undo takes its grade back")
    child.sendline("")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    kept = store.recall.latest("diffusiongemma")
    assert [kept[item.id].answer for item in LESSON.recall] == [f"answer to {item.id}" for item in LESSON.recall]
    assert kept[LESSON.recall[-1].id].grade == "again"


def test_ctrl_d_leaves_and_keeps_the_answer(typed, store) -> None:
    child = typed("recall", "--plain")
    child.expect("> ")
    child.sendline("my answer")
    child.expect("Grade yourself")
    child.expect("> ")
    child.sendeof()
    child.expect("Every answer that was given is saved")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert store.recall.latest("diffusiongemma")[LESSON.recall[0].id].answer == "my answer"


def test_ctrl_c_leaves_with_130_and_no_traceback(typed) -> None:
    child = typed("study", "--plain")
    child.expect("> ")
    child.sendintr()
    child.expect("Stopped")
    rest = child.read()
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in rest


def test_a_closed_terminal_ends_the_walk_and_keeps_the_place(typed, lab) -> None:
    child = typed("study", "--plain")
    child.expect("> ")
    child.sendline("")
    child.expect(r"\[2/")
    child.expect("> ")
    child.close(force=False)
    assert not child.isalive()
    assert lab.json("lessons")[0]["cards_done"] == 1


def test_the_first_verdict_opens_the_editor(typed, lab, tmp_path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "worth it for drafts\\n" > "$1"\n')
    editor.chmod(0o700)
    child = typed("verdict", "diffusiongemma", EDITOR=str(editor), VISUAL=str(editor))
    child.expect("Saved")
    child.expect(pexpect.EOF)
    assert lab.json("verdict", "diffusiongemma")["text"] == "worth it for drafts"


def test_a_terminal_that_cannot_place_text_gets_the_plain_commands(typed) -> None:
    child = typed(TERM="dumb")
    child.expect("needs a terminal")
    child.expect("study --plain")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2
