from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from labtui.artifacts import writing
from labtui.artifacts.writing import export_lesson
from labtui.errors import FAILED, USAGE, LabError


def refusal(*arguments, exit_code: int = USAGE) -> LabError:
    with pytest.raises(LabError) as caught:
        export_lesson(*arguments)
    assert caught.value.exit_code == exit_code
    assert caught.value.fix
    return caught.value


def test_files_are_named_after_the_lesson_in_the_order_asked_for(lesson, store, tmp_path):
    to = tmp_path / "new" / "folder"
    assert export_lesson(lesson, store, ["json", "md", "json"], to) == [to / "small.json", to / "small.md"]
    assert sorted(path.name for path in to.iterdir()) == ["small.json", "small.md"], "no part file stays"
    document = json.loads((to / "small.json").read_text("utf-8"))
    assert (document["format"], document["format_version"]) == ("labtui-artifact", 1)


def test_an_export_replaces_an_earlier_one(lesson, store, tmp_path):
    first = [path.read_text() for path in export_lesson(lesson, store, ["md", "json"], tmp_path)]
    store.verdicts.save("small", "Changed my mind.", [])
    second = [path.read_text() for path in export_lesson(lesson, store, ["md", "json"], tmp_path)]
    assert all("Changed my mind." in text for text in second) and first != second


@pytest.mark.parametrize(
    ("name", "content"), [("small.md", "# My notes\n"), ("small.json", '{"format": "mine"}'), ("small.json", "[")]
)
def test_a_file_that_is_not_ours_stays(lesson, store, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    error = refusal(lesson, store, ["md", "json"], tmp_path)
    assert name in error.cause
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("small")] == [name], "none was written"
    assert (tmp_path / name).read_text() == content


def test_a_folder_or_a_broken_link_in_the_way_stays(lesson, store, tmp_path):
    (tmp_path / "small.md").mkdir()
    refusal(lesson, store, ["md"], tmp_path)
    (tmp_path / "small.json").symlink_to(tmp_path / "nowhere")
    refusal(lesson, store, ["json"], tmp_path)
    assert not (tmp_path / "nowhere").exists()


def test_formats_that_there_are_not_are_named_beside_those_there_are(lesson, store, tmp_path):
    assert "md, html, json, toml, anki" in refusal(lesson, store, ["md", "pdf"], tmp_path / "out").fix
    assert "md, html, json, toml, anki" in refusal(lesson, store, [], tmp_path / "out").fix
    assert not (tmp_path / "out").exists()


def test_every_format_at_once_and_once_more(lesson, store, tmp_path):
    names = ["small.md", "small.html", "small.json", "small.toml", "small.apkg", "small.anki.txt"]
    for _ in range(2):
        assert [path.name for path in export_lesson(lesson, store, writing.FORMATS, tmp_path)] == names


@pytest.mark.parametrize("name", ["small.html", "small.toml", "small.apkg", "small.anki.txt"])
@pytest.mark.parametrize("content", [b"", b"mine", b"PK\x03\x04mine", b"\xff\x00"])
def test_a_file_that_is_not_ours_stays_in_every_format(lesson, store, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert name in refusal(lesson, store, writing.FORMATS, tmp_path).cause
    assert (tmp_path / name).read_bytes() == content


def test_a_file_in_place_of_the_folder_is_explained(lesson, store, tmp_path):
    (tmp_path / "file").write_text("x")
    refusal(lesson, store, ["md"], tmp_path / "file")
    refusal(lesson, store, ["md"], tmp_path / "file" / "below", exit_code=FAILED)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that even root cannot write")
def test_an_unwritable_folder_is_explained(lesson, store):
    refusal(lesson, store, ["md"], Path("/proc/self/fd"), exit_code=FAILED)


def test_a_disk_that_fills_up_leaves_the_earlier_export(lesson, store, tmp_path, monkeypatch):
    earlier = [path.read_text() for path in export_lesson(lesson, store, ["md", "json"], tmp_path)]
    store.verdicts.save("small", "Changed my mind.", [])
    whole = os.fsync
    calls = []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(descriptor)

    monkeypatch.setattr(writing.os, "fsync", full)
    error = refusal(lesson, store, ["md", "json"], tmp_path, exit_code=FAILED)
    assert "No space left" in error.cause
    assert [(tmp_path / f"small.{name}").read_text() for name in ("md", "json")] == earlier
    assert not list(tmp_path.glob(".*.part"))
