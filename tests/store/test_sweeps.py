from __future__ import annotations

import pytest

from store import StoreError

SWEEP = {
    "id": "s-20261130-211530-abc",
    "axis": "kinds",
    "checkpoint": "practice",
    "practice": True,
    "started_at": "2026-11-30T21:15:30.123+00:00",
    "points": [{"label": "prose", "runs": ["r-1"], "aggregate_tps": 10.5}],
}


def test_a_sweep_comes_back_as_it_was_kept(store):
    kept = store.sweeps.save(SWEEP)
    assert dict(kept.document) == SWEEP
    assert (kept.id, kept.axis, kept.practice) == (SWEEP["id"], "kinds", True)
    assert store.sweeps.get("abc") == store.sweeps.get("s-20261130") == kept


def test_a_sweep_grows_in_its_place(store):
    store.sweeps.save(SWEEP)
    longer = {**SWEEP, "points": [*SWEEP["points"], {"label": "code"}]}
    store.sweeps.save(longer)
    (kept,) = store.sweeps.list()
    assert len(kept.document["points"]) == 2


def test_the_newest_comes_first_and_an_unknown_one_is_explained(store):
    store.sweeps.save(SWEEP)
    store.sweeps.save({**SWEEP, "id": "s-20261201-090000-xyz", "started_at": "2026-12-01T09:00:00+00:00"})
    assert [one.id[-3:] for one in store.sweeps.list()] == ["xyz", "abc"]
    assert len(store.sweeps.list(limit=1)) == 1
    for part in ("nothing", "", "s-2026"):
        with pytest.raises(StoreError) as caught:
            store.sweeps.get(part)
        assert caught.value.exit_code == 2


def test_a_sweep_survives_closing(store):
    from store import Store

    store.sweeps.save(SWEEP)
    store.close()
    with Store.open(store.path) as again:
        assert dict(again.sweeps.get("abc").document) == SWEEP
