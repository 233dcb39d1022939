from pathlib import Path

import pytest

from lessons.errors import LessonError
from lessons.finding import find_lesson, find_lessons, lesson_shelf, user_lessons_path
from lessons.scaffold import scaffold


@pytest.fixture(autouse=True)
def user_data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def put(folder: Path, name: str, lesson_id: str, text: str | None = None) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "lesson.toml").write_text(text if text is not None else scaffold(lesson_id), encoding="utf-8")
    return folder / name


def ids() -> list[str]:
    return [lesson.id for lesson in find_lessons()]


def test_the_built_in_lesson_is_there_without_a_users_folder():
    assert "diffusiongemma" in ids()
    assert lesson_shelf().broken == ()


def test_the_users_folder_follows_xdg(tmp_path):
    assert user_lessons_path() == tmp_path / "data" / "labtui" / "lessons"
    put(user_lessons_path(), "mine", "my-own")
    assert set(ids()) >= {"my-own", "diffusiongemma"}


def test_a_broken_lesson_hides_no_other():
    put(user_lessons_path(), "a-broken", "", text="this is no TOML")
    put(user_lessons_path(), "b-fine", "fine")
    shelf = lesson_shelf()
    assert {lesson.id for lesson in shelf.lessons} >= {"fine", "diffusiongemma"}
    [broken] = shelf.broken
    assert broken.path.name == "a-broken"
    assert "not valid TOML" in broken.faults[0].message
    with pytest.raises(LessonError, match="not valid TOML"):
        find_lesson("a-broken")


def test_a_symlink_loop_and_a_plain_file_in_the_users_folder():
    folder = user_lessons_path()
    put(folder, "fine", "fine")
    (folder / "loop").mkdir()
    (folder / "loop" / "lesson.toml").symlink_to(folder / "loop" / "lesson.toml")
    (folder / "notes.txt").touch()
    shelf = lesson_shelf()
    assert [broken.path.name for broken in shelf.broken] == ["loop"]
    assert "fine" in {lesson.id for lesson in shelf.lessons}


def test_a_given_path_goes_before_the_users_folder_and_that_before_the_built_in(tmp_path):
    put(user_lessons_path(), "mine", "diffusiongemma")
    assert find_lesson("diffusiongemma").path.is_relative_to(user_lessons_path())
    given = put(tmp_path, "given", "diffusiongemma")
    assert find_lesson("diffusiongemma", [given]).path.parent == given
    assert ids().count("diffusiongemma") == 1


def test_a_broken_copy_leaves_the_built_in_one():
    put(user_lessons_path(), "diffusiongemma", "", text="")
    assert "labtui" not in str(find_lesson("diffusiongemma").path.relative_to(Path(__file__).parents[2]))


def test_one_id_twice_at_one_place():
    first = put(user_lessons_path(), "a", "same")
    put(user_lessons_path(), "b", "same")
    [broken] = lesson_shelf().broken
    assert broken.path.name == "b"
    assert str(first) in broken.faults[0].message


def test_paths_given_may_be_files_folders_and_folders_of_folders(tmp_path):
    put(tmp_path / "many", "one", "one")
    put(tmp_path / "many", "two", "two")
    single = put(tmp_path, "three", "three")
    found = find_lessons([tmp_path / "many", single / "lesson.toml", single])
    assert {lesson.id for lesson in found} >= {"one", "two", "three"}
    assert lesson_shelf([single / "lesson.toml", single]).broken == ()


def test_a_path_given_without_a_lesson_is_told(tmp_path):
    [broken] = lesson_shelf([tmp_path / "nowhere"]).broken
    assert "there is no such file" in broken.faults[0].message


@pytest.mark.parametrize(
    ("asked", "fix"), [("diffusiongema", 'did you mean "diffusiongemma"?'), ("zzz\x1b", "There are: diffusiongemma")]
)
def test_no_such_lesson(asked, fix):
    with pytest.raises(LessonError) as caught:
        find_lesson(asked)
    assert caught.value.exit_code == 2
    assert fix in caught.value.fix
    assert caught.value.cause.isprintable()
