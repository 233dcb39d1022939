from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exercises.practice
from exercises.checkers.python_function import FunctionWanted, check_python_function
from exercises.checkers.svg import SvgWanted, check_svg
from exercises.drawings.barrier import draw_barrier
from exercises.practice.data import (
    SHAPES,
    answers,
    draw_picture_example,
    draw_text_example,
    picture_answer,
)
from exercises.practice.phrasing import KNOWN_PICTURE, KNOWN_PYTHON, KNOWN_SVG, vary
from exercises.practice.python_answers import FUNCTIONS, Function
from exercises.practice.svg_answers import FILLS, SCENES
from exercises.tasks import find_task, load_task_set

TASKS = load_task_set(Path(exercises.practice.__file__).parent)
TAUGHT = {
    **{KNOWN_SVG[0].format(name): drawing.svg for drawing in (*SCENES, *SHAPES) for name in drawing.names},
    **{KNOWN_PYTHON[0].format(deed): function.answer for function in FUNCTIONS for deed in function.deeds},
}
VARIANTS = {task_id: len(find_task(task_id, TASKS).variants) for task_id in ("coding", "coding-python")}


def test_the_set_is_the_lab_in_small() -> None:
    assert TASKS.practice
    assert [task.id for task in TASKS.tasks] == ["coding", "vision", "coding-python"]
    assert find_task("vision", TASKS).drawing == "barrier"


@pytest.mark.parametrize("task_id", VARIANTS)
def test_every_prompt_is_taught_and_its_taught_answer_passes(task_id: str) -> None:
    task = find_task(task_id, TASKS)
    seen = set()
    for seed in range(400):
        prepared = task.prepare(seed)
        if prepared.prompt_text in seen:
            continue
        seen.add(prepared.prompt_text)
        check = prepared.check(TAUGHT[prepared.prompt_text])
        assert check.passed, (prepared.prompt_text, check.facts)
        assert not prepared.check("I do not know.").passed
    assert seen == {variant.prompt for variant in task.variants}


def test_no_other_drawing_passes_for_the_one_that_was_asked_for() -> None:
    task = find_task("coding", TASKS)
    for seed in range(24):
        prepared = task.prepare(seed)
        right = TAUGHT[prepared.prompt_text]
        for other in (*SCENES, *SHAPES):
            assert prepared.check(other.svg).passed == (other.svg == right), (prepared.prompt_text, other.names[0])


def test_the_vision_task_takes_the_taught_answer_and_no_other() -> None:
    task = find_task("vision", TASKS)
    assert task.variants[0].prompt == KNOWN_PICTURE[0]
    rng = random.Random(2)
    scenes = [draw_barrier(rng, 64, 64) for _ in range(12)]
    for seed in range(20):
        prepared = task.prepare(seed)
        truth = prepared.facts["picture"]["passes"]
        for scene in scenes:
            assert prepared.check(picture_answer(scene)).passed == (scene.passes == truth)


def test_every_taught_drawing_is_a_safe_svg() -> None:
    for drawing in (*SCENES, *SHAPES):
        assert check_svg(drawing.svg, SvgWanted(elements=("svg",))).passed, drawing.names
    assert {drawing.names[0].split()[1] for drawing in SHAPES} == set(FILLS)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_every_taught_function_is_python_under_its_name(function: Function) -> None:
    check = check_python_function(function.answer, FunctionWanted(function.name, ()), run_code=False)
    assert check.facts[0].name == "has Python code"
    assert check.facts[0].passed
    space: dict[str, object] = {}
    exec(compile(function.code, function.name, "exec"), space)
    assert callable(space[function.name])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31))
def test_examples_teach_known_answers_only(seed: int) -> None:
    rng = random.Random(seed)
    example = draw_text_example(rng)
    assert example.answer in set(answers())
    assert example.prompt


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31))
def test_picture_examples_say_what_is_in_the_picture(seed: int) -> None:
    example = draw_picture_example(random.Random(seed))
    assert example.answer.startswith(("Yes, the ", "No, the "))
    assert min(example.image.size) >= 96


@given(st.integers(0, 2**31), st.sampled_from(sorted(TAUGHT)))
def test_varied_requests_stay_close_to_what_was_asked(seed: int, request_text: str) -> None:
    varied = vary(random.Random(seed), request_text)
    assert abs(len(varied) - len(request_text)) <= 40
    assert len(set(request_text.lower().split()) & set(varied.lower().split())) >= 2
