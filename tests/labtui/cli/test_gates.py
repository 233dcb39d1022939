"""lesson gates, as typed; and what each gate of the built-in lessons asks for."""

from __future__ import annotations

import pytest

from labtui.errors import USAGE
from lessons.evidence import COUNTS
from lessons.finding import find_lesson

LESSON = "diffusiongemma"
OWN = "It fills a whole block at once, so a reader waits for blocks and never for single words (0:34)."


def test_every_gate_says_what_counts_and_is_open_until_it_is_there(lab) -> None:
    for lesson in ("diffusiongemma", "kv-cache-line"):
        gates = lab.json("lesson", "gates", lesson)
        assert [one["id"] for one in gates] == [gate.id for gate in find_lesson(lesson).gates]
        for gate in gates:
            assert not gate["met"] and gate["missing"]
            assert gate["counts"] == ", ".join(COUNTS[need] for need in gate["needs"])
        listed = lab("lesson", "gates", lesson).stdout
        assert listed.count("open  ") == len(gates) == listed.count("What counts: ")


def test_evidence_is_kept_judged_and_taken_back(lab, store) -> None:
    kept = lab("lesson", "gates", LESSON, "claim-in-own-words", OWN)
    assert kept.exit_code == 0 and "Saved." in kept.stderr
    assert kept.stdout.startswith("met   claim-in-own-words") and OWN in kept.stdout
    (gate,) = lab.json("lesson", "gates", LESSON, "claim-in-own-words")
    assert gate["met"] and gate["evidence"] == OWN
    assert "taken back" in lab("lesson", "gates", LESSON, "claim-in-own-words", "").stderr
    assert not lab.json("lesson", "gates", LESSON, "claim-in-own-words")[0]["met"]
    assert len(store.progress.gate_history(LESSON)) == 2


def test_runs_are_named_by_their_ids_and_practice_stays_labelled(lab, keep_run) -> None:
    refused = lab("lesson", "gates", LESSON, "artifact-with-evidence", "--runs")
    assert refused.exit_code == USAGE and "no run to name" in refused.stderr
    run = keep_run()
    broken = keep_run(task="vision", valid=False, invalid_reason="the server went away")
    shown = lab("lesson", "gates", LESSON, "artifact-with-evidence")
    assert f"Your run: {run.id}  coding · practice · 350 tok/s" in shown.stdout
    assert "Name a run of yours in the text." in shown.stdout
    named = lab("lesson", "gates", LESSON, "artifact-with-evidence", f"See {broken.id}.").stdout
    assert f"Name another run: {broken.id} is not valid, or a warm-up." in named
    lab("lesson", "gates", LESSON, "artifact-with-evidence", "All of it rests on this.", "--runs")
    (gate,) = lab.json("lesson", "gates", LESSON, "artifact-with-evidence")
    assert gate["evidence"] == f"All of it rests on this. ({run.id})"
    assert gate["runs"] == [run.id]
    assert "Name a run of yours in the text." not in gate["missing"]
    again = lab.json("lesson", "gates", LESSON, "artifact-with-evidence", "--runs")
    assert again[0]["evidence"] == gate["evidence"], "a run is named once"


def test_in_study_a_word_stands_for_the_runs(lab, keep_run, store) -> None:
    run = keep_run()
    given = "See :runs, which I made.\n\n"
    walked = lab("study", LESSON, "--plain", "--from", "gate/artifact-with-evidence", given=given)
    assert f"  {run.id}  coding · practice" in walked.stdout
    assert store.progress.gates(LESSON)["artifact-with-evidence"].evidence == f"See {run.id}, which I made."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((LESSON, "artifact"), "Is 'artifact-with-evidence' meant?"),
        ((LESSON, "--runs"), "Which gate?"),
    ],
)
def test_a_wrong_word_is_a_usage_error(lab, arguments, said) -> None:
    result = lab("lesson", "gates", *arguments)
    assert result.exit_code == USAGE and said in result.stderr
