from __future__ import annotations

from dataclasses import replace

from labtui.screens.reading import sources_markdown
from lessons.finding import find_lesson
from lessons.model import Video

LESSON = find_lesson("diffusiongemma")


def test_the_shelf_of_a_lesson_without_a_video_has_its_sources_only() -> None:
    shelf = sources_markdown(replace(LESSON, video=Video("", "", "", None)))
    assert "The video" not in shelf
    assert all(source.title in shelf for source in LESSON.sources)


def test_what_is_not_known_of_a_video_leaves_no_gap() -> None:
    shelf = sources_markdown(replace(LESSON, video=Video("A talk", "", "", None), sources=()))
    assert shelf == "**The video.** A talk"


def test_a_lesson_without_any_source_says_so() -> None:
    assert "no sources" in sources_markdown(replace(LESSON, video=Video("", "", "", None), sources=()))
