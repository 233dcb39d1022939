from dataclasses import replace

import pytest

from lessons.finding import PACKAGE
from lessons.fingerprints import changed_steps, recall_fingerprint, step_fingerprints
from lessons.loading import load_lesson
from lessons.walk import steps
from store.recall import item_hash

LESSON = load_lesson(PACKAGE / "diffusiongemma")


def test_answers_are_kept_under_the_same_fingerprint():
    for item in LESSON.recall:
        assert recall_fingerprint(item) == item_hash(item) == step_fingerprints(LESSON)[f"recall/{item.id}"]


@pytest.mark.parametrize("kind", ["cards", "deep_points", "anchors", "examples", "misconceptions", "gates", "recall"])
def test_an_edited_text_changes_its_fingerprint_and_no_step(kind):
    first, *others = getattr(LESSON, kind)
    field = {"anchors": "quote", "misconceptions": "correction", "recall": "answer"}.get(kind, "body")
    edited = replace(LESSON, **{kind: (replace(first, **{field: getattr(first, field) + " More."}), *others)})
    assert [step.id for step in steps(edited)] == [step.id for step in steps(LESSON)]
    before, after = step_fingerprints(LESSON), step_fingerprints(edited)
    assert [step for step in before if before[step] != after[step]] == [
        next(step.id for step in steps(LESSON) if step.id.endswith(f"/{first.id}") and step.kind == _kind(kind))
    ]


def _kind(field):
    return {"deep_points": "deep", "recall": "recall"}.get(field, field.removesuffix("s"))


def test_only_what_was_read_as_another_text_has_changed():
    now = step_fingerprints(LESSON)
    read = {"frame": "another", "card/gone": "another", f"card/{LESSON.cards[0].id}": now[f"card/{LESSON.cards[0].id}"]}
    assert changed_steps(LESSON, read) == {"frame"}


def test_white_space_and_anchors_change_nothing():
    card = LESSON.cards[0]
    loose = replace(card, body=card.body.replace("\n", "  \n "), anchors=())
    edited = replace(LESSON, cards=(loose, *LESSON.cards[1:]))
    assert step_fingerprints(edited) == step_fingerprints(LESSON)
