"""Blind judgements stand in every export, with the person's words and the label of practice."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from labtui.artifacts.document import collect
from labtui.artifacts.html import to_html
from labtui.artifacts.json_document import to_json
from labtui.artifacts.markdown import to_markdown


@pytest.fixture
def judged(lesson, store):
    """Keeps two runs of the lesson's first task that differ as told, and judges them blind."""

    def judge(why: str, **sides) -> None:
        kept = [run for run in store.runs.list(task=lesson.lab_tasks[0].task) if run.valid]
        pair = [
            store.runs.add(replace(kept[0], id="", warmup=False, output=f"answer {side}", **changes))
            for side, changes in sides.items()
        ]
        made = store.judgements.make_pair(*(run.id for run in pair))
        store.judgements.judge(made.id, "left" if made.left == "answer one" else "right", why)

    return judge


def test_each_export_tells_the_counts_and_the_notes(lesson, store, now, judged) -> None:
    evidence = {"prompt": "Draw.", "images": []}
    judged(
        "Its <b>labels</b> can be read.",
        one={"practice": False, "checkpoint": "bf16", "evidence": evidence},
        two={"practice": False, "checkpoint": "gemma4", "evidence": evidence},
    )
    artifact = collect(lesson, store, now)
    told = f"Of 1 pair of answers to {lesson.lab_tasks[0].task} judged blind, bf16 was better in 1 and gemma4 in 0"
    assert told in to_markdown(artifact) and told in to_html(artifact)
    assert "Its &lt;b&gt;labels" in to_html(artifact) and "<b>labels" not in to_markdown(artifact)
    (blind,) = json.loads(to_json(artifact))["blind"]
    assert (blind["first"], blind["first_preferred"], blind["practice"]) == ("bf16", 1, False)
    assert blind["notes"] == ["Its <b>labels</b> can be read."]


def test_practice_is_labelled_and_what_was_taken_back_is_left_out(lesson, store, now, judged) -> None:
    sides = {
        name: {
            "practice": True,
            "checkpoint": "practice",
            "evidence": {"prompt": "Draw.", "images": [], "step_cap": {"steps": n}},
        }
        for name, n in (("one", 4), ("two", 48))
    }
    judged("", **sides)
    assert "Practice, no evidence about DiffusionGemma: of 1 pair" in to_markdown(collect(lesson, store, now))
    last = store.judgements.last_judged()
    assert last is not None
    store.judgements.withdraw(last.pair.id)
    assert collect(lesson, store, now).blind == ()
