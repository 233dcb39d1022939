from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from exercises.errors import ExerciseError
from exercises.tasks import find_task, load_task_set, task_set_for

HEAD = 'format_version = 1\nid = "mine"\ntitle = "Mine"\n'
TASK = HEAD + (
    '[[task]]\nid = "a"\nkind = "coding"\ntitle = "A"\nbody = "Do it."\nmax_tokens = 64\nprompt = "Draw."\n'
    '[task.checker]\ntype = "svg"\n'
)


def load(tmp_path: Path, text: str):
    (tmp_path / "tasks.toml").write_text(text)
    return load_task_set(tmp_path)


@pytest.mark.parametrize(
    ("checkpoint", "practice", "set_id"),
    [("practice", True, "practice"), ("bf16", False, "diffusiongemma"), ("http://elsewhere", False, "diffusiongemma")],
)
def test_each_checkpoint_has_its_tasks(checkpoint, practice, set_id):
    task_set = task_set_for(checkpoint, practice)
    assert (task_set.id, task_set.practice) == (set_id, practice)
    assert {"coding", "vision"} <= {task.id for task in task_set.tasks}


@pytest.mark.parametrize("practice", [True, False])
def test_every_built_in_task_prepares_and_checks(practice):
    for task in task_set_for("practice" if practice else "bf16", practice).tasks:
        for seed in range(6):
            prepared = task.prepare(seed, run_code=False)
            assert prepared.prompt_text
            assert not prepared.check("").passed
            assert len(prepared.images) == (task.frames if task.drawing else 0)


def test_the_same_seed_prepares_the_same_and_others_differ():
    task = find_task("vision", task_set_for("bf16", False))
    assert task.prepare(7).messages == task.prepare(7).messages
    assert len({task.prepare(seed).images for seed in range(8)}) == 8
    assert len({task.prepare(seed).facts["picture"]["passes"] for seed in range(20)}) == 2
    coding = find_task("coding", task_set_for("practice", True))
    assert len({coding.prepare(seed).prompt_text for seed in range(30)}) > 3


def test_a_picture_travels_as_a_data_url_before_the_question():
    prepared = find_task("vision", task_set_for("bf16", False)).prepare(1)
    picture, question = prepared.messages[0]["content"]
    sent = base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/png;base64,"))
    assert sent == prepared.images[0]
    assert Image.open(io.BytesIO(sent)).size == (640, 480)
    assert question == {"type": "text", "text": prepared.prompt_text}


def test_the_truth_of_the_picture_decides():
    task = find_task("vision", task_set_for("bf16", False))
    for seed in range(8):
        prepared = task.prepare(seed)
        passes = prepared.facts["picture"]["passes"]
        assert prepared.check("Yes, it passes.").passed is passes
        assert prepared.check("No, it is too tall.").passed is not passes


def test_the_coding_task_of_the_lab_wants_moving_labelled_plates():
    task = find_task("coding", task_set_for("bf16", False))
    seed = next(seed for seed in range(50) if "oceanic" in task.prepare(seed).prompt_text)
    answer = (
        '<svg xmlns="http://www.w3.org/2000/svg"><rect><animate attributeName="x" values="0;9;0" dur="3s"/></rect>'
        "<text>Oceanic plate</text><text>Continental plate</text><text>Magma</text></svg>"
    )
    assert task.prepare(seed).check(answer).passed
    assert not task.prepare(seed).check(answer.replace("Oceanic", "Other")).passed


def test_a_task_that_runs_code_says_so_and_can_leave_it():
    task = find_task("coding-python", task_set_for("practice", True))
    assert task.runs_code
    assert not find_task("coding", task_set_for("practice", True)).runs_code
    check = task.prepare(0, run_code=False).check("```python\ndef f(): pass\n```")
    assert check.facts[-1].detail == "not run: you did not allow it"


def test_a_set_of_ones_own(tmp_path):
    task_set = load(tmp_path, TASK)
    (task,) = task_set.tasks
    assert (task_set.practice, task.id, task.prepare(3).prompt_text) == (False, "a", "Draw.")
    assert load_task_set(tmp_path / "tasks.toml") == task_set


def test_expectations_of_a_variant_stand_over_those_of_the_task(tmp_path):
    text = TASK.replace('prompt = "Draw."\n', "") + (
        'fill = "red"\n[[task.variant]]\nprompt = "Blue."\nexpect = { fill = "blue" }\n'
        '[[task.variant]]\nprompt = "Red."\n'
    )
    (task,) = load(tmp_path, text).tasks
    assert [variant.settings["fill"] for variant in task.variants] == ["blue", "red"]


