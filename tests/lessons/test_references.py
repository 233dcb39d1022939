import tomllib

import pytest

from lessons.loading import load_lesson
from lessons.references import reference_complaints, step_ids
from lessons.walk import steps


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'anchors = ["first-claim"]',
            'anchors = ["frist-claim"]',
            'no anchor "frist-claim"; did you mean "first-claim"?',
        ),
        ('anchors = ["first-claim"]', 'anchors = ["first-claim", "first-claim"]', 'names "first-claim" twice'),
        (
            'about = "anchor/first-claim"',
            'about = "anchor/claim"',
            'about names no step of this lesson: "anchor/claim"',
        ),
        ("retired = []", 'retired = ["a-case"]', 'id "a-case" is retired'),
        ("retired = []", 'retired = ["example/a-case"]', 'id "a-case" is retired'),
        ("retired = []", 'retired = ["a b"]', "is neither an id nor"),
        ('duration = "12:00"', 'duration = "1:00"', "at 1:23 lies behind the end of the video, 1:00"),
        ('# at = "1:23"', 'at = "1:23"', "at and quote belong together"),
        ('lab_question = "The', 'goal_2 = "The', "lab_question is missing in [frame]"),
    ],
)
def test_between_the_parts(old, new, message, faults_after):
    assert any(message in text for _, text in faults_after(old, new))


def test_an_id_retired_for_one_kind_is_free_for_another(faults_after):
    assert faults_after("retired = []", 'retired = ["recall/a-case"]') == []


def test_an_id_used_twice_stands_at_the_second(faults_after, line_of):
    second = '[[gate]]\nid = "own-words"\ntitle = "Again"\nbody = "x"\n\n[prompt]'
    [(line, message)] = faults_after("[prompt]", second)
    assert line == line_of("[prompt]") + 1
    assert message == 'id "own-words" is used twice in [[gate]]'


@pytest.mark.parametrize("at", ["1:23", "0:10"])
def test_times_grow(at, faults_after):
    second = f'[[anchor]]\nid = "next"\nat = "{at}"\ntitle = "Next"\nquote = "x"\n\n[prompt]'
    [(_, message)] = faults_after("[prompt]", second)
    assert message == f"at {at} comes after 1:23 in the file; times must grow"


def test_a_deep_point_with_a_time_has_a_quotation(faults_after):
    [(_, message)] = faults_after(
        'title = "How it works"\nanchors = ["first-claim"]', 'title = "How it works"\nat = "1:20"'
    )
    assert "at and quote belong together" in message


def test_anchors_need_a_video():
    assert [message for _, message in reference_complaints({"anchor": [{"id": "a"}]})] == [
        "[video] is missing; anchors are times in it"
    ]


def test_step_ids_are_those_of_the_walk(built_in_text, write_lesson):
    lesson = load_lesson(write_lesson(built_in_text))
    assert step_ids(tomllib.loads(built_in_text)) == {step.id for step in steps(lesson)}
