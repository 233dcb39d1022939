from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import Store, StoreError


def test_a_verdict_cites_runs_by_their_full_ids(store, make_run):
    runs = [store.runs.add(make_run()) for _ in range(2)]
    saved = store.verdicts.save("diffusiongemma", "Fast enough.", [runs[0].id[-3:], runs[1].id, runs[0].id])
    assert saved.runs == (runs[0].id, runs[1].id)
    assert store.verdicts.latest("diffusiongemma") == saved


def test_earlier_verdicts_are_never_overwritten(store):
    first = store.verdicts.save("diffusiongemma", "Fast.", [])
    second = store.verdicts.save("diffusiongemma", "Fast, but wrong.", [])
    store.verdicts.save("another", "Other.", [])
    assert store.verdicts.history("diffusiongemma") == [second, first]
    assert store.verdicts.latest("nothing") is None


def test_a_verdict_without_text_or_with_an_unknown_run_is_not_saved(store):
    for text, cited in (("  \n", []), ("Fine.", ["r-unknown"])):
        with pytest.raises(StoreError) as caught:
            store.verdicts.save("diffusiongemma", text, cited)
        assert caught.value.exit_code == 2
    assert store.verdicts.history("diffusiongemma") == []


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("verdicts") / "labtui.db") as store:
        yield store


@given(text=st.text(min_size=1).filter(str.strip))
@settings(max_examples=50, deadline=None)
def test_any_text_comes_back_as_it_was_typed(shared_store, text):
    assert shared_store.verdicts.save("lesson", text, []).text == text
    latest = shared_store.verdicts.latest("lesson")
    assert latest is not None and latest.text == text


def test_half_characters_are_replaced_and_whole_ones_joined(store):
    assert store.verdicts.save("lesson", "a\ud83d b", []).text == "a\ufffd b"
    assert store.verdicts.save("lesson", "\ud83d\ude00", []).text == "😀"