def test_an_unknown_task_names_the_nearest():
    with pytest.raises(ExerciseError) as fault:
        find_task("visoin", task_set_for("bf16", False))
    assert fault.value.exit_code == 2
    assert "vision" in fault.value.fix


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'format_version' is missing"),
        ("format_version = 2\n", "reads 1"),
        (HEAD, "'task' is missing"),
        (HEAD + "task = []\n", "no task in it"),
        (HEAD + "task = 5\n", "task must be a list of tables"),
        ("half [", "tasks.toml"),
        (TASK.replace("prompt =", "promt ="), "is 'promt' meant to be it?"),
        (TASK.replace('title = "A"', 'title = "A"\ntitel = "B"'), "unknown key 'titel', did you mean 'title'?"),
        (TASK.replace('kind = "coding"', 'kind = "codng"'), "kind = 'codng'"),
        (TASK.replace("max_tokens = 64", "max_tokens = 0"), "max_tokens must be a whole number of at least 1"),
        (TASK.replace("max_tokens = 64", "max_tokens = true"), "max_tokens must be a whole number"),
        (TASK.replace('type = "svg"', 'type = "png"'), "checker: type = 'png'"),
        (TASK.replace('type = "svg"', ""), "checker: type = None"),
        (TASK + 'filll = "red"\n', "unknown key 'filll', did you mean 'fill'?"),
        (TASK + "fill = 3\n", "fill must be a text"),
        (TASK + 'elements = "circle"\n', "elements must be a list of texts"),
        (TASK + "moving = 1\n", "moving must be true or false"),
        (TASK + '[[task.variant]]\nprompt = "x"\n', "both prompt and variants"),
        (TASK.replace("max_tokens", 'drawing = "barier"\nmax_tokens'), "no drawing 'barier'"),
        (TASK.replace("max_tokens", 'drawing = "barrier"\nmax_tokens'), "'width' is missing"),
        (TASK.replace("max_tokens", 'drawing = "barrier"\nwidth=9999\nheight=100\nmax_tokens'), "too large"),
        (TASK.replace('type = "svg"', 'type = "choice"\nwhen_true=["a"]\nwhen_false=["b"]'), "which answer is right"),
        (TASK.replace('type = "svg"', 'type = "choice"\nwhen_true=[]\nwhen_false=["b"]'), "words for both"),
        (TASK.replace('type = "svg"', 'type = "python_function"\nfunction="a b"\ncases=[]'), "no name of a function"),
        (
            TASK.replace('type = "svg"', 'type = "python_function"\nfunction="a"\ncases=[{args=1}]'),
            "args must be a list",
        ),
        (TASK + TASK.removeprefix(HEAD), "is taken by a task above"),
    ],
)
def test_a_faulty_file_is_one_clear_error(tmp_path, text, words):
    with pytest.raises(ExerciseError) as fault:
        load(tmp_path, text)
    assert words in fault.value.cause
    assert fault.value.exit_code == 2
    assert fault.value.fix


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(ExerciseError, match="cannot be read"):
        load_task_set(tmp_path / "none.toml")
    (tmp_path / "tasks.toml").write_bytes(b"\xff")
    with pytest.raises(ExerciseError, match="not UTF-8"):
        load_task_set(tmp_path)


lines = st.lists(
    st.sampled_from([*TASK.splitlines(), "[task.x]", "a = [", "b = {c = 1}", "width = 60", "\x00"]), max_size=14
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines.map("\n".join))
def test_no_file_raises_anything_else(tmp_path, text):
    try:
        load(tmp_path, text)
    except ExerciseError as fault:
        assert fault.fix


@pytest.mark.parametrize("task_id", ["cursive", "clip"])
def test_the_truth_of_a_drawing_is_its_right_answer(task_id):
    task = find_task(task_id, task_set_for("fp8", False))
    for seed in range(8):
        prepared = task.prepare(seed)
        picture = prepared.facts["picture"]
        right = picture.get("text") or picture["direction"]
        assert prepared.check(right).passed
        wrong = next(word for word in ("left", "right") if word != right)
        assert not prepared.check(wrong).passed
    assert task.prepare(1).images != task.prepare(2).images
    assert task.prepare(1).images == task.prepare(1).images


def test_a_checker_that_cannot_judge_a_drawing_is_refused(tmp_path):
    path = tmp_path / "tasks.toml"
    path.write_text(
        'format_version = 1\nid = "x"\ntitle = "x"\n[[task]]\nid = "a"\nkind = "vision"\ntitle = "a"\nbody = "b"\n'
        'max_tokens = 9\ndrawing = "clip"\nwidth = 200\nheight = 200\nprompt = "p"\n[task.checker]\ntype = "choice"\n'
    )
    with pytest.raises(ExerciseError, match="cannot judge the drawing"):
        load_task_set(path)
    path.write_text(path.read_text().replace('"choice"', '"one_of"\nanswers = { up = ["up"] }'))
    with pytest.raises(ExerciseError, match="'left' has no words"):
        load_task_set(path)
