from __future__ import annotations

import json

from labtui.cli.progress import NAMES
from labtui.errors import USAGE
from store import Store
from store.progress_sections import SECTIONS


def test_from_one_machine_to_another_and_twice(lab, store, keep_run, tmp_path) -> None:
    run = keep_run()
    lab("recall", "diffusiongemma", "--plain", given="in parallel\ngood\n")
    lab("verdict", "diffusiongemma", "Fast enough.", "--run", run.id)
    file = tmp_path / "p.zip"
    exported = lab("progress", "export", str(file))
    assert exported.stdout.strip() == str(file)
    assert "1 run, 1 verdict, 1 recall answer" in exported.stderr
    other = str(tmp_path / "other.db")
    first = lab("progress", "import", str(file), "--store", other).stdout
    assert "Added: 1 run, 1 verdict, 1 recall answer" in first
    assert lab.json("show", run.id, "--store", other)["speed"] == lab.json("show", run.id)["speed"]
    again = lab("progress", "import", str(file), "--store", other)
    assert again.stdout.strip() == "Nothing is new in it."
    assert "3 entries were here already" in again.stderr


def test_with_json_every_kind_is_counted(lab, store, keep_run, tmp_path) -> None:
    keep_run()
    file = str(tmp_path / "p.json")
    assert lab.json("progress", "export", file) == {"file": file, "entries": dict.fromkeys(NAMES, 0) | {"runs": 1}}
    result = lab.json("progress", "import", file)
    assert result["already"] == dict.fromkeys(NAMES, 0) | {"runs": 1}
    assert set(result["added"].values()) == set(result["changed"].values()) == {0}
    assert set(NAMES) == {section.name for section in SECTIONS}


def test_a_newer_state_is_brought_up_to_date(lab, store, tmp_path) -> None:
    store.progress.mark("diffusiongemma", "frame")
    lab("progress", "export", str(tmp_path / "p.json"))
    other = tmp_path / "other.db"
    lab("progress", "import", str(tmp_path / "p.json"), "--store", str(other))
    store.progress.mark("diffusiongemma", "frame", done=False)
    lab("progress", "export", str(tmp_path / "p.json"))
    printed = lab("progress", "import", str(tmp_path / "p.json"), "--store", str(other)).stdout
    assert printed.strip() == "Brought up to date: 1 mark."
    with Store.open(other) as there:
        assert there.progress.done("diffusiongemma") == set()


def test_a_bad_file_is_told_with_exit_2_and_changes_nothing(lab, store, tmp_path) -> None:
    (tmp_path / "p.json").write_text(
        json.dumps({"format": "labtui-progress", "format_version": 1, "notes": [{"lesson": "x"}]})
    )
    result = lab("progress", "import", str(tmp_path / "p.json"))
    assert result.exit_code == USAGE
    assert "entry 1 of notes: has no step" in result.stderr
    assert "Nothing was changed" in result.stderr
    assert lab("progress", "import", str(tmp_path / "nowhere.json")).exit_code == USAGE
    assert lab("progress", "export", str(tmp_path / "missing" / "p.json")).exit_code == USAGE
