import errno
import tomllib
from pathlib import Path

import pytest

from lessons.checking import check_lesson
from lessons.errors import LessonError
from lessons.loading import load_lesson
from lessons.scaffold import scaffold, write_scaffold
from lessons.schema import TABLES, TOP_KEYS


def test_it_passes_the_check_and_takes_its_id_from_the_folder(tmp_path):
    file = write_scaffold(tmp_path / "deep" / "Über meine_Lektion")
    assert check_lesson(file) == []
    assert load_lesson(file).id == "uber-meine-lektion"


@pytest.mark.parametrize("name", ["字幕", "---", "a" * 200, "a" * 63 + "--b"])
def test_any_folder_name_gives_an_id(name, tmp_path):
    assert check_lesson(write_scaffold(tmp_path / name)) == []


def test_it_shows_every_table_and_every_key():
    text = scaffold("sample")
    data = tomllib.loads(text)
    assert set(data) == {key.name for key in TOP_KEYS if key.name != "needs_labtui"} | {table.name for table in TABLES}
    for table in TABLES:
        section = text[text.index(f"\n{table.heading}\n") :]
        for key in table.keys:
            assert f"\n{key.name} = " in section or f"\n# {key.name} = " in section


def test_nothing_is_overwritten(tmp_path):
    file = write_scaffold(tmp_path / "mine")
    file.write_text("my work", encoding="utf-8")
    with pytest.raises(LessonError, match="is there already"):
        write_scaffold(tmp_path / "mine")
    assert file.read_text(encoding="utf-8") == "my work"
    with pytest.raises(LessonError, match="is there already"):
        write_scaffold(file)
    with pytest.raises(LessonError, match="Nothing was written"):
        write_scaffold(file / "below")
    with pytest.raises(LessonError, match="Nothing was written"):
        write_scaffold(tmp_path / "nul\0")


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def write_half(path, text, encoding):
        path.write_bytes(text.encode()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_half)
    with pytest.raises(LessonError, match="No space left") as fault:
        write_scaffold(tmp_path / "mine")
    assert fault.value.exit_code == 1
    assert list((tmp_path / "mine").iterdir()) == []
