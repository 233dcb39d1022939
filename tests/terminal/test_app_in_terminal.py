"""The app in a real pseudo-terminal, as a person meets it."""

from __future__ import annotations

import os
import signal
import time

import psutil
import pytest

from store.opening import Store

pytestmark = pytest.mark.terminal


def test_it_opens_walks_cards_by_keys_and_gives_the_terminal_back(start) -> None:
    terminal = start()
    terminal.wait_for("labtui", "NEXT", "Begin: DiffusionGemma", "? help")
    terminal.press("\r")
    terminal.wait_for("DiffusionGemma ▸ Frame")
    terminal.press("l")
    terminal.wait_for("Diagram 1 of 6", "[INTENT]")
    terminal.press("\x1b[C")
    terminal.wait_for("Diagram 2 of 6", "[MODEL]")
    terminal.press("?")
    terminal.wait_for("Help: DiffusionGemma")
    terminal.press("\x1b")
    terminal.wait_for("Diagram 2 of 6", "walk")
    terminal.press("\x1b")
    terminal.wait_for("NEXT", "Go on: Model")
    terminal.press("q")
    assert terminal.wait_for_end() == 0
    for off in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1006l", b"\x1b[?2004l", b"\x1b[?1004l"):
        assert off in terminal.received


def test_after_leaving_the_line_discipline_is_as_before(start) -> None:
    terminal = start(shell="stty -a; echo before; {python} -m labtui; stty -a; echo after")
    terminal.wait_for("Begin: DiffusionGemma")
    terminal.press("q")
    terminal.wait_for("after")
    before, _, after = terminal.received.decode(errors="replace").partition("before")
    flags = [flag for flag in before.split() if flag.lstrip("-") in ("echo", "icanon", "isig", "ixon", "icrnl")]
    assert flags == [flag for flag in after.split() if flag.lstrip("-") in ("echo", "icanon", "isig", "ixon", "icrnl")]
    assert len(flags) == 5


def test_mouse_bytes_of_old_terminals_do_not_kill_it(start) -> None:
    terminal = start()
    terminal.wait_for("Begin: DiffusionGemma")
    for _ in range(5):
        terminal.press(b"\x1b[M \xf0\x9f\x1b[M\x23\xff\xc0")
    terminal.press(b"\xff\xfe\x80")
    terminal.press("\r")
    terminal.wait_for("DiffusionGemma ▸ Frame")
    terminal.press("\x1b")
    terminal.wait_for("NEXT")
    terminal.press("q")
    assert terminal.wait_for_end() == 0


def test_a_hang_up_ends_it_within_seconds_and_what_was_typed_is_kept(start, tmp_path) -> None:
    terminal = start()
    terminal.wait_for("Begin: DiffusionGemma")
    terminal.press("r")
    terminal.wait_for("from memory")
    terminal.press("half an answer")
    terminal.wait_for("half an answer", "draft kept")
    os.kill(terminal.child.pid, signal.SIGHUP)
    assert terminal.wait_for_end() == 128 + signal.SIGHUP
    with Store.open(tmp_path / "data" / "labtui" / "labtui.db") as store:
        assert store.progress.draft("recall/diffusiongemma/how-it-writes") == "half an answer"


def test_it_ends_when_its_terminal_is_closed_even_where_hang_ups_are_ignored(start) -> None:
    terminal = start()
    terminal.wait_for("Begin: DiffusionGemma")
    process = psutil.Process(terminal.child.pid)
    busy_before = sum(process.cpu_times()[:2])
    began = time.monotonic()
    os.close(terminal.child.child_fd)
    terminal.child.child_fd = -1
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() - began > 10:
            pytest.fail("it is still running")
        busy = sum(process.cpu_times()[:2]) - busy_before
        time.sleep(0.05)
    assert busy < 2


def test_a_killed_app_leaves_what_it_called_saved(start, tmp_path) -> None:
    terminal = start()
    terminal.wait_for("Begin: DiffusionGemma")
    terminal.press("r")
    terminal.wait_for("from memory")
    terminal.press("a canvas")
    terminal.wait_for("draft kept")
    terminal.press("\x1b")
    terminal.wait_for("enter saves your answer")
    terminal.press("\r")
    terminal.wait_for("Saved")
    os.kill(terminal.child.pid, signal.SIGKILL)
    assert terminal.wait_for_end() == -signal.SIGKILL
    again = start()
    again.wait_for("NEXT", "answered, not graded")
    again.press("r")
    again.wait_for("YOUR ANSWER", "a canvas")


@pytest.mark.parametrize("surrounding", [{"TERM": "linux"}, {"NO_COLOR": "1"}])
def test_few_colours_or_none_leave_nothing_out(start, surrounding) -> None:
    terminal = start(**surrounding)
    terminal.wait_for("▸ Begin: DiffusionGemma", "server ○ stopped")
    colours = {cell.fg for row in terminal.screen.buffer.values() for cell in row.values()}
    colours |= {cell.bg for row in terminal.screen.buffer.values() for cell in row.values()}
    assert colours <= {"default", "red", "green"}


def test_an_unusable_store_is_told_and_the_exit_code_says_so(start, tmp_path) -> None:
    path = tmp_path / "labtui.db"
    path.write_bytes(b"not a database" * 100)
    terminal = start(LABTUI_STORE=str(path))
    terminal.wait_for("✗", "→", "leave labtui")
    terminal.press("q")
    assert terminal.wait_for_end() == 4
    assert path.read_bytes() == b"not a database" * 100
