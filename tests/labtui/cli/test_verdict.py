from __future__ import annotations

import pytest

from labtui.errors import FAILED, USAGE


def test_no_verdict_yet_is_said_with_exit_1(lab) -> None:
    result = lab("verdict", "diffusiongemma")
    assert result.exit_code == FAILED
    assert "--edit" in result.stderr
    assert lab.json("verdict", "diffusiongemma", code=FAILED)["text"] is None


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("Fast enough for drafts.",), ""),
        (("--text", "Fast enough for drafts."), ""),
        (("--file", "-"), "Fast enough for drafts."),
    ],
)
def test_a_verdict_given_in_any_way_is_read_again(lab, arguments, given) -> None:
    assert lab("verdict", "diffusiongemma", *arguments, given=given).exit_code == 0
    read = lab.json("verdict", "diffusiongemma")
    assert read["text"] == "Fast enough for drafts."
    assert read["lesson"] == "diffusiongemma"
    assert "Fast enough for drafts." in lab("verdict", "diffusiongemma").stdout


def test_it_cites_the_newest_valid_run_of_each_lab_task(lab, keep_run) -> None:
    keep_run()
    coding = keep_run(started_at="2026-11-30T22:00:00+00:00")
    keep_run(started_at="2026-11-30T23:00:00+00:00", valid=False, invalid_reason="no text")
    vision = keep_run(task="vision")
    saved = lab.json("verdict", "diffusiongemma", "--text", "yes")
    assert saved["runs"] == [coding.id, vision.id]
    assert "practice checkpoint" in lab("verdict", "diffusiongemma").stdout


def test_it_cites_the_runs_that_are_named(lab, keep_run) -> None:
    one, _ = keep_run(), keep_run(task="vision")
    assert lab.json("verdict", "diffusiongemma", "yes", "--run", one.id[-3:])["runs"] == [one.id]


def test_an_unknown_run_saves_nothing(lab, keep_run) -> None:
    keep_run()
    assert lab("verdict", "diffusiongemma", "yes", "--run", "nothing").exit_code == USAGE
    assert lab("verdict", "diffusiongemma").exit_code == FAILED


@pytest.mark.parametrize(
    "arguments",
    [("", ), ("   ",), ("one", "--text", "two"), ("--edit", "--text", "x"), ("--run", "r-1")],
)  # fmt: skip
def test_no_text_or_two_texts_are_refused(lab, arguments) -> None:
    assert lab("verdict", "diffusiongemma", *arguments).exit_code == USAGE


def test_a_file_that_cannot_be_read_is_named(lab, tmp_path) -> None:
    result = lab("verdict", "diffusiongemma", "--file", str(tmp_path / "none.md"))
    assert result.exit_code == USAGE
    assert "none.md" in result.stderr


def test_the_editor_begins_with_the_last_verdict_and_its_question_is_left_out(lab, tmp_path, monkeypatch) -> None:
    lab("verdict", "diffusiongemma", "first")
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/seen\nsed -i s/first/second/ "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("click._termui_impl.Editor.get_editor", lambda self: str(editor))
    assert lab("verdict", "diffusiongemma", "--edit").exit_code == 0
    assert (tmp_path / "seen").read_text().startswith("first")
    assert lab.json("verdict", "diffusiongemma")["text"] == "second"


def test_an_editor_that_saves_nothing_changes_nothing(lab, monkeypatch) -> None:
    lab("verdict", "diffusiongemma", "first")
    monkeypatch.setattr("click._termui_impl.Editor.get_editor", lambda self: "true")
    result = lab("verdict", "diffusiongemma", "--edit")
    assert result.exit_code == FAILED
    assert lab.json("verdict", "diffusiongemma")["text"] == "first"


def test_words_of_any_language_stay_as_they_are(lab) -> None:
    text = "速度够快，但质量差 5 分。👩‍🔬 naïve"
    lab("verdict", "diffusiongemma", text)
    assert lab.json("verdict", "diffusiongemma")["text"] == text


def test_an_unknown_lesson_names_the_nearest(lab) -> None:
    result = lab("verdict", "difusiongemma", "text")
    assert result.exit_code == USAGE
    assert "diffusiongemma" in result.stderr


def test_every_line_of_a_verdict_is_indented_alike(lab) -> None:
    lab("verdict", "diffusiongemma", "first line\nsecond line")
    lines = lab("verdict", "diffusiongemma").stdout.splitlines()
    assert "  first line" in lines
    assert "  second line" in lines


def test_what_was_judged_blind_stands_with_the_verdict(lab, keep_run) -> None:
    keep_run(practice=False, checkpoint="bf16", output="ONE")
    keep_run(practice=False, checkpoint="gemma4", output="TWO")
    lab("blind", "coding", given="equal\n\n")
    lab("verdict", "diffusiongemma", "Fast enough.")
    assert "Of 1 pair of answers to coding judged blind" in lab("verdict", "diffusiongemma").stdout
    saved = lab.json("verdict", "diffusiongemma", "Fast enough.", "--blind")
    assert saved["text"].startswith("Fast enough.\nOf 1 pair of answers to coding judged blind")
    assert lab("verdict", "diffusiongemma", "--blind").exit_code == 2
    (blind,) = lab.json("verdict", "diffusiongemma")["blind"]
    assert (blind["task"], blind["equal"], blind["practice"]) == ("coding", 1, False)
