from __future__ import annotations

import json
from pathlib import Path

from labtui.screens.fault import FaultBox
from labtui.widgets.field import Field


async def test_files_are_written_and_their_paths_shown(running, in_store, make_run, tmp_path: Path) -> None:
    run = in_store(lambda store: store.runs.add(make_run()))
    async with running(keys=("e", "x")) as lab:
        assert "3 files written" in lab.line, lab.text
        folder = tmp_path / "labtui" / "diffusiongemma"
        assert "diffusiongemma.md" in lab.text
        data = json.loads((folder / "diffusiongemma.json").read_text())
        assert run.id in json.dumps(data)
        await lab.press("c")
        copied = (tmp_path / "state" / "labtui" / "copied.txt").read_text()
        assert copied.splitlines() == [str(folder / f"diffusiongemma.{ending}") for ending in ("md", "html", "json")]


async def test_format_and_folder_can_be_chosen_and_the_folder_is_remembered(running, tmp_path: Path) -> None:
    async with running(keys=("e", "down", "space", "down", "space", "f")) as lab:
        lab.screen.query_one(Field).value = str(tmp_path / "out")
        await lab.press("enter")
        assert "1 file written" in lab.line, lab.text
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["diffusiongemma.md"]
    async with running(keys=("e",)) as lab:
        assert lab.screen.query_one(Field).value == str(tmp_path / "out")


async def test_every_format_can_be_ticked(running, tmp_path: Path) -> None:
    async with running(keys=("e", "down", "down", "down", "space", "down", "space", "x")) as lab:
        assert "6 files written" in lab.line
        endings = {
            path.name.removeprefix("diffusiongemma") for path in (tmp_path / "labtui" / "diffusiongemma").iterdir()
        }
        assert endings == {".md", ".html", ".json", ".toml", ".apkg", ".anki.txt"}


async def test_esc_leaves_the_folder_and_nothing_is_written(running, tmp_path: Path) -> None:
    async with running(keys=("e", "f", "escape")) as lab:
        assert lab.screen.focused is None
    assert not (tmp_path / "labtui").exists()


async def test_a_folder_that_cannot_be_made_is_told(running, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    async with running(keys=("e", "f")) as lab:
        lab.screen.query_one(Field).value = str(tmp_path / "file" / "below")
        await lab.press("enter")
        assert isinstance(lab.screen, FaultBox)
    assert (tmp_path / "file").read_text() == "in the way"
