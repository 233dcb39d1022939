from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exercises.records import Check, Chunk, CounterWindow, Fact, NotMeasurable, Run, Timeline
from exercises.run_ids import new_id
from exercises.speed import speed_of
from store import Store, StoreError

# Model output arrives as JSON, where half characters and control characters are allowed.
ANY_TEXT = st.text(alphabet=st.characters(codec=None, categories=None), max_size=40)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | NUMBERS | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
CHUNKS = st.builds(
    Chunk,
    at_s=st.floats(0.001, 1e5),
    tokens=st.none() | st.integers(0, 5000),
    characters=st.integers(0, 9999),
)
TIMELINES = st.builds(
    Timeline,
    chunks=st.lists(CHUNKS, max_size=5).map(lambda chunks: tuple(sorted(chunks, key=lambda chunk: chunk.at_s))),
    prompt_tokens=st.none() | st.integers(1, 10**6),
    completion_tokens=st.none() | st.integers(1, 10**6),
    counters=st.builds(NotMeasurable, st.text(min_size=1, max_size=20))
    | st.builds(CounterWindow, *(st.floats(0, 1e9) for _ in range(4))),
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    timeline = draw(TIMELINES)
    valid = draw(st.booleans())
    return Run(
        id="",
        task=draw(st.sampled_from(["coding", "vision"])),
        task_set=draw(st.sampled_from(["practice", "diffusiongemma"])),
        checkpoint=draw(st.sampled_from(["practice", "bf16"])),
        practice=draw(st.booleans()),
        started_at=draw(st.datetimes()).isoformat() + "+00:00",
        valid=valid,
        invalid_reason=None if valid else draw(ANY_TEXT),
        timeline=timeline,
        speed=speed_of(timeline),
        check=Check(
            draw(st.booleans()), tuple(draw(st.lists(st.builds(Fact, ANY_TEXT, st.booleans(), ANY_TEXT), max_size=3)))
        ),
        output=draw(ANY_TEXT),
        reasoning=draw(ANY_TEXT),
        warmup=draw(st.booleans()),
        trial=draw(st.none() | st.just("t-1")),
        evidence=draw(st.dictionaries(st.text(max_size=6), JSON, max_size=3)),
    )


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("runs") / "labtui.db") as store:
        yield store


@given(run=runs())
@settings(max_examples=60, deadline=None)
def test_a_run_comes_back_as_it_was(shared_store, run):
    kept = shared_store.runs.add(run)
    assert replace(kept, id="") == run
    assert shared_store.runs.get(kept.id) == kept


@given(run=runs())
@settings(max_examples=30, deadline=None)
def test_the_number_column_is_the_number_of_the_run_and_computes_again(shared_store, run):
    kept = shared_store.runs.add(run)
    with shared_store._connection.reading() as db:
        (column,) = db.execute("SELECT end_to_end_tps FROM runs WHERE id = ?", [kept.id]).fetchone()
    rate = shared_store.runs.get(kept.id).speed.end_to_end_tps
    assert column == (None if isinstance(rate, NotMeasurable) else rate)
    assert speed_of(shared_store.runs.get(kept.id).timeline) == run.speed


def test_what_is_not_measurable_is_null_and_never_zero(store, make_run):
    timeline = Timeline((Chunk(0.9, 180, 700),), 10, None)
    run = store.runs.add(make_run(timeline=timeline))
    with store._connection.reading() as db:
        assert db.execute("SELECT end_to_end_tps FROM runs").fetchone() == (None,)
    assert isinstance(store.runs.get(run.id).speed.end_to_end_tps, NotMeasurable)


def test_ids_are_short_sortable_and_unique(store, make_run):
    ids = [store.runs.add(make_run(started_at=f"2026-11-30T21:15:{second:02}+00:00")).id for second in range(30)]
    assert ids == sorted(ids)
    assert all(re.fullmatch(r"r-20261130-2115\d\d-[2-9a-z]{3}", run_id) for run_id in ids)
    same_second = {store.runs.add(make_run()).id for _ in range(60)}
    assert len(same_second) == 60


