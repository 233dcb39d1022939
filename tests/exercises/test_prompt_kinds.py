from __future__ import annotations

import pytest

from exercises.practice.data import answers
from exercises.practice.python_answers import FUNCTIONS
from exercises.practice.small_talk import TALKS
from exercises.practice.svg_answers import SCENES
from exercises.tasks import prompt_kinds_for


def practice_answer(prompt: str) -> str | None:
    """What the practice checkpoint is taught to say to a prompt in the plain form."""
    for talk in TALKS:
        if prompt in talk.prompts:
            return talk.answer
    for function in FUNCTIONS:
        if prompt == f"Write a Python function that {function.deeds[0]}.":
            return function.answer
    for scene in SCENES:
        if prompt == f"Write an SVG of {scene.names[0]}.":
            return scene.svg
    return None


@pytest.mark.parametrize("task", prompt_kinds_for("practice", True).tasks, ids=lambda task: task.id)
def test_every_practice_prompt_is_one_that_was_taught_and_its_answer_passes(task):
    for seed in range(12):
        prepared = task.prepare(seed)
        answer = practice_answer(prepared.prompt_text)
        assert answer in set(answers()), prepared.prompt_text
        assert prepared.check(answer).passed, prepared.prompt_text


def test_the_lab_has_every_kind_and_none_of_them_runs_code():
    tasks = prompt_kinds_for("fp8", False).tasks
    assert [task.kind for task in tasks] == ["short", "prose", "code", "structured", "reasoning"]
    assert not any(task.runs_code or task.practice for task in tasks)


@pytest.mark.parametrize(
    ("kind", "prompt", "answer"),
    [
        ("reasoning", "A train", "120 + 25 + 120\n265"),
        ("reasoning", "A tank", "(150 + 100 - 50) * 3\n600"),
        ("reasoning", "In a school", "350 - (140 + 105 - 21)\n126"),
        ("short", "What is the capital", "The capital of Australia is Canberra."),
    ],
)
def test_a_right_answer_passes_and_a_wrong_one_does_not(kind, prompt, answer):
    task = next(one for one in prompt_kinds_for("fp8", False).tasks if one.id == kind)
    prepared = next(one for seed in range(50) if (one := task.prepare(seed)).prompt_text.strip().startswith(prompt))
    assert prepared.check(answer).passed
    assert not prepared.check("I do not know 7.").passed
