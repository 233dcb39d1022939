"""The claims ledger: the built-in one against its sources' figures, and the faults that the check names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lessons.checking import check_lesson
from lessons.claims import DEFINITIONS, check_claims, claims_of, load_claims
from lessons.errors import LessonError
from lessons.loading import load_lesson

BUILT_IN = Path(__file__).parents[2] / "lessons/diffusiongemma"
SMALL = """\
format_version = 1
lesson = "sample"

[[source]]
id = "card"
title = "A card"
url = "https://example.org/card"

[[claim]]
id = "fast"
value = 1008
unit = "tok/s"
definition = "end_to_end"
model = "some-model"
source = "card"
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "claims.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def claims():
    return {claim.id: claim for claim in load_claims(BUILT_IN)}


def test_the_built_in_ledger_has_no_fault_and_belongs_to_the_lesson(claims):
    assert check_lesson(BUILT_IN) == []
    assert tuple(claims.values()) == claims_of(load_lesson(BUILT_IN))


@pytest.mark.parametrize(
    ("claim_id", "text", "definition"),
    [
        ("model-card-speed", "more than 1,100 tok/s", "not_stated"),
        ("vllm-blog-h100", "1,008 tok/s", "without_prefill"),
        ("vllm-blog-h200", "1,288 tok/s", "without_prefill"),
        ("vllm-46212-random", "1,003.79 tok/s", "end_to_end"),
        ("recipe-output", "375 tok/s", "end_to_end"),
        ("recipe-generation", "1,282 tok/s", "without_prefill"),
        ("report-speed", "1,479 tok/s", "per_forward"),
        ("report-forward-time", "0.01356 s", "forward_time"),
        ("llama-cpp-in-step", "1,181 tok/s", "canvas_positions"),
        ("club-3090-one-canvas", "800,000,000 tok/s", "without_prefill"),
        ("gb10-bf16-512-code", "91.1 tok/s", "end_to_end"),
        ("card-mmmlu", "81.5 %", "quality"),
        ("card-mmmlu-gemma4", "86.3 %", "quality"),
        ("card-omnidocbench", "0.319 error", "quality"),
        ("nvidia-humaneval-nvfp4", "95 %", "quality"),
    ],
)
def test_a_public_number_stands_as_its_source_gives_it(claims, claim_id, text, definition):
    assert (claims[claim_id].text, claims[claim_id].definition) == (text, definition)


def test_every_number_has_a_source_that_can_be_opened_or_says_that_it_is_second_hand(claims):
    assert all(claim.source.url or claim.source.second_hand for claim in claims.values())
    assert {claim.definition for claim in claims.values()} <= set(DEFINITIONS)
    quality = Counter(
        claim.benchmark for claim in claims.values() if claim.source.id == "model-card" and claim.benchmark
    )
    assert set(quality.values()) == {2} and len(quality) == 15


def test_numbers_of_gemma_4_are_told_apart_by_their_model(claims):
    assert {claim.model for claim in claims.values() if claim.id.endswith(("gemma4", "gemma4-mtp"))} == {
        "gemma-4-26b-a4b"
    }
    assert claims["report-mmmu-pro-no-thinking"].thinking is False


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("format_version = 1", "format_version = 2", 1, "format_version must be 1"),
        ('lesson = "sample"\n', "", 1, "lesson is missing"),
        ("value = 1008", "value = 0", 11, "value must be a number above 0"),
        ("value = 1008", "value = nan", 11, "value must be a number above 0"),
        ("value = 1008", "worth = 1008", 9, "value is missing in [[claim]]"),
        ("value = 1008", "value = 1008\nbatches = 1", 12, 'unknown key "batches" in [[claim]]; did you mean "batch"?'),
        ('"end_to_end"', '"end_to_ends"', 13, 'did you mean "end_to_end"?'),
        ('source = "card"', 'source = "cart"', 15, 'there is no source "cart"; did you mean "card"?'),
        ('url = "https://example.org/card"\n', "", 4, "url is missing"),
        ('url = "https://example.org/card"', 'url = "example.org"', 7, "is no web address"),
        ('source = "card"', 'source = "card"\nbatch = 0', 16, "batch must be from 1"),
        ('source = "card"', 'source = "card"\nbenchmark = "MMLU"', 9, "benchmark belongs to a claim"),
        ('definition = "end_to_end"', 'definition = "quality"', 9, "benchmark belongs to a claim"),
        ('source = "card"', 'source = "card"\nbound = "over"', 16, 'bound "over" is none of'),
        ("[[claim]]", "[[claims]]", 9, 'unknown key "claims"; did you mean "claim"?'),
        ('unit = "tok/s"', 'unit = "tok/s"\nunit = "s"', 13, "not valid TOML"),
    ],
)
def test_a_fault_names_its_line_and_what_to_write(write, old, new, line, message):
    path = write(SMALL.replace(old, new, 1))
    found = [(fault.line, fault.message) for fault in check_claims(path)]
    assert any(at == line and message in text for at, text in found), found
    with pytest.raises(LessonError) as caught:
        load_claims(path)
    assert caught.value.exit_code == 2


def test_an_id_that_is_taken_names_the_line_of_the_first(write):
    second = SMALL[SMALL.index("[[claim]]") :]
    faults = check_claims(write(f"{SMALL}\n{second}"))
    assert [(fault.line, fault.message) for fault in faults] == [(18, 'the id "fast" is taken in line 10')]


def test_the_lesson_check_covers_the_ledger_beside_it(tmp_path):
    text = (BUILT_IN / "claims.toml").read_text(encoding="utf-8")
    (tmp_path / "lesson.toml").write_bytes((BUILT_IN / "lesson.toml").read_bytes())
    (tmp_path / "claims.toml").write_text(text.replace('anchor = "speed-claim"', 'anchor = "speed-claims"'))
    faults = check_lesson(tmp_path)
    assert [fault.message for fault in faults] == [
        'the lesson has no anchor "speed-claims"; did you mean "speed-claim"?'
    ]
    (tmp_path / "claims.toml").write_text(text.replace('lesson = "diffusiongemma"', 'lesson = "other"'))
    assert [str(fault) for fault in check_lesson(tmp_path)] == [
        f'{tmp_path / "claims.toml"}:5: the lesson beside it is "diffusiongemma"'
    ]


def test_a_lesson_without_a_ledger_has_no_claims(tmp_path):
    (tmp_path / "lesson.toml").write_bytes((BUILT_IN / "lesson.toml").read_bytes())
    assert claims_of(load_lesson(tmp_path)) == ()
