from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.finding import PACKAGE
from lessons.loading import load_lesson
from lessons.studio.checks import missing
from lessons.studio.pieces import (
    Checklist,
    ChecklistItem,
    EvidenceMap,
    EvidenceMapRow,
    HarnessMap,
    HarnessStage,
    TeachBack,
    Transfer,
)

LESSON = load_lesson(PACKAGE / "diffusiongemma")
ROW = EvidenceMapRow("0:34", "1,100 tokens per second", "that it is said", "low", "which card")
MAP = EvidenceMap(
    (ROW, replace(ROW, anchor="Evidence 2", claim="fits 18 GB"), replace(ROW, anchor="svg-check", claim="SVG shows")),
    "when I buy a card",
)
HARNESS = HarnessMap(
    tuple(HarnessStage(card.stage, "mine", "may read", "a file is there") for card in LESSON.cards),
    "verifier",
    "a red test",
)
CARD = TeachBack("It denoises a canvas.", "a grey square", "an SVG", "active is not loaded", 70.0)


def test_complete_pieces_miss_nothing():
    checklist = Checklist(tuple(ChecklistItem(f"step {n}", "a file") for n in range(3)), "before a launch")
    for piece in (MAP, HARNESS, CARD, checklist, Transfer("predict first", "reading logs after", "a note a day")):
        assert missing(LESSON, piece) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"anchor": "5:50"}, "Row 1: 5:50 is no anchor of this lesson; the nearest is 5:49"),
        ({"anchor": "Evidence 8"}, "they go up to Evidence 7"),
        ({"anchor": ""}, "Row 1: it has no timestamp."),
        ({"anchor": "somewhere"}, "names no single anchor"),
        ({"anchor": "0:34 and 2:18"}, "names no single anchor"),
        ({"claim": " "}, "Row 1: the claim is missing."),
        ({"proves": ""}, "what the demo proves is missing"),
        ({"to_verify": ""}, "what still needs verification is missing"),
        ({"confidence": "sure"}, 'the confidence is "sure"; write low, medium, high'),
        ({"confidence": ""}, "the confidence is missing"),
        ({"claim": "he says “a model of a quite different kind” there"}, "stands in no quotation of this lesson"),
        ({"claim": "as at 9:56"}, "9:56 is no anchor"),
    ],
)
def test_a_row(change, words):
    found = missing(LESSON, replace(MAP, rows=(replace(ROW, **change), *MAP.rows[1:])))
    assert any(words in message for message in found), found


@given(st.sampled_from(LESSON.anchors), st.data())
def test_true_quotations_pass(anchor, data):
    words = anchor.quote.rstrip(".").split()
    first = data.draw(st.integers(0, len(words) - 6))
    quote = " ".join(words[first : first + data.draw(st.integers(5, 20))])
    row = replace(ROW, anchor=anchor.id, claim=f"says “{quote}...”")
    assert missing(LESSON, replace(MAP, rows=(row, *MAP.rows[1:]))) == []


def test_a_map_too_short_or_doubled():
    assert "The map needs 3 rows, there is none yet." in missing(LESSON, EvidenceMap())
    assert "Row 2: it says the same as row 1." in missing(LESSON, replace(MAP, rows=(ROW, ROW, MAP.rows[2])))
    assert "Say where it will matter in your own work." in missing(LESSON, replace(MAP, transfer=""))


@given(st.sets(st.sampled_from([card.stage for card in LESSON.cards]), min_size=1))
def test_each_empty_stage_is_named(emptied):
    stages = tuple(HarnessStage(one.stage) if one.stage in emptied else one for one in HARNESS.stages)
    found = missing(LESSON, replace(HARNESS, stages=stages))
    assert {message.split(":")[0] for message in found} == emptied


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weakest": ""}, "Name the weakest link."),
        ({"weakest": "the coffee"}, 'The weakest link is "the coffee"; name one of the stages.'),
        ({"notice": ""}, "how you would notice"),
        ({"stages": (*HARNESS.stages, HarnessStage("Coffee", "a", "b", "c"))}, '"Coffee" is no stage of the diagram.'),
        (
            {"stages": (replace(HARNESS.stages[0], proof=""), *HARNESS.stages[1:])},
            "Intent: the proof signal is missing",
        ),
    ],
)
def test_a_harness_map(change, words):
    assert any(words in message for message in missing(LESSON, replace(HARNESS, **change)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"diagram": ""}, "The diagram is missing."),
        ({"seconds": None}, "Say it aloud once against the clock."),
        ({"seconds": 120.0}, "It took 120 seconds; 90 is the aim."),
        ({"explanation": "word " * 600}, "takes 200 seconds even when spoken fast"),
    ],
)
def test_a_teach_back_card(change, words):
    assert any(words in message for message in missing(LESSON, replace(CARD, **change)))


def test_a_lesson_without_anchors_asks_for_none():
    lesson = load_lesson(PACKAGE / "kv-cache-line")
    rows = tuple(replace(ROW, anchor="my log, line 61", claim=f"claim {number} of 12:34") for number in range(3))
    assert missing(lesson, EvidenceMap(rows, "next launch")) == []
