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
