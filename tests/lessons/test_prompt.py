from lessons.loading import load_lesson
from lessons.prompt import FALLBACK, grounded_prompt
from lessons.scaffold import scaffold
from lessons.times import clock


def test_everything_of_the_lesson_is_in_it(built_in_text, write_lesson):
    lesson = load_lesson(write_lesson(built_in_text))
    text = grounded_prompt(lesson)
    for anchor in lesson.anchors:
        assert f"{clock(anchor.start_s)} / Evidence" in text
        assert f'"{anchor.quote}"' in text
    for part in (*lesson.prompt.tasks, *lesson.prompt.includes, *lesson.prompt.quality_bar):
        assert part in text
    assert lesson.title in text
    assert lesson.video.url in text
    assert lesson.prompt.intro in text
    for note in lesson.notes:
        assert " ".join(note.source.split()) in text
    assert [f"{number}. " in text for number in range(1, 8)] == [True] * 7


def test_a_lesson_that_leaves_out_the_prompt_gets_a_complete_one(write_lesson):
    before, _, behind = scaffold("sample").partition("[prompt]")
    text = grounded_prompt(load_lesson(write_lesson(before + behind[behind.index("[[note]]") :])))
    assert all(part in text for part in (FALLBACK.intro, *FALLBACK.tasks, *FALLBACK.quality_bar))
    assert '1:23 / Evidence 1: "The words of the transcript' in text
    assert "The question that can only be answered by running something." in text


def test_a_lesson_without_anchors_says_so(write_lesson):
    small = 'format_version = 1\nid = "a"\ntitle = "A"\nsummary = "What it says."\n[frame]\n'
    text = grounded_prompt(load_lesson(write_lesson(small)))
    assert "no transcript anchors" in text
    assert "What it says." in text
    assert "URL" not in text
