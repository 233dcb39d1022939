from __future__ import annotations

import pytest

from exercises.endpoint import Endpoint
from exercises.sweep_panels import UNKNOWN_TOGETHER, panels_of, remarks_of, sweep_title
from exercises.sweep_points import runs_together
from tests.exercises.test_sweep_plot import document


def at_once(*counts: int, together: int | None = 4):
    made = document("concurrency", [(str(count), 100.0 * count, 2.0) for count in counts])
    for point, count in zip(made["points"], counts, strict=True):
        point |= {"streams": count, "task": "code"}
    return made | {"runs_together": together}


def test_the_title_names_the_task_that_all_points_share():
    assert sweep_title(at_once(1, 2)) == "sweep by requests at once · code · bf16"
    assert sweep_title(document("kinds", [("prose", 1.0, 1.0)])) == "sweep by kind of prompt · bf16"


def test_a_point_without_a_value_has_its_reason_and_no_length():
    made = document("kinds", [("prose", None, None), ("code", 10.0, 2.0)])
    made["points"][0]["aggregate_tps_reason"] = "one canvas"
    made["points"][1]["aggregate_tps_interval"] = [9.5, 11.25]
    rate, steps = panels_of(made)
    assert [bar.note for bar in rate.bars] == ["one canvas", "9.5 to 11.2"]
    assert [rate.share(bar) for bar in rate.bars] == [0, 1]
    assert steps.bars[0].shown == "not measurable"


@pytest.mark.parametrize(
    ("counts", "together", "words"),
    [
        ((1, 2, 4), 4, ()),
        ((1, 2), None, (UNKNOWN_TOGETHER,)),
        ((4, 5, 6, 8), 4, ("at 5, 6 and 8 at once some wait, so those points measure queueing too",)),
    ],
)
def test_more_at_once_than_the_server_runs_together_is_said_to_be_queueing(counts, together, words):
    made = at_once(*counts, together=together)
    said = remarks_of(made)
    assert len(said) == len(words) and all(word in one for word, one in zip(words, said, strict=True))
    all_together, each, _ = panels_of(made)
    assert [bar.queues for bar in all_together.bars] == [together is not None and count > together for count in counts]
    assert len(each.bars) == len(counts)


def test_only_requests_at_once_can_queue():
    assert remarks_of(document("kinds", [("prose", 1.0, 1.0)]) | {"asked": 4}) == ("1 of 4 points have runs.",)


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (["vllm", "serve", "m", "--max-num-seqs", "4"], 4),
        (["vllm", "serve", "m", "--max-num-seqs", "4", "--max_num_seqs=2"], 2),
        (["vllm", "serve", "m", "--max-num-seqs", "4", "--data-parallel-size", "2"], 8),
        (["vllm", "serve", "m", "--max-num-seqs", "many"], None),
        (["vllm", "serve", "m"], None),
        (None, None),
    ],
)
def test_what_runs_together_is_read_from_the_command(command, number):
    endpoint = Endpoint("http://127.0.0.1:1", None, "m", "bf16", False, evidence={"command": command})
    assert runs_together(endpoint) == number
