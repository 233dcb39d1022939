from __future__ import annotations

import sys

import pexpect
import pytest

from labtui.cli import narration
from labtui.cli.narration import working
from labtui.cli.session import Session


def test_without_a_terminal_each_new_step_is_a_line_and_detail_is_left_out(capsys) -> None:
    with working(Session(), "beginning") as narrator:
        narrator.now("step one", " · canvas 1")
        narrator.now("step one", " · canvas 2")
        narrator.now("step two")
        narrator.say("kept")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line.partition(" (")[0] for line in captured.err.splitlines()] == [
        "beginning",
        "step one · canvas 1",
        "step two",
        "kept",
    ]


def test_a_step_that_takes_long_says_so_again(capsys, monkeypatch) -> None:
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(narration.time, "monotonic", lambda: float(next(clock)))
    with working(Session(), "loading") as narrator:
        for _ in range(6):
            narrator.now("loading")
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 5
    assert all(line.startswith("loading (") for line in lines)


def test_quiet_says_nothing(capsys) -> None:
    with working(Session(quiet=True), "beginning") as narrator:
        narrator.now("step")
        narrator.say("kept")
    assert capsys.readouterr().err == ""


PROGRAM = """
from labtui.cli.narration import working
from labtui.cli.session import Session
with working(Session(), "loading [weights]") as narrator:
    narrator.say("[kept] run 1")
    input()
    narrator.now("step two")
    input()
print("done")
"""


@pytest.mark.terminal
def test_on_a_terminal_the_line_renews_itself_and_leaves_only_what_stays() -> None:
    child = pexpect.spawn(sys.executable, ["-c", PROGRAM], encoding="utf-8", dimensions=(24, 80), timeout=30)
    child.expect_exact("[kept] run 1")
    child.expect_exact("loading [weights]")
    child.expect(r"0:00:0\d")
    child.sendline("")
    child.expect_exact("step two")
    child.sendline("")
    child.expect_exact("done")
    child.expect(pexpect.EOF)
