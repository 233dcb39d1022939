from __future__ import annotations

from pathlib import Path

import pytest

from exercises.errors import ExerciseError
from exercises.finding import built_in_ids, task_shelf, with_own
from exercises.tasks import task_set_for

ONE = (
    'format_version = 1\nid = "{id}"\ntitle = "T"\npractice = {practice}\n[[task]]\nid = "{task}"\nkind = "short"\n'
    'title = "A"\nbody = "B"\nmax_tokens = 9\nprompt = "p"\n[task.checker]\ntype = "text"\n'
)


@pytest.fixture
def put(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def put(folder: str, task: str, practice: bool = False, set_id: str = "mine") -> Path:
        place = tmp_path / folder
        place.mkdir(parents=True)
        (place / "tasks.toml").write_text(ONE.format(id=set_id, task=task, practice=str(practice).lower()))
        return place

    return put


def test_sets_are_found_at_paths_and_in_the_users_folder(put, tmp_path) -> None:
    put("data/labtui/exercises/a", "of-user")
    put("more/b", "of-folder")
    one = put("c", "of-path")
    shelf = task_shelf([tmp_path / "more", one, one / "tasks.toml", tmp_path / "not-there"])
    assert [task.id for found in shelf.sets for task in found.tasks] == ["of-folder", "of-path", "of-user"]
    assert shelf.broken == ()


@pytest.mark.parametrize("taken", ["coding", "vision", "clip", "twice"])
def test_an_id_that_is_taken_leaves_the_set_out_and_the_others_in(put, tmp_path, taken) -> None:
    put("more/a", "twice")
    put("more/b", taken, set_id="second")
    put("more/c", "good")
    shelf = task_shelf([tmp_path / "more"])
    assert [task.id for found in shelf.sets for task in found.tasks] == ["twice", "good"]
    ((path, fault),) = shelf.broken
    assert path.parent.name == "b" and taken in fault.cause and f"'second-{taken}'" in fault.fix


def test_a_faulty_file_is_broken_and_hides_nothing(put, tmp_path) -> None:
    (put("more/a", "lost") / "tasks.toml").write_text("half [")
    put("more/b", "good")
    shelf = task_shelf([tmp_path / "more"])
    assert len(shelf.sets) == 1 and len(shelf.broken) == 1


def test_own_tasks_stand_after_the_built_in_ones_of_such_a_checkpoint(put, tmp_path) -> None:
    put("more/a", "small", practice=True)
    put("more/b", "big", set_id="other")
    own = task_shelf([tmp_path / "more"]).sets
    assert with_own(task_set_for("practice", True), own).tasks[-1].id == "small"
    assert [task.id for task in with_own(task_set_for("fp8", False), own).tasks].count("small") == 0
    assert with_own(task_set_for("fp8", False), own).tasks[-1].id == "big"


def test_the_built_in_ids_are_of_both_sets_and_their_kinds() -> None:
    assert {"coding", "vision", "coding-python", "clip", "cursive", "tabs"} <= set(built_in_ids())


def test_an_id_that_is_no_word_for_a_command_or_a_file_is_refused(put) -> None:
    from exercises.tasks import load_task_set

    for wrong in ("../up", "A", "a b", "-a", "a" * 65):
        folder = put(f"w{abs(hash(wrong))}", wrong)
        with pytest.raises(ExerciseError, match="small letters"):
            load_task_set(folder)
