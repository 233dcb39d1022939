from __future__ import annotations

from dataclasses import replace

import pytest

from labtui.launch_record import record_launch, record_stop
from labtui.serving.state import ServerState
from labtui.serving.status import Status
from store import Store

LAUNCH = ServerState(
    launch_id="20261130-211530-aa",
    kind="launched",
    url="http://127.0.0.1:8000",
    model="practice",
    checkpoint="practice",
    practice=True,
    started_at=1_796_073_330.123456,
    command=("vllm", "serve", "practice"),
    plan_key="key",
)
STARTING = Status("starting")
READY = Status("ready", ready_after_s=31.5, vllm_version="0.32.0", facts={"weights_gib": 0.01})


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def test_many_looks_at_one_launch_keep_one_launch(store) -> None:
    for status in (STARTING, STARTING, READY, READY):
        record_launch(store, LAUNCH, status)
    (kept,) = store.launches.list()
    assert (kept.checkpoint, kept.plan_key, kept.ready_after_s) == ("practice", "key", 31.5)
    assert kept.vllm_version == "0.32.0"
    assert store.launches.ready_estimate("key") == 31.5


def test_a_launch_first_seen_when_ready_is_kept_whole(store) -> None:
    record_launch(store, LAUNCH, READY)
    assert store.launches.list()[0].ready_after_s == 31.5


def test_death_and_stop_are_written_once(store) -> None:
    record_launch(store, LAUNCH, READY)
    record_launch(store, replace(LAUNCH, ended="died", ended_at=LAUNCH.started_at + 60), Status("stopped"))
    record_stop(store, LAUNCH)
    (kept,) = store.launches.list()
    assert kept.ended == "died"
    assert (kept.ended_at - kept.started_at).total_seconds() == pytest.approx(60)


def test_two_launches_are_two(store) -> None:
    record_launch(store, LAUNCH, READY)
    record_launch(store, replace(LAUNCH, started_at=LAUNCH.started_at + 1), STARTING)
    record_stop(store, LAUNCH)
    assert sorted(kept.ended or "" for kept in store.launches.list()) == ["", "stopped"]


def test_a_server_that_we_did_not_start_is_no_launch(store) -> None:
    assert record_launch(store, replace(LAUNCH, kind="attached"), READY) is None
    assert record_launch(store, None, STARTING) is None
    assert store.launches.list() == []
