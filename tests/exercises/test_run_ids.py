from __future__ import annotations

import re
from datetime import UTC, datetime

from exercises.run_ids import new_id
from exercises.running import run_trial
from tests.exercises.test_running import GOOD, TASK, endpoint
from tests.fakes.vllm_stream import FakeVllm

MOMENT = datetime(2026, 11, 30, 21, 15, 30, tzinfo=UTC)


def test_no_id_comes_twice_also_not_within_one_second():
    assert len({new_id(at=MOMENT) for _ in range(3000)}) == 3000


def test_runs_and_trials_have_names_that_a_person_can_read_and_sort():
    with FakeVllm(GOOD) as server:
        trial = run_trial(TASK, endpoint(server), runs=2, warmup=0)
    assert re.fullmatch(r"t-20\d{6}-\d{6}-[2-9a-z]{3}", trial.id)
    ids = [run.id for run in trial.runs]
    assert all(re.fullmatch(r"r-20\d{6}-\d{6}-[2-9a-z]{3}", run_id) for run_id in ids)
    assert [run_id[:17] for run_id in ids] == sorted(run_id[:17] for run_id in ids)
