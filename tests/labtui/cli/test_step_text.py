from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from labtui.cli.step_text import step_lines
from lessons.finding import find_lesson
from lessons.model import Video
from lessons.walk import steps

LESSON = find_lesson("diffusiongemma")
NO_VIDEO = Video("", "", "", None)
FRAME, ANCHOR = steps(LESSON)[0], next(step for step in steps(LESSON) if step.kind == "anchor")


def text(lesson, step) -> str:
    return "\n".join(step_lines(lesson, step))


def test_a_video_without_an_address_is_named_and_one_without_a_title_is_not() -> None:
    without_address = replace(LESSON, video=replace(NO_VIDEO, title="A talk", channel="A channel"))
    assert "  A talk, A channel\n" in text(without_address, FRAME)
    assert "http" not in text(without_address, ANCHOR)
    assert LESSON.video.url in text(LESSON, FRAME)
    assert LESSON.video.title not in text(replace(LESSON, video=NO_VIDEO), FRAME)


@pytest.mark.parametrize("step", steps(LESSON), ids=lambda step: step.id)
def test_no_step_leaves_a_gap_where_there_is_no_video(step) -> None:
    lines = list(step_lines(replace(LESSON, video=NO_VIDEO), step))
    assert not any(line.isspace() for line in lines)
    assert not any(before == after == "" for before, after in pairwise(lines))
