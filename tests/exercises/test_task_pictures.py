from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from exercises.errors import ExerciseError
from exercises.tasks import load_task_set

SET = (
    'format_version = 1\nid = "mine"\ntitle = "T"\n[[task]]\nid = "map"\nkind = "vision"\ntitle = "A"\nbody = "B"\n'
    'max_tokens = 9\npictures = [{names}]\nprompt = "Which?"\n[task.checker]\ntype = "one_of"\n'
    'answers = {{ north = ["north"], south = ["south"] }}\nanswer = "north"\n'
)


def saved(path, size=(20, 10), kind="PNG", colour="red"):
    Image.new("RGB", size, colour).save(path, format=kind)
    return path.read_bytes()


def load(folder, *names: str):
    (folder / "tasks.toml").write_text(SET.format(names=", ".join(f'"{name}"' for name in names)))
    return load_task_set(folder).tasks[0]


def test_the_pictures_go_with_the_prompt_in_their_order(tmp_path) -> None:
    png = saved(tmp_path / "a.png")
    (tmp_path / "deep").mkdir()
    saved(tmp_path / "deep" / "b.jpg", kind="JPEG", colour="blue")
    prepared = load(tmp_path, "a.png", "deep/b.jpg").prepare(1)
    assert prepared.images[0] == png and prepared.facts["pictures"] == ["a.png", "b.jpg"]
    assert Image.open(io.BytesIO(prepared.images[1])).format == "PNG"
    first, second, question = prepared.messages[0]["content"]
    assert base64.b64decode(first["image_url"]["url"].partition(",")[2]) == png
    assert second["type"] == "image_url" and question["text"] == "Which?"
    assert prepared.check("North.").passed and not prepared.check("South.").passed


def test_each_variant_has_its_own(tmp_path) -> None:
    saved(tmp_path / "a.png")
    text = SET.format(names='"a.png"').replace('pictures = ["a.png"]\nprompt = "Which?"\n', "")
    text += '[[task.variant]]\nprompt = "One?"\npictures = ["a.png"]\n[[task.variant]]\nprompt = "None?"\n'
    (tmp_path / "tasks.toml").write_text(text)
    (task,) = load_task_set(tmp_path).tasks
    counts = {task.prepare(seed).prompt_text: len(task.prepare(seed).images) for seed in range(20)}
    assert counts == {"One?": 1, "None?": 0}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../outside.png", "outside the folder"),
        ("/etc/hostname", "outside the folder"),
        ("link.png", "outside the folder"),
        ("none.png", "No such file"),
        ("text.png", "is none of PNG"),
        ("broken.png", "cannot be used"),
        ("wide.png", "at most 4096 pixels"),
        ("page.svg", "is none of PNG"),
    ],
)
def test_what_cannot_be_sent_is_refused_when_the_set_is_read(tmp_path, name, words) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    png = saved(tmp_path / "outside.png")
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    (folder / "text.png").write_text("no picture")
    (folder / "broken.png").write_bytes(png[:40])
    (folder / "page.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    saved(folder / "wide.png", (5000, 1))
    with pytest.raises(ExerciseError) as fault:
        load(folder, name)
    assert words in fault.value.cause and fault.value.exit_code == 2


def test_too_many_pictures_and_a_drawing_beside_them(tmp_path) -> None:
    saved(tmp_path / "a.png")
    with pytest.raises(ExerciseError, match="are too many"):
        load(tmp_path, *["a.png"] * 9)
    text = SET.format(names='"a.png"').replace(
        "max_tokens", 'drawing = "clip"\nframes = 2\nwidth = 99\nheight = 99\nmax_tokens'
    )
    text = text.replace("north", "left").replace("south", "right")
    (tmp_path / "tasks.toml").write_text(text)
    with pytest.raises(ExerciseError, match="both a drawing and pictures"):
        load_task_set(tmp_path)


def test_a_picture_that_is_gone_before_the_run_is_an_error_in_words(tmp_path) -> None:
    saved(tmp_path / "a.png")
    task = load(tmp_path, "a.png")
    (tmp_path / "a.png").unlink()
    with pytest.raises(ExerciseError, match="cannot be sent"):
        task.prepare(1)
