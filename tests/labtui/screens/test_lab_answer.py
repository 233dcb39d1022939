from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from exercises.tasks import find_task, task_set_for
from labtui.screens.lab_answer import AnswerScreen, look_at_answer, save_answer
from labtui.widgets.picture import Picture
from tests.fakes.lab_servers import ServerThere

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><rect width="20" height="10" fill="red"/></svg>'


@pytest.fixture
def vision_run(make_run):
    prepared = find_task("vision", task_set_for("practice", True)).prepare(7)
    evidence = {
        "prompt": prepared.prompt_text,
        "seed": 7,
        "images": [{"sha256": hashlib.sha256(png).hexdigest(), "bytes": len(png)} for png in prepared.images],
        "prepared": dict(prepared.facts),
    }
    return make_run(task="vision", output="Yes, it passes.", evidence=evidence), prepared


async def show(driven, run) -> None:
    driven.app.push_screen(AnswerScreen(run))
    await driven.settle()


async def test_an_svg_is_drawn_beside_its_text(running, make_run, tmp_path) -> None:
    run = make_run(id="r1", output=f"Here: {SVG}")
    async with running(supervisor=ServerThere()) as lab:
        await show(lab, run)
        assert "▀" in lab.text and "<rect" in lab.text
        assert "practice" in lab.title
        await lab.press("t")
        assert "▀" in lab.text and "<rect" not in lab.text
        await lab.press("t")
        assert "▀" not in lab.text and "<rect" in lab.text
        await lab.press("o")
        folder = tmp_path / "data" / "labtui" / "answers"
        assert (folder / "coding-r1.svg").read_text() == SVG
        assert (folder / "coding-r1.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / "coding-r1.txt").read_text() == run.output
        assert "coding-r1.png" in lab.line


async def test_an_unsafe_svg_is_text_with_the_reason(running, make_run) -> None:
    async with running(supervisor=ServerThere()) as lab:
        await show(lab, make_run(output=SVG.replace("<rect", "<script>x</script><rect")))
        assert "▀" not in lab.text
        assert "The SVG is not drawn: has no scripts: no" in " ".join(lab.text.split())


async def test_the_picture_that_was_sent_is_shown_with_its_truth(running, vision_run) -> None:
    run, prepared = vision_run
    seen = look_at_answer(run)
    assert seen.png == prepared.images[0]
    passes = prepared.facts["picture"]["passes"]
    assert seen.words.startswith(f"Truth: the vehicle {'passes' if passes else 'does not pass'}.")
    async with running(supervisor=ServerThere()) as lab:
        await show(lab, run)
        assert "▀" in lab.text and "Truth: the vehicle" in lab.text and "Yes, it passes." in lab.text


def test_another_picture_than_the_one_that_was_sent_is_never_shown(vision_run) -> None:
    run, _ = vision_run
    run.evidence["images"][0]["sha256"] = "0" * 64
    seen = look_at_answer(run)
    assert seen.png is None and "The picture is not shown" in seen.words and "Truth" in seen.words


def test_evidence_that_lacks_the_seed_is_no_crash(vision_run) -> None:
    run, _ = vision_run
    del run.evidence["seed"]
    assert look_at_answer(run).png is None


async def test_a_narrow_terminal_turns_between_picture_and_text(running, make_run) -> None:
    async with running((60, 20), supervisor=ServerThere()) as lab:
        await show(lab, make_run(output=SVG))
        assert "▀" in lab.text and "<rect" not in lab.text
        await lab.press("t")
        assert "▀" not in lab.text and "<rect" in lab.text
        picture = lab.screen.query_one(Picture)
        assert picture is not None


@pytest.mark.parametrize("task_id", ["clip", "cursive"])
def test_every_frame_is_shown_with_the_truth(make_run, task_id) -> None:
    prepared = find_task(task_id, task_set_for("fp8", False)).prepare(5)
    evidence = {
        "seed": 5,
        "images": [{"sha256": hashlib.sha256(png).hexdigest()} for png in prepared.images],
        "prepared": dict(prepared.facts),
    }
    seen = look_at_answer(make_run(task=task_id, practice=False, checkpoint="fp8", evidence=evidence))
    picture = prepared.facts["picture"]
    assert (picture.get("text") or picture["shows"]) in seen.words
    assert seen.png is not None
    with Image.open(io.BytesIO(seen.png)) as shown:
        assert shown.size == ((480 * 2 + 8, 360) if task_id == "clip" else (960, 720))


async def test_a_file_name_from_an_imported_run_stays_in_its_folder(make_run, tmp_path) -> None:
    paths = save_answer(make_run(id="../../r", task="../../../up", output="x"), None)
    assert [Path(path).parent for path in paths] == [tmp_path / "data" / "labtui" / "answers"]


async def test_a_task_of_ones_own_stands_in_the_lab_with_nothing_that_steers_the_terminal(running, tmp_path) -> None:
    folder = tmp_path / "data" / "labtui" / "exercises" / "mine"
    folder.mkdir(parents=True)
    (folder / "tasks.toml").write_text(
        'format_version = 1\nid = "mine"\ntitle = "T"\npractice = true\n[[task]]\nid = "mine-fact"\nkind = "short"\n'
        'title = "A \\u001b[31mfact"\nbody = "B \\u009b2J"\nmax_tokens = 9\nprompt = "Is \\u001b]0;x it?"\n'
        '[task.checker]\ntype = "text"\n'
    )
    async with running((80, 40), supervisor=ServerThere()) as lab:
        lab.app.supervisor.be("ready")
        lab.app.look_at_server()
        lab.app.open_lab("diffusiongemma")
        await lab.settle()
        assert "mine-fact" in lab.text and "A ␛[31mfact" in lab.text
        await lab.press("4")
        assert "␛]0;x it?" in lab.text and not set(lab.text) & {"\x1b", "\x9b"}
