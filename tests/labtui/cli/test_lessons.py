from __future__ import annotations

from labtui.errors import FAILED, USAGE


def test_a_scaffold_passes_the_check_and_can_be_studied(lab, tmp_path) -> None:
    folder = tmp_path / "mine"
    made = lab("lesson", "new", str(folder))
    assert made.exit_code == 0
    assert made.stdout.strip() == str(folder / "lesson.toml")
    assert lab("lesson", "check", str(folder)).exit_code == 0
    config = lab.home / "config" / "labtui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'lessons = ["{tmp_path}"]\n')
    assert {one["id"] for one in lab.json("lessons")} > {"mine"}


def test_new_never_overwrites(lab, tmp_path) -> None:
    lab("lesson", "new", str(tmp_path / "mine"))
    (tmp_path / "mine" / "lesson.toml").write_text("precious")
    result = lab("lesson", "new", str(tmp_path / "mine"))
    assert result.exit_code == USAGE
    assert (tmp_path / "mine" / "lesson.toml").read_text() == "precious"


def test_a_fault_is_file_line_message_with_exit_1(lab, tmp_path) -> None:
    lab("lesson", "new", str(tmp_path / "mine"))
    path = tmp_path / "mine" / "lesson.toml"
    path.write_text(path.read_text().replace("[frame]", "[frme]", 1))
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if text == "[frme]")
    result = lab("lesson", "check", str(path))
    assert result.exit_code == FAILED
    assert f"{path}:{line}: " in result.stdout
    assert "frame" in result.stdout
    assert lab.json("lesson", "check", str(path), code=FAILED)["faults"][0]["path"] == str(path)


def test_a_lesson_that_cannot_be_used_is_named_and_hides_nothing(lab, tmp_path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "lesson.toml").write_text("id = 3")
    config = lab.home / "config" / "labtui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'lessons = ["{tmp_path}"]\n')
    result = lab("lessons")
    assert result.exit_code == 0
    assert "diffusiongemma" in result.stdout
    assert "broken" in result.stderr
    assert lab("lessons", "--quiet").stderr == ""


def test_quiet_says_nothing_but_data(lab) -> None:
    for arguments in (("lessons", "-q"), ("-q", "runs"), ("due", "--quiet")):
        result = lab(*arguments)
        assert result.exit_code == 0
        assert result.stderr == ""
