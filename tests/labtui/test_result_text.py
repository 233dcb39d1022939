"""What a result says, on runs recorded on a real card and on made ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exercises.records import Check, Fact, Run
from exercises.speed import speed_lines
from exercises.trace import read_traces
from exercises.trial import summarise
from labtui.cli.run_text import spread_text
from labtui.glossary import result_glossary
from labtui.result_claims import claim_sections
from labtui.result_text import (
    PRACTICE,
    Measured,
    Row,
    Section,
    number_line,
    number_text,
    repeat_command,
    sections,
    warnings,
)
from lessons.claims import load_claims

ROOT = Path(__file__).parents[2]
CLAIMS = load_claims(ROOT / "lessons/diffusiongemma")
RECORDED = read_traces(ROOT / "tests/fixtures/vllm-cuda-0.26/timelines-fp8.json")[:7]
EVIDENCE = {
    "hardware": ["NVIDIA H200, 139.8 GiB, driver 580.159.04"],
    "model": "RedHatAI/diffusiongemma-26B-A4B-it-FP8",
    "seed": 11,
    "server": {"vllm_version": "0.26.0"},
    "command": ["vllm", "serve", "RedHatAI/diffusiongemma-26B-A4B-it-FP8"],
    "prefix_cache": {"state": "cold", "queried_tokens": 96, "hit_tokens": 0, "reason": None},
    "traffic": {"state": "alone", "reason": None},
    "thinking": {"state": "off", "source": "the request"},
    "step_cap": {"steps": 16, "source": "--diffusion-config"},
    "weights_gib": 25.9,
    "diffusion": True,
}


def made(run: Run, **changes) -> Run:
    known = {"checkpoint": "fp8", "practice": False, "task": "coding", "started_at": "2026-11-30T21:00:00+00:00"}
    evidence = {**EVIDENCE, **changes.pop("evidence", {})}
    return replace(run, **{**known, **changes}, evidence=evidence)


RUN = made(RECORDED[0])
TRIAL = tuple(made(run, trial="t1", warmup=n == 0, evidence={"seed": 10 + n}) for n, run in enumerate(RECORDED))
OVER = Measured(TRIAL[-1], TRIAL)


def parts(measured: Measured) -> dict[str, Section]:
    return {part.title: part for part in sections(measured, claim_sections(measured, CLAIMS))}


def rows(measured: Measured) -> dict[str, Row]:
    return {row.key: row for part in parts(measured).values() for row in part.rows}


def test_a_run_says_the_values_of_its_speed_in_the_words_of_every_command():
    found = rows(Measured(RUN))
    for line in speed_lines(RUN.speed):
        assert (found[line.key].label, found[line.key].value) == (line.label, line.value)
        assert found[line.key].definition == line.definition
    assert found["runs"].value == "this one"


def test_a_trial_says_median_interval_and_dropped_warm_ups():
    found = rows(OVER)
    for key, spread in summarise(TRIAL).values.items():
        assert found[key].value == spread_text(key, spread)
    assert "median of 6" in found["end_to_end_tps"].value and "96.9% interval" in found["end_to_end_tps"].value
    assert found["runs"].value == "6 count, 1 warm-up dropped"
    assert "dropped" in found[f"run/{TRIAL[0].id}"].value
    assert [row.label for row in parts(OVER)["ITS RUNS"].rows][:2] == ["warm-up 1", "run 1"]


def test_below_six_runs_there_is_no_interval_and_the_reason_stands_there():
    few = Measured(TRIAL[3], TRIAL[:4])
    assert "too few runs for an interval: 3, it needs 6" in rows(few)["end_to_end_tps"].value


def test_a_run_of_a_trial_can_be_shown_alone():
    alone = replace(OVER, alone=True)
    assert rows(alone)["end_to_end_tps"].value == speed_lines(TRIAL[-1].speed)[0].value
    assert rows(alone)["runs"].value == "this one, 5 more in its trial, 1 warm-up dropped"
    warmup = Measured(TRIAL[0], TRIAL, alone=True)
    assert "it is a warm-up" in rows(warmup)["runs"].value
    assert any("counts for nothing" in said for said in warnings(warmup))


def test_what_is_not_valid_is_left_out_of_the_trial_and_said():
    broken = replace(TRIAL[2], valid=False, invalid_reason="the text is empty")
    measured = Measured(TRIAL[-1], (*TRIAL[:2], broken, *TRIAL[3:]))
    found = rows(measured)
    assert found["runs"].value == "5 count, 1 warm-up dropped, 1 not valid and left out"
    assert found[f"run/{broken.id}"].more == ("not valid: the text is empty",)
    assert warnings(Measured(broken)) == ("✗ not valid: the text is empty",)
    assert number_line(Measured(broken)).startswith("NOT VALID (the text is empty) · end to end ")


def test_every_label_names_its_definition_and_the_help_has_it():
    glossary = result_glossary()
    for measured in (Measured(RUN), OVER, Measured(replace(RUN, evidence={}))):
        for row in rows(measured).values():
            if row.key.partition("/")[0] in ("claim", "apart", "run", "fact", "claims"):
                continue
            assert row.definition, row
            named = {"answers": "answer", "faster than that?": "least time"}.get(row.label, row.label)
            assert f"\n\n{named}: " in f"\n\n{glossary}", row.label


def test_claims_of_the_same_definition_stand_beside_it_the_nearest_first_and_the_others_say_why():
    found = parts(Measured(RUN))
    same = found["CLAIMS OF END TO END, YOURS 1,048 tok/s"].rows
    assert same[0].label == "1,003.79 tok/s"
    assert same[0].value.startswith("yours is × 1.04 of it · fp8, H100 · vLLM pull request 46212")
    assert "not the same: hardware H100, yours NVIDIA H200" in same[0].more[0]
    apart = next(part for title, part in found.items() if title.startswith("NOT BESIDE IT"))
    reasons = {row.value: row for row in apart.rows}
    unknown = reasons["its source does not say what was divided by what"]
    assert "more than 1,100 tok/s (google/diffusiongemma-26B-A4B-it, model card)" in unknown.more[0]
    assert not any(row.value.startswith("it is a benchmark") for row in apart.rows)


def test_a_trial_stands_beside_claims_by_its_median():
    titles = list(parts(OVER))
    median = summarise(TRIAL).values["end_to_end_tps"].median
    assert f"CLAIMS OF END TO END, YOURS {median:,.0f} tok/s, median of 6" in titles


@pytest.mark.parametrize("measured", [Measured(replace(RUN, practice=True, checkpoint="practice"))])
def test_a_practice_number_stands_beside_no_claim_and_says_what_would_be_comparable(measured):
    (row,) = parts(measured)["PUBLIC CLAIMS"].rows
    assert row.value.startswith("none stands beside this: a number of the practice checkpoint")
    assert row.value.endswith(
        "Comparable would be a valid run of coding on real weights: bf16, fp8, nvfp4 or nvfp4-nvidia"
    )
    text = repr(parts(measured))
    assert "1,100" not in text and "375" not in text
    assert warnings(measured)[0] == f"! {PRACTICE}"
    assert number_text(measured).startswith(PRACTICE)
    assert "practice" in number_line(measured)


def test_random_weights_and_other_models_stand_beside_no_claim():
    dummy = made(RECORDED[0], evidence={"command": ["vllm", "serve", "m", "--load-format", "dummy"]})
    (row,) = parts(Measured(dummy))["PUBLIC CLAIMS"].rows
    assert "random weights" in row.value


def test_conditions_are_said_with_their_source_and_what_is_not_known_says_so():
    found = rows(Measured(RUN))
    assert found["step cap"].value == "16" and found["step cap"].more == ("as said by --diffusion-config",)
    assert found["prefix cache"].value == "cold"
    assert found["prefix cache"].more == ("0 of 96 tokens of the prompt were found",)
    assert found["precision"].value == "fp8" and found["vLLM"].value == "0.26.0"
    assert found["revision"].value == "not recorded"


def test_conditions_that_differ_within_a_trial_are_counted():
    warm = {"prefix_cache": {"state": "warm", "queried_tokens": 96, "hit_tokens": 64, "reason": None}}
    mixed = tuple(made(run, trial="t1", evidence=warm if n > 2 else {}) for n, run in enumerate(RECORDED[:6]))
    found = rows(Measured(mixed[0], mixed))
    assert found["prefix cache"].value == "cold (3 of 6), warm (3 of 6)"


def test_traffic_of_others_and_an_impossible_speed_are_said_before_the_number():
    shared = {"traffic": {"state": "shared", "reason": "others got 30 tokens"}}
    assert warnings(Measured(made(RECORDED[0], evidence=shared))) == (
        "! touched by other traffic: others got 30 tokens",
    )
    heavy = made(RECORDED[0], evidence={"weights_gib": 2590})
    (said,) = warnings(Measured(heavy))
    assert said.startswith("! faster than the card can feed: at least 8 passes over 2590 GiB")
    assert rows(Measured(heavy))["floor"].value.startswith("! yes: ")
    one = tuple(replace(run, evidence=heavy.evidence) if n == 3 else run for n, run in enumerate(TRIAL))
    assert warnings(Measured(one[1], one))[0].startswith("! 1 of 6 runs are faster than the card can feed")


def test_the_memory_floor_is_asked_where_it_applies():
    found = rows(Measured(RUN))
    assert found["floor"].value == "no: it took 0.977 s, 21.1 times the least"
    assert found["least time"].value == "0.0463 s: 8 passes at least × 25.9 GiB ÷ 4,800 GB/s of H200"
    unknown = rows(Measured(made(RECORDED[0], evidence={"weights_gib": None})))
    assert unknown["least time"].value == "cannot be asked: the size of the weights on the card is not known"


def test_the_facts_of_the_checker_stand_there():
    check = Check(False, (Fact("parses as XML", True), Fact("moves", False, "no animation")))
    found = rows(Measured(replace(RUN, check=check)))
    assert found["answer"].value == "✗ not right: 1 of 2 facts hold"
    assert (found["fact/1"].label, found["fact/1"].value) == ("✗ moves", "no animation")
    assert rows(Measured(RUN))["answer"].value.startswith("not checked: ")


@pytest.mark.parametrize(
    ("measured", "command"),
    [
        (Measured(RUN), "labtui run coding --runs 1 --warmup 0 --seed 11"),
        (OVER, "labtui run coding --runs 6 --warmup 1 --seed 11"),
        (
            Measured(made(RECORDED[0], evidence={"streams": 4})),
            "labtui run coding --sweep concurrency --points 4 --seed 11",
        ),
        (
            Measured(made(RECORDED[0], evidence={"request": {"vllm_xargs": {"diffusion_max_steps": 8}}})),
            "labtui run coding --sweep steps --points 8 --seed 11",
        ),
        (
            Measured(made(RECORDED[0], task="coding-python")),
            "labtui run coding-python --runs 1 --warmup 0 --run-code --seed 11",
        ),
        (Measured(replace(RUN, evidence={})), ""),
    ],
)
def test_how_to_repeat_it(measured, command):
    assert repeat_command(measured) == command


def test_the_number_line_stands_alone():
    assert number_line(Measured(RUN)) == (
        "end to end 1,048 tok/s · coding · fp8 · NVIDIA H200 · vLLM 0.26.0 · cap 16 · cold prefix cache · "
        f"thinking off · run {RUN.id}"
    )
    assert number_line(OVER).endswith("1 warm-up dropped · trial t1")
    assert "Completion tokens ÷" in number_text(OVER) and "interval: Between two" in number_text(OVER)


def test_a_run_of_which_nothing_else_was_kept_is_shown_too():
    bare = replace(RUN, evidence={"traffic": None, "prefix_cache": "x", "server": None, "request": None})
    assert rows(Measured(bare))["repeat"].value == "not recorded"
    assert warnings(Measured(bare)) == ()