def test_the_time_in_an_id_is_utc():
    from datetime import datetime

    assert new_id(at=datetime.fromisoformat("2026-12-01T01:15:30+04:00")).startswith("r-20261130-211530-")


def test_an_id_that_the_run_brings_is_kept_and_never_overwritten(store, make_run):
    first = store.runs.add(make_run(id="r-20261130-211530-abc", output="first"))
    assert first.id == "r-20261130-211530-abc"
    with pytest.raises(StoreError) as caught:
        store.runs.add(make_run(id="r-20261130-211530-abc", output="second"))
    assert caught.value.exit_code == 2
    assert store.runs.get("abc").output == "first"


def test_a_run_is_found_by_the_start_or_the_end_of_its_id(store, make_run):
    for run_id in ("r-20261130-211530-abc", "r-20261130-211531-abd", "r-20261201-090000-xyz"):
        store.runs.add(make_run(id=run_id))
    assert store.runs.get("abc").id == "r-20261130-211530-abc"
    assert store.runs.get("r-20261201").id == "r-20261201-090000-xyz"
    assert store.runs.get(" r-20261130-211531-abd ").id == "r-20261130-211531-abd"
    for unclear, title in (("r-20261130", "More than one"), ("nope", "no such run"), ("", "no such"), ("%", "no such")):
        with pytest.raises(StoreError, match=title) as caught:
            store.runs.get(unclear)
        assert caught.value.exit_code == 2


def test_runs_are_listed_newest_first_and_by_task(store, make_run):
    store.runs.add(make_run(started_at="2026-11-30T10:00:00+00:00", output="1"))
    store.runs.add(make_run(started_at="2026-11-30T12:00:00+00:00", output="3", task="vision", trial="t-1"))
    store.runs.add(make_run(started_at="2026-11-30T13:00:00+02:00", output="2", checkpoint="bf16", practice=False))
    assert [run.output for run in store.runs.list()] == ["3", "2", "1"], "by the moment, not by its spelling"
    assert [run.output for run in store.runs.list("coding")] == ["2", "1"]
    assert [run.output for run in store.runs.list(limit=1)] == ["3"]
    assert [run.output for run in store.runs.list(checkpoint="bf16")] == ["2"]
    assert [run.output for run in store.runs.list(trial="t-1")] == ["3"]
    assert store.runs.count() == 3
    assert store.runs.ids() == [run.id for run in store.runs.list()]


SECRET = "k3yOfThisServer0123456789abcdef"


def test_no_secret_reaches_the_file(tmp_path: Path, make_run):
    path = tmp_path / "labtui.db"
    evidence = {
        "api_key": SECRET,
        "headers": {"Authorization": f"Bearer {SECRET}", "accept": "text/event-stream"},
        "command": ["vllm", "serve", "--api-key", SECRET, "--port", "8123"],
        "pasted": f"VLLM_API_KEY={SECRET} vllm serve --api-key={SECRET}",
        "env": {"HF_TOKEN": SECRET, "HF_HOME": "/models"},
        "max_tokens": 256,
        "usage": {"completion_tokens": 700},
    }
    with Store.open(path) as store:
        kept = store.runs.add(make_run(evidence=evidence))
        launch = store.launches.add("practice", "plan", ["vllm", "serve", "--api-key", SECRET, f"--api-key={SECRET}"])
        store.launches.ready(launch.id, 30.0, memory={"weights_gib": 0.02, "api_key": SECRET})
    assert kept.evidence["max_tokens"] == 256
    assert kept.evidence["usage"] == {"completion_tokens": 700}
    assert kept.evidence["command"] == ["vllm", "serve", "--api-key", "(removed)", "--port", "8123"]
    assert kept.evidence["headers"]["accept"] == "text/event-stream"
    db = sqlite3.connect(path)
    everything = "\n".join(db.iterdump())
    db.close()
    assert "vllm" in everything
    assert SECRET not in everything


def test_evidence_that_json_does_not_know_does_not_lose_the_run(store, make_run):
    kept = store.runs.add(make_run(evidence={"ratio": float("nan"), "path": Path("/tmp"), "pair": (1, 2)}))
    assert store.runs.get(kept.id).evidence == {"ratio": "nan", "path": "/tmp", "pair": [1, 2]}
