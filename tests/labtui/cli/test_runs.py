from __future__ import annotations

import json
from dataclasses import replace

import pytest

from exercises.speed import DEFINITIONS
from labtui.cli.run_text import CONDITIONS
from labtui.errors import FAILED, USAGE
from tests.labtui.cli.conftest import ONE_CANVAS


def test_runs_are_listed_newest_first_with_their_label(lab, keep_run) -> None:
    old = keep_run()
    new = keep_run(started_at="2026-11-30T22:00:00+00:00", task="vision", checkpoint="bf16", practice=False)
    lines = lab("runs").stdout.splitlines()
    assert lines[1].startswith(new.id)
    assert lines[2].startswith(old.id)
    assert "350 tok/s" in lines[1]
    assert "practice" in lines[2]
    assert "practice" not in lines[1]
    assert [run["id"] for run in lab.json("runs")] == [new.id, old.id]
    assert [run["id"] for run in lab.json("runs", "--task", "vision")] == [new.id]


def test_no_runs_says_how_to_get_one(lab) -> None:
    result = lab("runs")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "labtui run coding" in result.stderr


def test_show_has_every_number_with_its_definition_and_the_practice_label(lab, keep_run) -> None:
    run = keep_run()
    shown = lab("show", run.id).stdout
    assert "practice checkpoint" in shown
    assert "350 tok/s" in shown
    assert "444 tok/s (2 gaps)" in shown
    assert "(last content byte − request sent)" in shown
    assert "✓ parses" in shown


def test_show_json_has_the_keys_that_others_read(lab, keep_run) -> None:
    data = lab.json("show", keep_run().id)
    assert {
        "id", "task", "checkpoint", "practice", "valid", "invalid_reason", "speed", "check", "chunks", "evidence",
    } <= set(data)  # fmt: skip
    assert data["speed"]["end_to_end_tps"] == 350
    assert data["chunks"] == [[1.0, 256], [1.5, 256], [2.0, 188]]
    assert data["check"]["passed"] is True


def test_one_canvas_is_not_measurable_and_never_zero(lab, keep_run) -> None:
    run = keep_run(ONE_CANVAS)
    assert "not measurable: one canvas" in lab("show", run.id).stdout
    speed = lab.json("show", run.id)["speed"]
    assert speed["after_first_canvas_tps"] is None
    assert speed["after_first_canvas_reason"] == "one canvas"
    assert speed["end_to_end_tps"] == 200


def test_what_the_model_wrote_cannot_steer_the_terminal(lab, keep_run) -> None:
    run = keep_run(output="a\x1b]0;owned\x07b\x9b2J", invalid_reason="x\x1b[31m", valid=False)
    for arguments in (("show", run.id), ("show", run.id, "--json"), ("runs",)):
        printed = lab(*arguments).stdout
        assert not {"\x1b", "\x07", "\x9b"} & set(printed)
    assert lab.json("show", run.id)["invalid_reason"] == "x\x1b[31m"


def test_an_unknown_run_names_the_newest(lab, keep_run) -> None:
    run = keep_run()
    result = lab("show", "nothing")
    assert result.exit_code == USAGE
    assert run.id in result.stderr


def test_recompute_says_that_every_number_is_the_same(lab, keep_run) -> None:
    run = keep_run()
    result = lab("show", run.id, "--recompute")
    assert result.exit_code == 0
    assert "every number is the same" in result.stdout
    assert lab.json("show", run.id, "--recompute")["recomputed"] == {"same": True, "differences": []}


def test_recompute_finds_a_number_that_its_chunks_do_not_give(lab, keep_run) -> None:
    honest = keep_run()
    tampered = keep_run(speed=replace(honest.speed, end_to_end_tps=9999.0))
    result = lab("show", tampered.id, "--recompute")
    assert result.exit_code == FAILED
    assert "end_to_end_tps is stored as 9999.0 but its chunks give 350" in result.stdout
    differences = lab.json("show", tampered.id, "--recompute", code=FAILED)["recomputed"]["differences"]
    assert differences == [{"key": "end_to_end_tps", "stored": 9999.0, "computed": 350.0}]


