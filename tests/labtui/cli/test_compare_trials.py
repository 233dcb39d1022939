from __future__ import annotations

import pytest

from exercises.records import Chunk, Timeline


@pytest.fixture
def keep_trial(keep_run):
    def keep(trial: str, tokens: int, runs: int, **changes) -> None:
        for number in range(runs):
            timeline = Timeline((Chunk(1 + number / 100, tokens),), prompt_tokens=12, completion_tokens=tokens)
            keep_run(timeline, trial=trial, **changes)

    return keep


def test_two_trials_have_a_ratio_with_its_interval(lab, keep_trial) -> None:
    keep_trial("t-one", 100, 7)
    keep_trial("t-two", 300, 7)
    data = lab.json("compare", "t-one", "t-two")
    ratio = data["ratios"]["end_to_end_tps"]
    assert ratio["value"] == pytest.approx(3)
    assert ratio["interval"]["low"] < 3 < ratio["interval"]["high"]
    assert ratio["interval"]["coverage"] >= 0.95
    assert "× 3.00" in lab("compare", "t-one", "t-two").stdout


def test_few_runs_have_a_ratio_without_an_interval(lab, keep_trial) -> None:
    keep_trial("t-one", 100, 3)
    keep_trial("t-two", 300, 7)
    ratio = lab.json("compare", "t-one", "t-two")["ratios"]["end_to_end_tps"]
    assert ratio["value"] == pytest.approx(3, rel=0.05)
    assert ratio["interval"] is None and "too few runs" in ratio["interval_reason"]


def test_practice_is_never_beside_a_real_model(lab, keep_trial) -> None:
    keep_trial("t-one", 100, 6)
    keep_trial("t-two", 300, 6, practice=False, checkpoint="bf16")
    data = lab.json("compare", "t-one", "t-two")
    assert data["ratios"] is None and "practice" in data["comparable_reason"]
    assert "×" not in lab("compare", "t-one", "t-two").stdout
    assert lab.json("compare", "t-one")["baseline_published"] == []


def test_the_published_table_stands_in_for_the_baseline_and_says_so(lab, keep_trial) -> None:
    keep_trial("t-two", 300, 6, practice=False, checkpoint="bf16")
    table = lab.json("compare", "t-two")["baseline_published"]
    assert table and not any(one["measured_here"] for one in table)
    assert "PUBLISHED, NOT MEASURED HERE" in lab("compare", "t-two").stdout


def test_one_run_alone_is_not_compared(lab, keep_run) -> None:
    assert lab("compare", keep_run().id).exit_code == 2


def test_two_real_runs_show_the_claims(lab, keep_run) -> None:
    one, two = (keep_run(practice=False, checkpoint="bf16") for _ in range(2))
    assert "public claims" in lab("compare", one.id, two.id).stdout
    assert "public claims" not in lab("compare", keep_run().id, one.id).stdout
