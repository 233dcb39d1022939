from itertools import groupby

from lessons.loading import load_lesson
from lessons.scaffold import scaffold
from lessons.walk import notes_about, steps

ORDER = [
    "frame",
    "card",
    "deep",
    "anchor",
    "example",
    "pitfall",
    "misconception",
    "practice",
    "predict",
    "lab",
    "verdict",
    "recall",
    "gate",
]


def test_the_order_of_kinds(write_lesson):
    walk = steps(load_lesson(write_lesson(scaffold("sample"))))
    assert [kind for kind, _ in groupby(step.kind for step in walk)] == ORDER


def test_ids_are_kind_and_id_and_unique(built_in_text, write_lesson):
    walk = steps(load_lesson(write_lesson(built_in_text)))
    assert len({step.id for step in walk}) == len(walk)
    assert {
        "frame",
        "card/intent",
        "deep/denoising",
        "anchor/speed-claim",
        "lab/vision",
        "verdict",
        "recall/tradeoff",
    } <= {step.id for step in walk}
    assert all(step.id.split("/")[0] == step.kind for step in walk)


def test_titles_are_one_line_and_never_empty(built_in_text, write_lesson):
    for step in steps(load_lesson(write_lesson(built_in_text))):
        assert step.title.strip() == step.title != ""
        assert "\n" not in step.title


def test_a_pitfall_is_titled_by_its_first_sentence(write_lesson):
    text = scaffold("sample").replace(
        'body = "A way to go through this lesson and learn the wrong thing."', 'body = "**只读标题。**然后就停下。"'
    )
    [pitfall] = [step for step in steps(load_lesson(write_lesson(text))) if step.kind == "pitfall"]
    assert pitfall.title == "只读标题。"


def test_a_long_first_sentence_is_cut(write_lesson):
    text = scaffold("sample").replace("A way to go through", "word " * 40 + "to go through")
    [pitfall] = [step for step in steps(load_lesson(write_lesson(text))) if step.kind == "pitfall"]
    assert len(pitfall.title) <= 80
    assert pitfall.title.endswith("…")


def test_no_lab_no_verdict(write_lesson):
    text = 'format_version = 1\nid = "a"\ntitle = "A"\nsummary = "B"\n[frame]\n'
    assert [step.id for step in steps(load_lesson(write_lesson(text)))] == ["frame"]


def test_notes_about_a_step(write_lesson):
    lesson = load_lesson(write_lesson(scaffold("sample")))
    assert [note.id for note in notes_about(lesson, "anchor/first-claim")] == ["a-correction"]
    assert notes_about(lesson, "frame") == ()
