"""Sweeps and the baseline in every format: the numbers of `labtui sweeps --json`, practice apart, published as such."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from exercises.speed import format_rate
from labtui.artifacts.document import collect
from labtui.artifacts.html import to_html
from labtui.artifacts.json_document import json_document
from labtui.artifacts.markdown import PRACTICE_NOTE, to_markdown
from labtui.artifacts.measured_rows import PUBLISHED_NOTE
from labtui.artifacts.toml_document import document_of_toml, to_toml
from lessons.finding import find_lesson
from store import Store
from tests.labtui.artifacts.test_html import ALLOWED, Page
from tests.labtui.artifacts.test_schema import SCHEMA, closed, faults
from tests.labtui.test_trial_comparison import trial


@pytest.fixture
def artifact(lesson, store, now, sweeps):
    for document in sweeps:
        store.sweeps.save(document)
    return collect(lesson, store, now)


def test_the_documents_are_those_of_the_command_in_json_and_toml(artifact, store, sweeps):
    exported = json_document(artifact)["sweeps"]
    assert {one["id"]: one for one in exported} == {one["id"]: one for one in sweeps}
    assert json.loads(json.dumps(exported)) == [dict(one.document) for one in store.sweeps.list()]
    assert document_of_toml(to_toml(artifact))["sweeps"] == json.loads(json.dumps(exported))


def test_every_number_stands_in_markdown_and_html(artifact):
    markdown, page = to_markdown(artifact), to_html(artifact)
    tables = Page(page).tables["sweep"]
    for document in artifact.sweeps_shown:
        for point in document["points"]:
            rate = format_rate(point["aggregate_tps"])
            queues = point["streams"] > document["runs_together"]
            rate += " (queueing)" if queues else ""
            steps = f"{point['steps_per_canvas']:.3g}"
            row = [cells for cells in tables if cells[0] == point["label"] and cells[1] == rate]
            assert row and steps in row[0]
            assert re.search(rf"\| {point['label']} \| {re.escape(rate)} \|.*\| {re.escape(steps)} \|", markdown)
    assert "█" in markdown and "<svg" in page


def test_what_measures_queueing_says_so_in_both(artifact):
    said = "This server runs 2 requests together (--max-num-seqs): at 3 at once some wait"
    assert said in to_markdown(artifact).replace("\\", "")
    assert said in to_html(artifact)
    drawn = " ".join(re.findall(r"<text[^>]*>([^<]*)", to_html(artifact)))
    assert said in drawn


def test_of_each_kind_of_sweep_the_newest_is_shown_and_practice_stands_apart(artifact, sweeps):
    markdown = to_markdown(artifact).replace("\\", "")
    earlier, later, kinds, at_once = (document["id"] for document in sweeps)
    part = markdown.partition("## Sweeps")[2]
    before, _, practice = part.partition("### Practice sweeps")
    assert later in before and earlier not in part
    assert PRACTICE_NOTE in practice and kinds in practice and at_once in practice
    assert kinds not in before and at_once not in before
    assert "1 earlier sweep is in the store and in the JSON export." in practice


def test_requests_of_a_sweep_push_no_run_out_of_the_table(lesson, store, now):
    alone = store.runs.get("bbb")
    for number in range(14):
        known = {"sweep": {"id": "s-1"}, "streams": 6}
        store.runs.add(replace(alone, id=f"r-20261130-2130{number:02}-swp", evidence={**alone.evidence, **known}))
    store.verdicts.save("small", "It holds.", ["bbb", "213003-swp"])
    artifact = collect(lesson, store, now)
    assert len(artifact.runs) > 14
    markdown, page = to_markdown(artifact), to_html(artifact)
    rows = [row[0] for row in Page(page).tables["runs"][1:]]
    for text in (markdown.partition("## Runs")[2].partition("## Source check")[0], "\n".join(rows)):
        assert "213003-swp" in text and "one of 6 at once" in text, "a cited one stands there, with what it is"
        assert alone.id in text and "213004-swp" not in text
    assert "13 requests of sweeps are in the store and in the JSON export." in markdown
    assert "13 requests of sweeps are in the store" in page


def test_the_page_stays_harmless_with_plots_in_it(artifact):
    read = Page(to_html(artifact))
    drawn = {"svg", "rect", "text", "tspan"}
    assert {tag for tag, _ in read.elements} <= ALLOWED | drawn
    for _, attributes in read.elements:
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)


def test_a_hostile_label_stays_text_in_the_page(lesson, store, now, sweeps):
    document = json.loads(json.dumps(sweeps[1]))
    document["points"][0]["label"] = "<script>alert(1)</script>"
    document["checkpoint"] = "x</svg><img src=y>"
    store.sweeps.save(document)
    page = to_html(collect(lesson, store, now))
    assert "<script" not in page and "<img src=y" not in page
    Page(page)


def test_the_schema_describes_all_of_it(artifact, store, lesson, now):
    assert faults(json.loads(json.dumps(json_document(artifact))), closed(SCHEMA)) == []
    for run in (*trial("t-d", "fp8", 900, 7), *trial("t-g", "gemma4", 300, 7)):
        store.runs.add(run)
    document = json.loads(json.dumps(json_document(collect(lesson, store, now))))
    assert document["baseline"]["compared"] and faults(document, closed(SCHEMA)) == []


def test_practice_sweeps_alone_are_called_practice_at_the_top(lesson, now, tmp_path, sweeps):
    with Store.open(tmp_path / "sweeps.db") as store:
        for document in sweeps[1:]:
            store.sweeps.save(document)
        artifact = collect(lesson, store, now)
    assert artifact.runs == () and json_document(artifact)["practice"]
    assert PRACTICE_NOTE in to_markdown(artifact).partition("## ")[0]


def test_a_lesson_without_tasks_of_the_lab_has_no_sweeps(artifact, lesson, store, now):
    assert artifact.sweeps
    bare = collect(replace(lesson, lab_tasks=()), store, now)
    assert bare.sweeps == () and bare.baseline is None


# --- the baseline


@pytest.fixture
def real_lesson(lesson):
    """The small lesson with the claims of the built-in one beside it."""
    return replace(lesson, path=find_lesson("diffusiongemma").path)


def test_the_ratio_stands_with_its_interval_in_every_format(real_lesson, store, now):
    for run in (*trial("t-d", "fp8", 900, 7), *trial("t-g", "gemma4", 300, 7)):
        store.runs.add(run)
    artifact = collect(real_lesson, store, now)
    ratio = json_document(artifact)["baseline"]["compared"][0]["ratios"]["end_to_end_tps"]
    assert document_of_toml(to_toml(artifact))["baseline"]["compared"][0]["ratios"]["end_to_end_tps"] == ratio
    interval = f"× {ratio['interval']['low']:.2f} to {ratio['interval']['high']:.2f}"
    rows = Page(to_html(artifact)).tables["baseline"]
    (row,) = [row for row in rows if row[:2] == ["coding", "end to end"]]
    assert row[4] == f"× {ratio['value']:.2f}" and row[5].startswith(interval)
    markdown = to_markdown(artifact)
    assert f"× {ratio['value']:.2f} | {interval}" in markdown
    assert PUBLISHED_NOTE not in markdown and json_document(artifact)["baseline"]["published"] == []


def test_what_else_differs_between_the_two_sides_is_said(real_lesson, store, now):
    ours = trial("t-d", "fp8", 900, 7, evidence={"hardware": ["1 × H200"], "prompt": "Draw two plates."})
    theirs = trial("t-g", "gemma4", 300, 7, evidence={"hardware": ["1 × H100"], "prompt": "Draw three plates."})
    for run in (*ours, *theirs):
        store.runs.add(run)
    artifact = collect(real_lesson, store, now)
    for text in (to_markdown(artifact).replace("\\", ""), to_html(artifact)):
        assert "coding, gemma4 and fp8: their prompts or pictures differ" in text
        assert "coding, gemma4 and fp8: on different hardware, 1 × H100 and 1 × H200." in text


def test_the_published_table_stands_in_and_is_called_published(real_lesson, store, now):
    artifact = collect(real_lesson, store, now)
    assert [run.checkpoint for run in artifact.other_runs] == ["fp8"]
    document = json_document(artifact)["baseline"]
    assert document["compared"] == [] and document["published"]
    assert faults(json.loads(json.dumps(json_document(artifact))), closed(SCHEMA)) == []
    page = to_html(artifact)
    part = to_markdown(artifact).partition("## Beside the baseline")[2].partition("\n## ")[0]
    assert PUBLISHED_NOTE in part and PUBLISHED_NOTE in page
    for claim in document["published"]:
        assert claim["claim"] in part and claim["claim"] in page
    assert "×" not in part.replace(PUBLISHED_NOTE, "")


def test_beside_practice_no_published_number_stands(real_lesson, now, tmp_path):
    with Store.open(tmp_path / "practice.db") as store:
        for run in trial("t-p", "practice", 900, 7):
            store.runs.add(run)
        artifact = collect(real_lesson, store, now)
    assert artifact.practice_runs and artifact.baseline is None
    assert json_document(artifact)["baseline"] is None
    assert "baseline" not in to_markdown(artifact).casefold().partition("## runs")[2].partition("## source check")[0]
    assert PUBLISHED_NOTE not in to_html(artifact)
