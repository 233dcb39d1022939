from __future__ import annotations

from pathlib import Path

import pytest

from labtui.bug_report import command_words, reported


def fault() -> ValueError:
    try:
        raise ValueError("half a character: \ud83d")
    except ValueError as error:
        return error


def test_the_traceback_is_in_the_file_that_the_message_names(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    shown = reported(fault(), "labtui run")
    (path,) = tmp_path.rglob("*.txt")
    assert str(path) in shown.fix
    text = path.read_text()
    assert "ValueError" in text
    assert "while: labtui run" in text


def test_a_folder_that_cannot_be_written_is_no_second_fault(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert str(tmp_path) in reported(fault(), "labtui").fix
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "file"))
    assert "could not be saved" in reported(fault(), "labtui").fix


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "attach", "http://user:key@host"], "labtui serve attach"),
        (["verdict", "diffusiongemma", "my words"], "labtui verdict diffusiongemma"),
        (["--store", "/secret/place", "runs"], "labtui --store"),
        (["/etc/passwd"], "labtui"),
        ([], "labtui"),
    ],
)
def test_only_words_of_the_command_are_in_it(arguments: list[str], words: str) -> None:
    assert command_words(arguments) == words


def test_the_default_place_is_below_the_state_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    reported(fault(), "labtui")
    assert [path.parent for path in Path(tmp_path).rglob("*.txt")] == [tmp_path / "labtui" / "faults"]
