import errno
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.errors import LessonError
from lessons.importing.importer import import_page
from lessons.importing.writing import lesson_toml
from lessons.loading import load_lesson


def test_the_folder_names_the_lesson(seed_text, tmp_path):
    found = import_page(seed_text.encode(), "page.txt", tmp_path / "deep" / "Meine Lektion")
    assert found.lesson_id == load_lesson(found.path).id == "meine-lektion"
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["Meine Lektion"]
    assert [path.name for path in found.path.parent.iterdir()] == ["lesson.toml"]


def test_without_a_folder_it_goes_among_the_users_lessons(seed_text, tmp_path, monkeypatch):
    from lessons.finding import find_lesson

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = import_page(seed_text.encode(), "page.txt")
    assert found.path.is_relative_to(tmp_path / "data" / "labtui" / "lessons")
    assert find_lesson("diffusiongemma-1100-tokens-sec-googles-fastest").path == found.path


def test_another_lesson_is_never_overwritten(seed_text, tmp_path):
    first = import_page(seed_text.encode(), "page.txt", tmp_path / "one")
    before = first.path.read_bytes()
    assert import_page(seed_text.encode(), "page.txt", tmp_path / "one").path == first.path
    with pytest.raises(LessonError, match="holds another lesson"):
        import_page(seed_text.replace("More tools", "Many tools").encode(), "page.txt", tmp_path / "one")
    assert first.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_a_folder_with_other_things_keeps_them(seed_text, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_text("keep", encoding="utf-8")
    import_page(seed_text.encode(), "page.txt", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["lesson.toml", "notes.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_places_that_cannot_be_written(seed_text, tmp_path):
    file = tmp_path / "file"
    file.touch()
    for place in (file, file / "below", tmp_path / "nul\0", tmp_path / ("x" * 300), Path("/proc/nothing/here")):
        with pytest.raises(LessonError, match="Nothing was written"):
            import_page(seed_text.encode(), "page.txt", place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("call", ["fsync", "link"])
def test_a_full_disk_leaves_nothing(call, seed_text, tmp_path, monkeypatch):
    folder = tmp_path / "lesson"
    folder.mkdir()
    (folder / "notes.txt").touch()

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(LessonError, match="No space left"):
        import_page(seed_text.encode(), "page.txt", folder)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["lesson"]


def test_an_interrupt_leaves_nothing(seed_text, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        import_page(seed_text.encode(), "page.txt", tmp_path / "lesson")
    assert list(tmp_path.iterdir()) == []


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))


@given(TEXTS, st.lists(TEXTS))
def test_every_text_is_read_back(text, entries):
    data = {"title": text, "frame": {"why": text}, "prompt": {"tasks": entries}, "card": [{"id": "a", "body": text}]}
    assert tomllib.loads(lesson_toml(data, [text])) == data
