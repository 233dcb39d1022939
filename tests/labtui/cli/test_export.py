from __future__ import annotations

import json
from pathlib import Path

import pytest

from labtui.errors import USAGE


def test_the_paths_are_on_stdout_and_the_files_hold_what_was_done(lab, keep_run, tmp_path) -> None:
    run = keep_run()
    lab("verdict", "diffusiongemma", "fast enough")
    result = lab("export", "diffusiongemma", "--format", "md,json", "--to", str(tmp_path / "new" / "folder"))
    markdown, document = [Path(line) for line in result.stdout.splitlines()]
    assert "fast enough" in markdown.read_text()
    assert run.id in json.dumps(json.loads(document.read_text()))
    written = lab.json("export", "diffusiongemma", "--format", "json", "--to", str(tmp_path))
    assert written["files"] == [str(tmp_path / "diffusiongemma.json")]


@pytest.mark.parametrize("formats", ["pdf", "nonsense", "", "md,nonsense"])
def test_a_format_that_there_is_not_writes_nothing(lab, tmp_path, formats) -> None:
    result = lab("export", "diffusiongemma", "--format", formats, "--to", str(tmp_path / "out"))
    assert result.exit_code == USAGE
    assert "md, html, json" in result.stderr
    assert not (tmp_path / "out").exists()


def test_every_format(lab, keep_run, tmp_path) -> None:
    keep_run()
    result = lab("export", "diffusiongemma", "--format", "md,html,json,toml,anki", "--to", str(tmp_path))
    assert [Path(line).name for line in result.stdout.splitlines()] == [
        "diffusiongemma.md",
        "diffusiongemma.html",
        "diffusiongemma.json",
        "diffusiongemma.toml",
        "diffusiongemma.apkg",
        "diffusiongemma.anki.txt",
    ]


def test_formats_may_be_named_one_by_one(lab, tmp_path) -> None:
    written = lab.json("export", "diffusiongemma", "--format", "md,toml", "--format", "html", "--to", str(tmp_path))
    assert [Path(file).suffix for file in written["files"]] == [".md", ".toml", ".html"]


def test_a_folder_must_be_named(lab) -> None:
    assert lab("export", "diffusiongemma").exit_code == USAGE


def test_a_damaged_run_that_is_cited_does_not_block_the_export_or_the_verdict(lab, store, keep_run, tmp_path) -> None:
    sound, damaged = keep_run(), keep_run()
    store.verdicts.save("diffusiongemma", "fast", [sound.id, damaged.id])
    with store._connection.writing() as db:
        db.execute("UPDATE runs SET document = '{' WHERE id = ?", [damaged.id])
    for arguments in (("export", "--to", str(tmp_path / "out"), "--format", "md,html,json,toml"), ("verdict",)):
        result = lab(*arguments)
        assert result.exit_code == 0, result.output
        assert f"run {damaged.id}" in result.stderr
    assert sound.id in (tmp_path / "out" / "diffusiongemma.md").read_text()
