from __future__ import annotations

from exercises.intervals import Interval
from exercises.records import Check, Chunk, Run, Timeline
from exercises.speed import speed_of
from labtui.trial_comparison import baseline_standing, baseline_to_json
from lessons.claims import claims_of
from lessons.finding import find_lesson

CLAIMS = claims_of(find_lesson("diffusiongemma"))


def trial(name: str, checkpoint: str, tokens: int, count: int, hour: int = 10, **changes) -> list[Run]:
    made = []
    for number in range(count):
        timeline = Timeline((Chunk(1 + number / 100, tokens),), prompt_tokens=12, completion_tokens=tokens)
        known = {
            "id": f"r-{name}-{number}",
            "task": "coding",
            "task_set": "diffusiongemma",
            "checkpoint": checkpoint,
            "practice": checkpoint == "practice",
            "started_at": f"2026-11-30T{hour:02}:{number:02}:00+00:00",
            "valid": True,
            "invalid_reason": None,
            "timeline": timeline,
            "speed": speed_of(timeline),
            "check": Check(True, ()),
            "output": "<svg/>",
            "evidence": {},
            "trial": name,
        }
        made.append(Run(**{**known, **changes}))
    return made


def test_a_trial_beside_the_baselines_has_a_ratio_with_its_interval_and_no_published_number():
    standing = baseline_standing([*trial("t-d", "fp8", 900, 7), *trial("t-g", "gemma4", 300, 7)], CLAIMS)
    (one,) = standing.compared
    assert (one.task, one.checkpoint, one.baseline[0].trial, one.yours[0].trial) == ("coding", "fp8", "t-g", "t-d")
    ratio = one.result.ratios["end_to_end_tps"]
    assert round(ratio.value, 6) == 3 and isinstance(ratio.interval, Interval)
    assert ratio.interval.low < 3 < ratio.interval.high
    assert standing.published == ()
    assert baseline_to_json(standing)["compared"][0]["ratios"]["end_to_end_tps"]["value"] == ratio.value


def test_without_a_trial_of_the_baseline_the_published_table_stands_there():
    standing = baseline_standing(trial("t-d", "fp8", 900, 7), CLAIMS)
    assert standing.compared == () and standing.published
    assert all(claim.model == "gemma-4-26b-a4b" for claim in standing.published)
    other_task = trial("t-g", "gemma4", 300, 7, task="vision")
    assert baseline_standing([*trial("t-d", "fp8", 900, 7), *other_task], CLAIMS).published == standing.published


def test_practice_and_the_baseline_alone_are_set_beside_nothing():
    assert baseline_standing(trial("t-p", "practice", 900, 7), CLAIMS) is None
    assert baseline_standing(trial("t-g", "gemma4", 300, 7), CLAIMS) is None
    mixed = [*trial("t-p", "practice", 900, 7), *trial("t-g", "gemma4", 300, 7)]
    assert baseline_standing(mixed, CLAIMS) is None
    invalid = trial("t-d", "fp8", 900, 7, valid=False, invalid_reason="empty")
    assert baseline_standing(invalid, CLAIMS) is None


def test_the_newest_trial_that_has_an_interval_counts():
    runs = [
        *trial("t-old", "fp8", 600, 7, hour=9),
        *trial("t-new", "fp8", 900, 7, hour=11),
        *trial("t-one", "fp8", 100, 1, hour=12),
        *trial("t-g", "gemma4", 300, 6),
    ]
    assert baseline_standing(runs, CLAIMS).compared[0].yours[0].trial == "t-new"
    few = baseline_standing([*trial("t-one", "fp8", 900, 1), *trial("t-g", "gemma4", 300, 6)], CLAIMS)
    ratio = few.compared[0].result.ratios["end_to_end_tps"]
    assert round(ratio.value, 1) == 3.1 and "too few runs" in ratio.interval.reason


def test_several_at_once_are_not_set_beside_one():
    many = trial("t-d", "fp8", 900, 7, evidence={"streams": 4})
    standing = baseline_standing([*many, *trial("t-g", "gemma4", 300, 7)], CLAIMS)
    assert standing.compared == ()


def test_an_attached_server_is_known_by_the_name_it_serves():
    ours = trial("t-d", "attached", 900, 7, evidence={"model": "google/diffusiongemma-26B-A4B-it"})
    theirs = trial("t-g", "attached", 300, 7, evidence={"model": "google/gemma-4-26B-A4B-it"})
    assert len(baseline_standing([*ours, *theirs], CLAIMS).compared) == 1
    unknown = trial("t-d", "attached", 900, 7, evidence={"model": "another"})
    assert baseline_standing([*unknown, *theirs], CLAIMS) is None
