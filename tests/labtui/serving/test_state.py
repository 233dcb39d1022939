from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from labtui.errors import LabError
from labtui.serving.state import ServerState, StateFile, new_launch_id

STATE = ServerState(
    launch_id="20261130-200000-abcdef01",
    kind="launched",
    url="http://127.0.0.1:8000",
    model="practice",
    checkpoint="practice",
    practice=True,
    started_at=1796068784.0,
    api_key="secret",
    port=8000,
    pid=123,
    process_start="boot:456",
    command=("vllm", "serve"),
    env={"A": "b"},
    hardware=("CPU",),
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "new" / "folder")
    assert file.read() is None
    file.write(STATE)
    assert file.read() == STATE
    file.write(replace(STATE, ready_at=1796068800.0))
    read = file.read()
    assert read is not None
    assert read.ready_after_s == 16.0
    file.remove()
    assert file.read() is None
    file.remove()


def test_only_the_owner_can_read_it_and_nothing_half_is_left(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "state")
    file.write(STATE)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.folder.stat().st_mode & 0o777 == 0o700
    assert file.new_log("a").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.folder.iterdir() if path.is_file()] == ["server.json"]


def test_the_key_is_not_shown(tmp_path: Path) -> None:
    assert "secret" not in repr(STATE)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format_version": 1}', '{"format_version": "x"}', "\x00"])
def test_a_file_that_cannot_be_understood_is_moved_aside(tmp_path: Path, text: str) -> None:
    file = StateFile(tmp_path)
    file.path.write_text(text)
    assert file.read() is None
    assert not file.path.exists()
    assert file.path.with_suffix(".unreadable").read_text() == text


def test_keys_of_a_later_labtui_of_the_same_format_are_passed_over(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.write(STATE)
    file.path.write_text(json.dumps(json.loads(file.path.read_text()) | {"new": 1}))
    assert file.read() == STATE


def test_a_newer_format_is_refused_unchanged(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.write(STATE)
    text = json.dumps(json.loads(file.path.read_text()) | {"format_version": 2})
    file.path.write_text(text)
    with pytest.raises(LabError, match="newer"):
        file.read()
    assert file.path.read_text() == text


def test_one_at_a_time(tmp_path: Path) -> None:
    file, other = StateFile(tmp_path), StateFile(tmp_path)
    with file.locked("start it"):
        with other.try_locked() as free:
            assert not free
        with pytest.raises(LabError, match="not told to stop it") as raised, other.locked("stop it", wait_s=0.1):
            pass
        assert "pid" in raised.value.cause
    with other.try_locked() as free:
        assert free


def test_waiting_ends_when_the_other_is_done(tmp_path: Path) -> None:
    file, entered, release = StateFile(tmp_path), threading.Event(), threading.Event()

    def hold() -> None:
        with StateFile(tmp_path).locked("start it"):
            entered.set()
            release.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(30)
    threading.Timer(0.1, release.set).start()
    with file.locked("stop it", wait_s=30):
        assert release.is_set()
    thread.join()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="cannot be used") as raised:
        StateFile(tmp_path / "file" / "state").write(STATE)
    assert "XDG_STATE_HOME" in raised.value.fix


def test_launch_ids_sort_by_time_and_differ() -> None:
    first, second = new_launch_id(), new_launch_id()
    assert first != second
    assert first[:15] <= second[:15]
