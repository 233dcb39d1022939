from __future__ import annotations

from datetime import UTC, datetime

import pytest

from store import StoreError


def test_a_launch_is_followed_from_start_to_end(store):
    launch = store.launches.add("practice", "plan-1", ["vllm", "serve", "model"], vllm_version="0.32.0")
    assert (launch.ready_after_s, launch.ended) == (None, None)
    ready = store.launches.ready(launch.id, 33.5, memory={"kv_cache_gib": 1.25})
    assert (ready.ready_after_s, ready.memory, ready.vllm_version) == (33.5, {"kv_cache_gib": 1.25}, "0.32.0")
    ended = store.launches.finish(launch.id, "stopped", datetime(2026, 12, 1, tzinfo=UTC))
    assert (ended.ended, ended.ended_at) == ("stopped", datetime(2026, 12, 1, tzinfo=UTC))
    assert store.launches.list() == [ended]


def test_the_estimate_is_the_newest_launch_of_the_plan_that_became_ready(store):
    assert store.launches.ready_estimate("plan-1") is None
    for seconds in (40.0, 30.0):
        store.launches.ready(store.launches.add("practice", "plan-1", ["vllm"]).id, seconds)
    store.launches.ready(store.launches.add("bf16", "plan-2", ["vllm"]).id, 162.0)
    store.launches.finish(store.launches.add("practice", "plan-1", ["vllm"]).id, "died")
    assert store.launches.ready_estimate("plan-1") == 30.0
    assert [launch.checkpoint for launch in store.launches.list(limit=2)] == ["practice", "bf16"]


def test_launches_of_one_second_have_their_own_ids(store):
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    assert len({store.launches.add("practice", "plan", [], started_at=moment).id for _ in range(40)}) == 40


def test_an_unknown_launch_is_explained(store):
    for change in (lambda: store.launches.ready("l-x", 1.0), lambda: store.launches.finish("l-x", "died")):
        with pytest.raises(StoreError) as caught:
            change()
        assert caught.value.exit_code == 2
