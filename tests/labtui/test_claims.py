"""Which public claims a run is set beside, on runs of the real server where there are recorded ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exercises.records import Chunk, CounterWindow, NotMeasurable, Run, Timeline
from exercises.speed import speed_of
from exercises.trace import read_traces
from exercises.trial import Trial, summarise
from labtui.claims import OURS, WHY_APART, claims_beside_run, claims_beside_trial, claims_to_json
from lessons.claims import DEFINITIONS, load_claims

ROOT = Path(__file__).parents[2]
CLAIMS = load_claims(ROOT / "lessons/diffusiongemma")
RECORDED = read_traces(ROOT / "tests/fixtures/vllm-cuda-0.26/timelines-fp8.json")
H200 = {"hardware": ["NVIDIA H200, 139.8 GiB, driver 580.159.04"], "model": "RedHatAI/diffusiongemma-26B-A4B-it-FP8"}


def of_the_model(run: Run, **changes) -> Run:
    evidence = {**H200, **changes.pop("evidence", {})}
    known = {"checkpoint": "fp8", "practice": False, "valid": True, "invalid_reason": None}
    return replace(run, **{**known, **changes}, evidence=evidence)


RUN = of_the_model(RECORDED[0])


def ids(found) -> set[str]:
    return {one.claim.id for one in found}


def test_a_run_stands_beside_the_claims_of_its_own_definition_and_no_other():
    result = claims_beside_run(RUN, CLAIMS)
    assert result.reason is None
    assert {one.claim.definition for one in result.beside} == {"end_to_end", "first_canvas"}
    assert "recipe-output" in ids(result.beside)
    assert {"model-card-speed", "vllm-blog-h200", "recipe-generation", "report-speed"} <= ids(result.apart)
    assert len(result.beside) + len(result.apart) == len(CLAIMS)


def test_the_ratio_is_yours_to_the_claim_and_the_differences_are_named():
    one = next(one for one in claims_beside_run(RUN, CLAIMS).beside if one.claim.id == "vllm-46212-random")
    assert one.yours == RUN.speed.end_to_end_tps
    assert one.ratio == pytest.approx(RUN.speed.end_to_end_tps / 1003.79)
    assert one.differences[0] == "hardware H100, yours NVIDIA H200, 139.8 GiB, driver 580.159.04"
    assert "settings: max_denoising_steps 16, ignore_eos" in one.differences
    assert not any(text.startswith("precision") for text in one.differences)


def test_every_claim_that_is_not_set_beside_says_why():
    reasons = {one.claim.id: one.reason for one in claims_beside_run(RUN, CLAIMS).apart}
    assert reasons["model-card-speed"] == "its source does not say what was divided by what"
    assert reasons["recipe-output-gemma4"] == "it is about another model: gemma-4-26b-a4b"
    assert reasons["r0b0tlab-sixteen"] == "it is of 16 requests at once, yours of one request"
    assert "256 tokens where 96" in reasons["llama-cpp-whole"]
    assert "benchmark" in reasons["card-mmmlu"]
    assert all(reasons.values())


def test_every_definition_of_the_ledger_is_either_measured_here_or_has_its_reason():
    assert set(OURS) | set(WHY_APART) == set(DEFINITIONS)
    assert not set(OURS) & set(WHY_APART)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (replace(RUN, practice=True), "practice checkpoint"),
        (replace(RUN, valid=False, invalid_reason="the text is empty"), "the text is empty"),
        (of_the_model(RUN, evidence={"command": ["vllm", "serve", "m", "--load-format", "dummy"]}), "random weights"),
        (of_the_model(RUN, evidence={"command": ["vllm", "serve", "--load-format=dummy"]}), "random weights"),
        (of_the_model(RUN, checkpoint="other", evidence={"model": "Qwen/Qwen3-8B"}), "no claim is about Qwen/Qwen3-8B"),
    ],
)
def test_nothing_is_set_beside_what_is_not_the_model(run, reason):
    result = claims_beside_run(run, CLAIMS)
    assert (result.beside, result.apart) == ((), ())
    assert reason in result.reason


def test_a_practice_number_meets_no_claim_whatever_it_is_called():
    run = of_the_model(RUN, practice=True, checkpoint="fp8")
    data = claims_to_json(claims_beside_run(run, CLAIMS))
    assert data == {"reason": data["reason"], "beside": [], "apart": []}


def test_the_baseline_meets_the_claims_about_the_baseline():
    run = of_the_model(RUN, checkpoint="gemma4", evidence={"model": "google/gemma-4-26B-A4B-it"})
    assert {"recipe-output-gemma4", "recipe-ttft-gemma4"} <= ids(claims_beside_run(run, CLAIMS).beside)
    assert "recipe-output" not in ids(claims_beside_run(run, CLAIMS).beside)


def test_a_stream_among_four_meets_the_claims_of_four_at_once():
    result = claims_beside_run(of_the_model(RUN, evidence={"streams": 4}), CLAIMS)
    assert "ai-muninn-four" in ids(result.beside)
    assert "recipe-output" not in ids(result.beside)


def test_what_is_not_measurable_is_apart_with_its_reason():
    timeline = Timeline((Chunk(0.9, None, 10),), None, None)
    run = replace(RUN, timeline=timeline, speed=speed_of(timeline))
    reasons = {one.claim.id: one.reason for one in claims_beside_run(run, CLAIMS).apart}
    assert reasons["recipe-output"].startswith("yours is not measurable: the server did not say")


def test_a_trial_is_set_beside_by_its_median():
    runs = tuple(of_the_model(run) for run in RECORDED[:5])
    trial = Trial("t", runs, summarise(runs), len(runs))
    one = next(one for one in claims_beside_trial(trial, CLAIMS).beside if one.claim.id == "recipe-output")
    assert (one.yours, one.runs) == (trial.summary.values["end_to_end_tps"].median, 5)
    nothing = Trial("t", (), summarise(()), 1)
    assert claims_beside_trial(nothing, CLAIMS).reason == "no run of this trial counts"


def test_steps_have_no_claim_that_says_how_it_counts():
    timeline = replace(RUN.timeline, counters=CounterWindow(68, 17408, 1024, 1024))
    run = replace(RUN, timeline=timeline, speed=speed_of(timeline))
    assert not isinstance(run.speed.steps_per_canvas, NotMeasurable)
    reasons = {one.claim.id: one.reason for one in claims_beside_run(run, CLAIMS).apart}
    assert "commit pass" in reasons["llama-cpp-steps-code"]
