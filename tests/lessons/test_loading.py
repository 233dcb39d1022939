import pytest

from lessons.errors import LessonError
from lessons.loading import load_lesson, load_or_faults
from lessons.scaffold import scaffold
from lessons.walk import steps

SMALLEST = """
format_version = 1
id = "small"
title = "小さなレッスン"
summary = "درس قصير"
[frame]
"""


def test_the_smallest_lesson(write_lesson):
    lesson = load_lesson(write_lesson(SMALLEST))
    assert (lesson.title, lesson.summary) == ("小さなレッスン", "درس قصير")
    assert (lesson.lang, lesson.version, lesson.minutes) == ("en", "1", 0)
    assert (lesson.video.url, lesson.frame.skill, lesson.prompt.tasks) == ("", "", ())
    assert lesson.anchors == lesson.recall == lesson.gates == lesson.retired == ()


def test_texts_come_without_blanks_at_the_ends(write_lesson):
    lesson = load_lesson(write_lesson(scaffold("sample")))
    assert lesson.summary.startswith("Two or three")
    assert lesson.video.duration_s == 720


def test_a_deep_point_takes_time_and_quotation_from_its_first_anchor(write_lesson):
    [point] = load_lesson(write_lesson(scaffold("sample"))).deep_points
    assert point.start_s == 83
    assert point.quote.startswith("The words of the transcript")


def test_a_deep_point_may_have_its_own(write_lesson):
    text = scaffold("sample").replace('# at = "1:23"\n# quote = "..."', 'at = 61.5\nquote = "own words"')
    [point] = load_lesson(write_lesson(text)).deep_points
    assert (point.start_s, point.quote) == (61.5, "own words")


def test_a_deep_point_may_be_without_a_time(write_lesson):
    text = scaffold("sample").replace('title = "How it works"\nanchors = ["first-claim"]', 'title = "How it works"')
    lesson = load_lesson(write_lesson(text))
    [point] = lesson.deep_points
    assert (point.start_s, point.quote) == (None, "")
    assert [step.title for step in steps(lesson) if step.kind == "deep"] == ["How it works"]


def test_an_answer_may_be_left_open(write_lesson):
    text = scaffold("sample").replace('answer = "What a good answer says."\n', "")
    [item] = load_lesson(write_lesson(text)).recall
    assert item.answer == ""


def test_the_error_names_the_first_fault_and_counts_the_others(write_lesson):
    path = write_lesson(scaffold("sample").replace('lang = "en"', "lang = 1").replace('id = "a-case"', 'id = ""'))
    with pytest.raises(LessonError) as caught:
        load_lesson(path)
    assert caught.value.cause == f"{path}:10: lang must be a text in quotes, not a whole number (1 more)"
    assert f"labtui lesson check {path}" in caught.value.fix
    assert caught.value.exit_code == 2


def test_either_a_lesson_or_faults(write_lesson, tmp_path):
    lesson, faults = load_or_faults(write_lesson(SMALLEST))
    assert lesson is not None
    assert faults == []
    lesson, faults = load_or_faults(tmp_path / "absent")
    assert lesson is None
    assert len(faults) == 1


def test_the_command_in_the_fix_can_be_pasted_with_any_path(tmp_path):
    folder = tmp_path / "my lesson"
    folder.mkdir()
    (folder / "lesson.toml").write_text("broken", encoding="utf-8")
    with pytest.raises(LessonError) as fault:
        load_lesson(folder)
    assert f"labtui lesson check '{folder / 'lesson.toml'}'" in fault.value.fix
