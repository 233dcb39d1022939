"""What the built-in lesson must hold. Quotations are evidence: their hashes were taken from the transcript's words."""

import hashlib
import re

import pytest

from lessons.loading import load_lesson
from lessons.walk import steps

EVIDENCE = {
    "speed-claim": "bc9f8bf35f5c7c5b",
    "memory-claim": "2681af032e1252c3",
    "transformers-path": "e1434ef343106050",
    "svg-check": "8d602a4c92c7247c",
    "barrier-task": "a25e1d0a65030abb",
    "barrier-answer": "aac84bdc7b98ea58",
    "swing-video": "5d41309034974db8",
}


@pytest.fixture
def lesson(built_in_text, write_lesson):
    return load_lesson(write_lesson(built_in_text))


def test_all_parts_are_there(lesson):
    assert [card.stage for card in lesson.cards] == ["Intent", "Model", "Harness", "Tools", "Verifier", "Artifact"]
    assert [point.start_s for point in lesson.deep_points] == [34, 255, 488]
    assert [anchor.start_s for anchor in lesson.anchors] == [34, 138, 255, 349, 488, 595, 686]
    counts = [
        len(part)
        for part in (
            lesson.examples,
            lesson.pitfalls,
            lesson.gates,
            lesson.misconceptions,
            lesson.practice,
            lesson.recall,
        )
    ]
    assert counts == [3, 4, 4, 3, 3, 3]
    assert [task.task for task in lesson.lab_tasks] == ["coding", "vision"]
    assert (len(lesson.prompt.tasks), len(lesson.prompt.includes), len(lesson.prompt.quality_bar)) == (7, 6, 5)
    assert len(lesson.sources) >= 6


def test_quotations_are_unchanged(lesson):
    assert {anchor.id: hashlib.sha256(anchor.quote.encode()).hexdigest()[:16] for anchor in lesson.anchors} == EVIDENCE


def test_nothing_is_left_open(lesson):
    assert all(vars_of(lesson.frame))
    assert all(anchor.proves and anchor.does_not_prove and anchor.to_verify for anchor in lesson.anchors)
    assert all(point.task for point in lesson.deep_points)
    assert all(item.answer and len(item.points) >= 3 and item.anchors for item in lesson.recall)
    assert all(item.why for item in lesson.misconceptions)
    assert all(source.url and source.note for source in lesson.sources)


def vars_of(frame):
    return [getattr(frame, name) for name in frame.__dataclass_fields__]


def test_the_correction_of_the_benchmark_has_its_source(lesson):
    [note] = [note for note in lesson.notes if note.id == "mmmlu-not-mmlu"]
    assert "81.5" in note.body
    assert "86.3" in note.body
    assert "MMMLU" in note.body
    assert "https://huggingface.co/google/diffusiongemma-26B-A4B-it" in note.source
    assert note.about in {step.id for step in steps(lesson)}


def test_every_time_in_the_texts_is_a_time_of_an_anchor(lesson, built_in_text):
    known = {"0:34", "2:18", "4:15", "5:49", "8:08", "9:55", "11:26"}
    assert set(re.findall(r"\b\d{1,2}:\d\d\b", built_in_text)) == known


def test_bodies_read_well_at_76_columns(built_in_text):
    inside = False
    for row in built_in_text.splitlines():
        if inside:
            assert len(row.removesuffix('"""')) <= 76, row
        if row.count('"""') == 1:
            inside = not inside
