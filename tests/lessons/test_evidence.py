from dataclasses import replace

import pytest

from lessons.evidence import (
    Made,
    counts_for_gate,
    missing_for_gate,
    missing_for_practice,
    missing_in_verdict,
    piece_for_gate,
)
from lessons.finding import PACKAGE
from lessons.loading import load_lesson
from lessons.studio.pieces import HarnessMap, HarnessStage, TeachBack

LESSON = load_lesson(PACKAGE / "diffusiongemma")
CLAIM, STAKES, MAPPED, ARTIFACT = LESSON.gates
OWN = "At 0:34 he promises more than a thousand tokens every second, yet times nothing himself."
HARNESS = HarnessMap(tuple(HarnessStage(card.stage, "a", "b", "c") for card in LESSON.cards), "Verifier", "a red test")
MADE = Made({"useful-artifact": HARNESS}, {}, "Yes for drafts.", ("run-1",), {"run-1", "run-2"})


def test_own_sentences_that_cite_an_anchor_meet_the_first_gate():
    assert missing_for_gate(LESSON, CLAIM, OWN, Made()) == []
    assert counts_for_gate(CLAIM) == "your own sentences, a citation of an anchor"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there are 0 words"),
        ("Fast, at 0:34.", "Write at least one whole sentence"),
        (OWN.replace("At 0:34 he", "He"), "Cite an anchor: its time, such as 0:34."),
        (OWN.replace("0:34", "0:35"), "0:35 is no anchor of this lesson; the nearest is 0:34"),
        (f"{OWN} {LESSON.deep_points[0].body[:200]}", "use your own words"),
        (f"{OWN} {LESSON.anchors[0].quote}", "use your own words"),
        (f"{OWN} “this is what nobody ever said”", "stands in no quotation"),
    ],
)
def test_what_does_not_meet_it(text, words):
    assert any(words in message for message in missing_for_gate(LESSON, CLAIM, text, Made()))


def test_a_marked_quotation_is_not_taken_over():
    assert missing_for_gate(LESSON, CLAIM, f"{OWN} “{LESSON.anchors[0].quote}”", Made()) == []


def test_the_map_meets_the_third_gate_without_further_text():
    assert missing_for_gate(LESSON, MAPPED, "", MADE) == []
    assert missing_for_gate(LESSON, MAPPED, "", Made()) == ["The harness map was not begun yet."]
    unfinished = replace(MADE, pieces={"useful-artifact": replace(HARNESS, weakest="")})
    assert missing_for_gate(LESSON, MAPPED, "", unfinished) == ["In the harness map: Name the weakest link."]
    assert piece_for_gate(LESSON, "harness-map") == "useful-artifact"


def test_the_artifact_needs_map_run_and_verdict():
    assert missing_for_gate(LESSON, ARTIFACT, "See run-1.", MADE) == []
    assert missing_for_gate(LESSON, ARTIFACT, "See the map.", MADE) == ["Name a run of yours in the text."]
    found = missing_for_gate(LESSON, ARTIFACT, "", Made())
    assert found == [
        "The harness map was not begun yet.",
        "No run is kept yet; make one in the lab.",
        "No verdict was written yet.",
        "The verdict cites no run.",
    ]


def test_a_verdict_cites_runs_that_exist():
    assert missing_in_verdict("Yes.", ["run-1"], {"run-1"}) == []
    assert missing_in_verdict("Yes.", ["gone"], {"run-1"}) == ["The verdict cites gone, which is not kept here."]


def test_a_gate_without_needs_takes_any_text():
    gate = replace(STAKES, needs=())
    assert counts_for_gate(gate) == "your text"
    assert missing_for_gate(LESSON, gate, " ", Made()) == ["Nothing was written yet."]
    assert missing_for_gate(LESSON, gate, "Here.", Made()) == []


def test_practice_pieces():
    pieces = {piece.id: piece for piece in LESSON.practice}
    assert missing_for_practice(LESSON, pieces["useful-artifact"], MADE) == []
    assert missing_for_practice(LESSON, pieces["teach-back"], MADE) == ["It was not begun yet."]
    wrong = Made({"useful-artifact": TeachBack()})
    assert "a harness map is asked for" in missing_for_practice(LESSON, pieces["useful-artifact"], wrong)[0]
    free = replace(pieces["teach-back"], piece="text")
    assert missing_for_practice(LESSON, free, Made(texts={"teach-back": "done"})) == []
    assert missing_for_practice(LESSON, free, Made()) == ["Nothing was written yet."]


def test_every_gate_of_every_lesson_can_be_met_or_says_why():
    for folder in ("diffusiongemma", "kv-cache-line"):
        lesson = load_lesson(PACKAGE / folder)
        for gate in lesson.gates:
            assert missing_for_gate(lesson, gate, "", Made())
            assert counts_for_gate(gate)
