"""The published schema says of a real export what is in it, all of it and not less."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from labtui.artifacts.document import collect
from labtui.artifacts.writing import export_lesson
from labtui.predicting import check, predict
from lessons.finding import find_lesson
from store import Store

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "artifact.schema.json").read_text("utf-8"))


def closed(schema):
    """The same schema, in which nothing but what it names may stand."""
    if isinstance(schema, dict):
        inner = {key: closed(value) for key, value in schema.items()}
        return (
            inner | {"additionalProperties": False}
            if "properties" in schema and schema.get("type") == "object"
            else inner
        )
    return [closed(one) for one in schema] if isinstance(schema, list) else schema


@pytest.fixture
def document(lesson, store, now, tmp_path):
    (written,) = export_lesson(lesson, store, ["json"], tmp_path, now=now)
    return json.loads(written.read_text("utf-8"))


def faults(document, schema=SCHEMA) -> list[str]:
    return [f"{fault.json_path}: {fault.message}" for fault in Draft202012Validator(schema).iter_errors(document)]


def test_it_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


def test_a_real_export_is_valid_and_every_key_of_it_is_described(document):
    assert faults(document) == []
    assert faults(document, closed(SCHEMA)) == []


def test_an_export_of_a_fresh_store_is_valid(tmp_path, now):
    with Store.open(tmp_path / "fresh.db") as fresh:
        (written,) = export_lesson(find_lesson("diffusiongemma"), fresh, ["json"], tmp_path, now=now)
        assert collect(find_lesson("diffusiongemma"), fresh, now).runs == ()
    assert faults(json.loads(written.read_text("utf-8")), closed(SCHEMA)) == []


def test_an_export_with_predictions_is_valid(tmp_path, now):
    lesson = find_lesson("kv-cache-line")
    with Store.open(tmp_path / "predicted.db") as store:
        for one, words in zip(lesson.predictions[:-1], ("40.16", "1", "0", "96"), strict=True):
            predict(lesson, one, words, store)
            check(lesson, one, store, recorded=one != lesson.predictions[0])
        (written,) = export_lesson(lesson, store, ["json"], tmp_path, now=now)
    document = json.loads(written.read_text("utf-8"))
    assert [one["right"] for one in document["predictions"]] == [None, False, False, True, None]
    assert faults(document, closed(SCHEMA)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("verdict"),
        lambda document: document["runs"][0].pop("practice"),
        lambda document: document["runs"][0]["speed"].update(end_to_end_tps=0),
        lambda document: document["runs"][0]["speed"].update(end_to_end_tps="512 tok/s"),
        lambda document: document["runs"][0].update(chunks=[[1.0]]),
        lambda document: document["recall"][0].update(grade="perfect"),
        lambda document: document.update(format_version=2),
    ],
)
def test_another_shape_is_not_valid(document, change):
    changed = copy.deepcopy(document)
    change(changed)
    assert faults(changed)
