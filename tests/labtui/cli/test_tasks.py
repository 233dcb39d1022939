"""A stranger's way from docs/exercise-sets.md to a task that runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from exercises.checkers.catalogue import CHECKER_TYPES
from exercises.drawings.catalogue import DRAWINGS
from exercises.endpoint import Endpoint
from labtui.errors import FAILED, USAGE, LabError
from labtui.running import refuse_unknown_task, task_for

DOCS = (Path(__file__).parents[3] / "docs" / "exercise-sets.md").read_text("utf-8")


@pytest.fixture
def own(lab, tmp_path) -> Path:
    """A new set, found through the configuration."""
    folder = tmp_path / "geology"
    assert lab("tasks", "new", str(folder)).exit_code == 0
    (lab.home / "config" / "labtui").mkdir(parents=True)
    (lab.home / "config" / "labtui" / "config.toml").write_text(f'exercises = ["{folder}"]\n')
    return folder


def test_a_new_set_passes_the_check_and_is_never_written_over(lab, own) -> None:
    assert lab("tasks", "check", str(own)).exit_code == 0
    assert lab("tasks", "new", str(own)).exit_code == USAGE


def test_it_is_listed_shown_and_tried(lab, own) -> None:
    listed = lab.json("tasks")
    assert [task["id"] for task in listed if task["set"] == "geology"] == ["geology-rift", "geology-capital"]
    assert "geology-rift" in lab("tasks").stdout
    shown = lab.json("tasks", "show", "geology-capital", "--seed", "4")
    assert shown["seed"] == 4 and shown["prompt"].startswith("Is Reykjavik")
    assert lab("tasks", "try", "geology-capital", "-", given="Yes, by far.").exit_code == 0
    tried = lab.json("tasks", "try", "geology-capital", "-", given="No.", code=FAILED)
    assert tried["facts"][1]["detail"] == "says 'no', the truth is 'yes'"
    assert lab("tasks", "show", "geology-capitl").exit_code == USAGE


def test_the_example_of_the_docs_is_a_set(lab, tmp_path) -> None:
    (toml,) = re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)
    tomllib.loads(toml)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tasks.toml").write_text(toml, encoding="utf-8")
    assert "map.png" in lab("tasks", "check", str(folder)).stdout
    lab("tasks", "show", "vision", "--seed", "1", "--to", str(folder))
    (folder / "vision-1-1.png").rename(folder / "map.png")
    assert lab("tasks", "check", str(folder)).exit_code == 0
    answer = lab("tasks", "try", "geology-map", "-", "--set", str(folder), given="Iceland")
    assert answer.exit_code == 0 and "✓ the answer is right" in answer.stdout


def test_the_docs_name_every_checker_and_every_drawing() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", DOCS, re.MULTILINE)) - {"type", "drawing"}
    assert named == {*CHECKER_TYPES, *DRAWINGS}


def test_a_set_with_a_fault_is_left_out_and_named(lab, own) -> None:
    file = own / "tasks.toml"
    file.write_text(file.read_text().replace("moving = true", "movin = true"))
    result = lab("tasks")
    assert "did you mean 'moving'?" in result.stderr and "geology" not in result.stdout
    assert "did you mean 'moving'?" in lab("tasks", "check", str(own)).stdout
    with pytest.raises(Exception, match="no task") as unknown:
        refuse_unknown_task("geology-rift")
    assert "left out" in getattr(unknown.value, "fix", "")


def test_an_id_of_a_built_in_task_is_refused(lab, own) -> None:
    file = own / "tasks.toml"
    file.write_text(file.read_text().replace('"geology-rift"', '"coding"'))
    assert lab.json("tasks", "check", str(own), code=FAILED)["faults"][0]["fix"].endswith("'geology-coding'.")


def test_a_run_finds_it_on_the_models_that_it_is_for(own) -> None:
    big, small = (Endpoint("http://127.0.0.1:1", None, "m", name, name == "practice") for name in ("fp8", "practice"))
    refuse_unknown_task("geology-rift")
    assert task_for(big, "geology-rift").set_id == "geology"
    with pytest.raises(LabError, match="not for practice") as refused:
        task_for(small, "geology-rift")
    assert "practice = true" in refused.value.fix


def test_code_in_an_answer_runs_only_where_it_is_allowed(lab, tmp_path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("def roman(number): return 'I'\ndef merge_intervals(x): return x\ndef balanced(x): return True\n")
    refused = lab("tasks", "try", "coding-python", str(answer), "--seed", "1")
    assert refused.exit_code == USAGE and "--run-code" in refused.stderr
    assert lab("tasks", "try", "coding-python", str(answer), "--seed", "1", "--run-code").exit_code == FAILED
