from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labtui.serving.log_tail import LONGEST_LINE, LogFollower, clean_line, last_lines


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[0;36m(EngineCore pid=1)\x1b[0;0m INFO", "(EngineCore pid=1) INFO"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[1;1Hhome", "home"),
        ("\x1bcreset", "reset"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("a\tb", "a b"),
        ("bell\x07", "bell␇"),
        ("half a code \x1b[", "half a code "),
        ("█▄▄ 日本", "█▄▄ 日本"),
    ],
)
def test_a_line_cannot_steer_the_terminal(raw: str, shown: str) -> None:
    cleaned = clean_line(raw)
    assert cleaned == shown
    assert "\x1b" not in cleaned


@given(st.text())
def test_nothing_that_steers_is_left(text: str) -> None:
    cleaned = clean_line(text)
    assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in cleaned)
    assert len(cleaned) <= LONGEST_LINE


def test_very_long_lines_are_cut() -> None:
    assert clean_line("x" * 100_000).endswith("…")


def write(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_file_that_grows_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = LogFollower(path)
    assert follower.poll() == []
    write(path, b"one\ntwo\nthr")
    assert follower.poll() == ["one", "two"]
    assert follower.last_line == "thr"
    write(path, b"ee\n")
    assert follower.poll() == ["three"]
    assert follower.poll() == []
    assert list(follower.lines) == ["one", "two", "three"]


def test_a_bar_stands_once_in_its_last_state(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = LogFollower(path)
    write(path, b"before\n\rshards:   0%\rshards:  50%")
    assert follower.poll() == ["before", "shards:   0%"]
    assert follower.last_line == "shards:  50%"
    write(path, b"\rshards: 100%\nafter\n")
    assert follower.poll() == ["shards:  50%", "shards: 100%", "after"]
    assert list(follower.lines) == ["before", "shards: 100%", "after"]
    assert last_lines(path) == ["before", "shards: 100%", "after"]


def test_a_file_that_is_emptied_or_replaced_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "log"
    follower = LogFollower(path)
    write(path, b"old line that is long\n")
    follower.poll()
    path.write_bytes(b"new\n")
    assert follower.poll() == ["new"]
    (tmp_path / "other").write_bytes(b"replaced, and longer\n")
    (tmp_path / "other").rename(path)
    assert follower.poll() == ["replaced, and longer"]
    assert list(follower.lines) == ["replaced, and longer"]
    path.unlink()
    assert follower.poll() == []


def test_a_line_without_an_end_does_not_grow_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write(path, b"x" * 3_000_000)
    follower = LogFollower(path)
    assert follower.poll()
    assert len(follower.last_line) <= LONGEST_LINE


def test_the_last_lines_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert last_lines(path, 2) == ["line 99998", "line 99999"]
    assert last_lines(path, 3, read=20) == ["line 99999"]
    assert last_lines(tmp_path / "nothing") == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.sampled_from(["a", "é", "日", "\r", "\n", "\r\n", " 50%", "\x1b[31m"]), max_size=30),
    st.lists(st.integers(1, 7), min_size=1, max_size=10),
)
def test_how_a_file_arrives_changes_nothing(tmp_path: Path, pieces: list[str], steps: list[int]) -> None:
    """Cut anywhere, also within a character: the lines at the end are the same."""
    data = "".join(pieces).encode() + b"\n"
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.write_bytes(data)
    cut.write_bytes(b"")
    at_once, in_steps = LogFollower(whole), LogFollower(cut)
    at_once.poll()
    position = 0
    while position < len(data):
        step = steps[position % len(steps)]
        write(cut, data[position : position + step])
        in_steps.poll()
        position += step
    assert list(in_steps.lines) == list(at_once.lines)
