from __future__ import annotations

import pytest

from labtui.errors import USAGE


@pytest.fixture
def two(keep_run):
    one = keep_run(practice=False, checkpoint="bf16", output="ANSWER-ONE")
    other = keep_run(practice=False, checkpoint="gemma4", output="ANSWER-TWO")
    return one, other


def test_the_names_are_shown_only_after_the_judgement_is_kept(lab, two) -> None:
    result = lab("blind", "coding", given="a\nclearer\n")
    assert result.exit_code == 0, result.output
    before, after = result.stdout.split("Kept:")
    assert "ANSWER-ONE" in before and "ANSWER-TWO" in before
    assert "Write an SVG of a red circle." in before
    assert not any(name in before for name in ("bf16", "gemma4", two[0].id, two[1].id))
    assert "bf16" in after and "gemma4" in after
    (tally,) = lab.json("blind", "--tally")
    assert (tally["first"], tally["second"], tally["judged"]) == ("bf16", "gemma4", 1)
    letter_of_first = "A" if before.index("ANSWER-ONE") < before.index("ANSWER-TWO") else "B"
    assert tally["first_preferred"] == (letter_of_first == "A")
    assert "1 judged blind" in lab("blind", "--tally").stdout


def test_without_a_judgement_nothing_is_said_and_the_pair_comes_back(lab, two, store) -> None:
    result = lab("blind", "coding", given="")
    assert result.exit_code != 0
    assert "bf16" not in result.output
    (pair,) = store.judgements.open_pairs("coding")
    assert lab.json("blind", "coding", given="equal\n\n")["pair"] == pair.id


def test_a_judged_pair_is_not_made_again(lab, two) -> None:
    lab("blind", "coding", given="neither\n\n")
    result = lab("blind", "coding", given="a\n\n")
    assert result.exit_code == USAGE
    assert "no new pair" in result.output


def test_practice_is_never_paired_with_another_model(lab, keep_run) -> None:
    keep_run()
    keep_run(practice=False, checkpoint="bf16")
    assert lab("blind", "coding", given="a\n\n").exit_code == USAGE


def test_two_trials_give_the_pair(lab, keep_run) -> None:
    keep_run(practice=False, checkpoint="fp8", output="OTHER")
    keep_run(practice=False, checkpoint="bf16", trial="t-one", output="FROM-ONE")
    keep_run(practice=False, checkpoint="gemma4", trial="t-two", output="FROM-TWO")
    shown = lab("blind", "coding", "--between", "t-one", "t-two", given="b\n\n").stdout
    assert "FROM-ONE" in shown and "FROM-TWO" in shown and "OTHER" not in shown


def test_without_a_task_it_is_any_task_and_the_facts_stand_with_the_names(lab, two) -> None:
    shown = lab("blind", given="b\n\n").stdout
    before, after = shown.split("Kept: B.")
    assert "parses" not in before
    assert after.count("✓ parses: one svg element") == 2


def test_the_last_judgement_is_taken_back(lab, two, store) -> None:
    assert lab("blind", "--undo").exit_code == 1
    kept = lab.json("blind", given="a\nclearer\n")
    assert lab.json("blind", "--undo")["withdrawn"] is True
    assert lab.json("blind", "--tally") == []
    assert lab("blind", given="a\n\n").exit_code == USAGE
    assert store.judgements.reveal(kept["pair"]).judgement.why == "clearer"
    assert "no judgement to take back" in lab("blind", "--undo").stderr


def test_practice_is_two_settings_with_their_label(lab, keep_run) -> None:
    prompt = {"prompt": "Draw.", "seed": 3}
    keep_run(evidence=prompt | {"step_cap": {"steps": 4}}, output="FEW")
    nothing = lab("blind", given="a\n\n")
    assert nothing.exit_code == USAGE
    assert "--sampler max_denoising_steps=1" in nothing.stderr
    keep_run(evidence=prompt | {"step_cap": {"steps": 48}}, output="MANY")
    shown = lab("blind", given="a\n\n").stdout
    assert shown.count("no evidence about DiffusionGemma") == 2
    assert "step cap 4" in shown.split("Kept:")[1] and "step cap" not in shown.split("Kept:")[0]
    assert "no evidence about DiffusionGemma" in lab("blind", "--tally").stdout
    assert lab.json("blind", "--tally")[0]["practice"] is True


def test_what_would_steer_the_terminal_is_a_symbol(lab, keep_run) -> None:
    keep_run(practice=False, checkpoint="bf16", output="\x1b]0;mine\x07 one")
    keep_run(practice=False, checkpoint="gemma4", output="\x9b2Jtwo \u202e")
    shown = lab("blind", given="a\n\n").stdout
    assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_what_to_do_names_the_other_model_and_the_seed(lab, keep_run) -> None:
    keep_run(practice=False, checkpoint="gemma4", evidence={"prompt": "Draw.", "seed": 12})
    said = lab("blind", given="a\n\n").stderr
    assert "all valid runs are from gemma4" in said
    assert "serve start --checkpoint bf16 --wait" in said and "run coding --seed 12" in said
    assert "no valid run of vision" in lab("blind", "vision", given="a\n\n").stderr


def test_answers_that_are_alike_word_by_word_are_no_pair(lab, keep_run) -> None:
    keep_run(practice=False, checkpoint="bf16", output="<svg/> \n done")
    keep_run(practice=False, checkpoint="gemma4", output="<svg/> done\n")
    result = lab("blind", given="a\n\n")
    assert result.exit_code == USAGE and "the same answer to every prompt, word by word" in result.stderr


def test_both_answers_are_written_as_a_and_b(lab, keep_run, tmp_path) -> None:
    keep_run(practice=False, checkpoint="bf16", output='<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>')
    keep_run(practice=False, checkpoint="gemma4", output="<html><p>two</p></html>")
    to = tmp_path / "files"
    assert lab("blind", "--to", str(to), given="a\n\n").exit_code == 0
    assert sorted(path.suffix for path in to.iterdir()) == [".html", ".png", ".svg", ".txt", ".txt"]
    assert not any(name in path.name for path in to.iterdir() for name in ("bf16", "gemma4"))
    assert lab("blind", "--to", "/proc/no", given="").exit_code == USAGE
