from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.artifacts.document import collect
from labtui.artifacts.json_document import json_document
from labtui.artifacts.toml_document import document_of_toml, to_toml, toml_text


def test_it_is_the_json_in_another_spelling(lesson, store, now):
    artifact = collect(lesson, store, now)
    assert document_of_toml(to_toml(artifact)) == json_document(artifact)


def test_it_reads_as_toml_with_the_numbers_of_the_json(lesson, store, now):
    artifact = collect(lesson, store, now)
    read = tomllib.loads(to_toml(artifact))
    for run, expected in zip(read["runs"], json_document(artifact)["runs"], strict=True):
        assert run["speed"] == {key: value for key, value in expected["speed"].items() if value is not None}
        assert run["practice"] == expected["practice"]


def test_nothing_in_it_steers_a_terminal(lesson, store, now):
    written = to_toml(collect(lesson, store, now))
    assert "\x1b" not in written and "\\u001b" in written


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(texts.filter(lambda key: key != "null"), values, max_size=5))
def test_any_document_comes_back_as_it_was(document):
    written = toml_text(document)
    assert document_of_toml(written) == document
    assert all(
        ord(character) >= 32 and not 127 <= ord(character) < 160 for character in written if character not in "\n\t"
    )


def test_a_pointer_to_nowhere_is_told():
    with pytest.raises(ValueError, match="/a/b"):
        document_of_toml('[null]\nat = ["/a/b"]')