def test_compare_gives_the_ratio_of_like_with_like(lab, keep_run) -> None:
    one = keep_run(ONE_CANVAS, checkpoint="bf16", practice=False)
    two = keep_run(checkpoint="fp8", practice=False)
    compared = lab.json("compare", one.id, two.id)
    assert compared["comparable"] is True
    assert compared["ratios"]["end_to_end_tps"] == pytest.approx(1.75)
    assert compared["ratios"]["after_first_canvas_tps"] is None
    assert "× 1.75" in lab("compare", one.id, two.id).stdout


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"practice": False, "checkpoint": "bf16"}, "practice"),
        ({"task": "vision"}, "different tasks"),
        ({"valid": False, "invalid_reason": "no text"}, "no text"),
    ],
)
def test_compare_gives_no_ratio_where_it_would_be_a_false_claim(lab, keep_run, changes, reason) -> None:
    one, two = keep_run(), keep_run(**changes)
    compared = lab.json("compare", one.id, two.id)
    assert compared["comparable"] is False
    assert reason in compared["comparable_reason"]
    assert compared["ratios"] is None
    shown = lab("compare", one.id, two.id).stdout
    assert "× " not in shown
    assert "No ratio is shown" in shown
    assert "practice checkpoint" in shown


def test_compare_says_when_the_prompts_differ(lab, keep_run) -> None:
    one, two = keep_run(), keep_run(evidence={"prompt": "Write an SVG of a house."})
    assert lab.json("compare", one.id, two.id)["same_prompt"] is False
    assert "same --seed" in lab("compare", one.id, two.id).stdout
    assert lab.json("compare", one.id, keep_run().id)["same_prompt"] is True


def test_rows_align_where_characters_are_two_cells_wide() -> None:
    from rich.cells import cell_len

    from labtui.cli.run_text import columns

    lines = list(columns([("扩散", "x"), ("ab", "y")]))
    assert [cell_len(line) for line in lines] == [7, 7]


def test_runs_json_is_one_document(lab, keep_run) -> None:
    keep_run()
    assert json.loads(lab("runs", "--json").stdout)[0]["practice"] is True


def test_runs_say_that_there_are_more(lab, keep_run) -> None:
    for _ in range(22):
        keep_run()
    shown = lab("runs")
    assert len(shown.stdout.splitlines()) == 21
    assert "20 of 22; --all or --limit N shows more." in shown.stderr
    everything = lab("runs", "--all")
    assert len(everything.stdout.splitlines()) == 23
    assert everything.stderr == ""
    assert len(lab.json("runs")) == 22
    assert len(lab.json("runs", "--limit", "3")) == 3


def test_a_damaged_run_is_left_out_and_named(lab, store, keep_run) -> None:
    sound, damaged = keep_run(), keep_run()
    with store._connection.writing() as db:
        db.execute("UPDATE runs SET document = '{\"id\": 1}' WHERE id = ?", [damaged.id])
    shown = lab("runs")
    assert shown.exit_code == 0
    assert sound.id in shown.stdout
    assert f"run {damaged.id}. labtui store check" in shown.stderr
    assert [one["id"] for one in lab.json("runs")] == [sound.id]
    assert lab("next").exit_code == 0
    assert damaged.id in lab("store", "check").stdout


def test_a_rate_that_does_not_count_says_so_in_its_column(lab, keep_run) -> None:
    keep_run(valid=False, invalid_reason="cut off")
    assert "350 tok/s (not valid)" in lab("runs").stdout


def test_a_warm_up_is_compared_without_a_ratio(lab, keep_run) -> None:
    one, two = keep_run(warmup=True), keep_run()
    shown = lab("compare", one.id, two.id).stdout
    assert "coding (warm-up)" in shown
    assert "×" not in shown
    assert "is a warm-up" in shown
    assert DEFINITIONS["end_to_end_tps"] in " ".join(shown.split())


def test_every_condition_of_a_run_has_its_definition(lab, keep_run) -> None:
    run = keep_run(
        evidence={
            "prefix_cache": {"state": "cold"},
            "traffic": {"state": "alone"},
            "thinking": {"state": "off"},
            "step_cap": {"steps": 48},
        }
    )
    shown = " ".join(lab("show", run.id).stdout.split())
    for name in ("prefix cache", "traffic", "thinking", "step cap"):
        assert CONDITIONS[name] in shown


def test_number_is_the_headline_with_all_that_it_needs_to_stand_alone(lab, keep_run) -> None:
    run = keep_run()
    lines = lab("show", run.id, "--number").stdout.splitlines()
    assert lines[0] == "practice checkpoint: these numbers say nothing about DiffusionGemma"
    assert lines[1].startswith("end to end 350 tok/s · coding · practice") and lines[1].endswith(f"run {run.id}")
    assert lines[2] == "end to end: Completion tokens ÷ (last content byte − request sent)."
    runs = [keep_run(trial="t-1", warmup=n == 0) for n in range(4)]
    text = lab("show", runs[-1].id, "--number").stdout
    assert "end to end 350 tok/s, median of 3" in text and "1 warm-up dropped · trial t-1" in text
