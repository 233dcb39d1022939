from __future__ import annotations

from pathlib import Path

import pytest

from labtui.configuration import Configuration, read_configuration, write_configuration
from labtui.errors import USAGE, LabError


def test_a_file_that_does_not_exist_is_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    assert read_configuration(path) == Configuration(path=path)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "config.toml"
    wanted = Configuration(
        checkpoint="practice",
        port=8101,
        gpus=2,
        store=tmp_path / "lab.db",
        lessons=(tmp_path / "mine",),
        checkpoints=(tmp_path / "mine.toml",),
        theme="nord",
        path=path,
    )
    assert write_configuration(wanted) == path
    assert read_configuration(path) == wanted
    assert [file.name for file in path.parent.iterdir()] == ["config.toml"]


def test_relative_folders_mean_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('store = "lab.db"\nlessons = ["mine"]\n')
    read = read_configuration(path)
    assert read.store == tmp_path / "lab.db"
    assert read.lessons == (tmp_path / "mine",)


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        ('chekpoint = "fp8"', "unknown key 'chekpoint'", "Did you mean checkpoint?"),
        ("zzz = 1", "unknown key 'zzz'", "Known keys"),
        ('port = "8100"', "port must be a whole number, not '8100'", "port"),
        ("port = true", "port must be a whole number, not True", "port"),
        ("checkpoint = 3", "checkpoint must be a text in quotes, not 3", "checkpoint"),
        ('lessons = "here"', "lessons must be a list of paths", "lessons ="),
        ("checkpoints = [1]", "checkpoints must be a list of paths", "checkpoints ="),
        ("port =", "Invalid value", "Mend the file"),
    ],
)
def test_a_fault_names_the_file_the_key_and_what_to_write(tmp_path: Path, text: str, cause: str, fix: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(LabError) as caught:
        read_configuration(path)
    assert str(path) in caught.value.cause
    assert cause in caught.value.cause
    assert fix in caught.value.fix
    assert caught.value.exit_code == USAGE


def test_a_file_of_other_bytes_is_a_fault_with_a_fix(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LabError):
        read_configuration(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text("port = 1\n")

    def no_rename(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", no_rename)
    with pytest.raises(OSError, match="disk full"):
        write_configuration(Configuration(port=2, path=path))
    assert path.read_text() == "port = 1\n"
    assert [file.name for file in tmp_path.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(("variable", "named"), [("XDG_CONFIG_HOME", "XDG_CONFIG_HOME"), ("HOME", "HOME")])
def test_what_should_be_a_folder_is_named_with_the_variable_that_says_so(
    tmp_path, monkeypatch, variable, named
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv(variable, str(file))
    with pytest.raises(LabError) as fault:
        read_configuration()
    assert f"{file} is no folder" in fault.value.cause
    assert fault.value.fix.startswith(f"{named} must name a folder")
