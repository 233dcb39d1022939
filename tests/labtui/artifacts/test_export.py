"""The artifact of a fixed store. After a wanted change of the exports: LABTUI_WRITE_GOLDEN=1 pytest this file,
then read the difference of the golden files."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from exercises.records import NotMeasurable
from exercises.run_json import recompute, run_from_json
from exercises.speed import DEFINITIONS, format_rate, speed_lines, speed_to_json
from labtui.artifacts.document import collect
from labtui.artifacts.html import to_html
from labtui.artifacts.json_document import json_document
from labtui.artifacts.markdown import PRACTICE_NOTE, to_markdown
from labtui.artifacts.run_facts import SPEED_COLUMNS
from labtui.artifacts.writing import export_lesson
from labtui.predicting import check, predict
from lessons.model import PracticePiece, Prediction
from lessons.studio.keeping import to_json
from lessons.studio.pieces import EvidenceMap, EvidenceMapRow, HarnessMap, HarnessStage
from lessons.walk import first_sentence
from store import Store

GOLDEN = Path(__file__).parent / "golden"
PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")
"""Its bytes are resvg's, which may draw a pixel differently in its next release."""


@pytest.mark.parametrize("name", ["md", "json", "html", "toml"])
def test_the_export_is_the_golden_file(lesson, store, now, tmp_path, name):
    (written,) = export_lesson(lesson, store, [name], tmp_path, now=now)
    golden = GOLDEN / f"small.{name}"
    text = PICTURE.sub("data:image/png;base64,PICTURE", written.read_text("utf-8"))
    if os.environ.get("LABTUI_WRITE_GOLDEN"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


def rows_of(markdown: str) -> dict[str, list[str]]:
    """The rows of the run tables by run id, each a list of what is shown in its cells."""
    rows = {}
    for line in markdown.splitlines():
        if found := re.match(r"\| `(r-[^`]+)`", line):
            rows[found.group(1)] = [part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", line)[1:-1]]
    return rows


def test_numbers_are_the_same_in_markdown_json_and_store(lesson, store, now):
    artifact = collect(lesson, store, now)
    rows = rows_of(to_markdown(artifact))
    exported = {run["id"]: run for run in json_document(artifact)["runs"]}
    kept = {run.id: run for run in store.runs.list()}
    assert rows.keys() == exported.keys() == kept.keys()
    with store._connection.reading() as db:
        columns = dict(db.execute("SELECT id, end_to_end_tps FROM runs").fetchall())
    for run_id, run in kept.items():
        assert exported[run_id]["speed"] == speed_to_json(run.speed)
        assert recompute(run_from_json(exported[run_id])).speed == run.speed, "it can be computed again from the export"
        assert columns[run_id] == exported[run_id]["speed"]["end_to_end_tps"]
        shown = {line.key: line.value for line in speed_lines(run.speed)}
        assert rows[run_id][3:-1] == [shown[key] for key in SPEED_COLUMNS]
        assert rows[run_id][3] == format_rate(run.speed.end_to_end_tps)


def test_one_canvas_is_not_measurable_everywhere(lesson, store, now):
    artifact = collect(lesson, store, now)
    row = rows_of(to_markdown(artifact))["r-20261130-211430-ccc"]
    assert row[5] == "not measurable: one canvas"
    speed = next(run for run in json_document(artifact)["runs"] if run["id"].endswith("ccc"))["speed"]
    assert (speed["after_first_canvas_tps"], speed["after_first_canvas_reason"]) == (None, "one canvas")


def test_every_number_carries_its_definition(lesson, store, now):
    artifact = collect(lesson, store, now)
    markdown = to_markdown(artifact)
    for key in SPEED_COLUMNS:
        assert DEFINITIONS[key] in markdown.replace("\\", "")
    assert json_document(artifact)["definitions"] == DEFINITIONS


def test_practice_runs_are_labelled_and_stand_apart(lesson, store, now):
    artifact = collect(lesson, store, now)
    markdown = to_markdown(artifact)
    before, _, practice = markdown.partition("### Practice runs")
    practice_table = practice.partition("## ")[0]
    assert PRACTICE_NOTE in practice_table
    for run in artifact.runs:
        table_of_it, other = (practice_table, before) if run.practice else (before, practice_table)
        assert f"| `{run.id}`" in table_of_it and f"| `{run.id}`" not in other
    for line in markdown.splitlines():
        for run in artifact.practice_runs:
            rate = run.speed.end_to_end_tps
            if run.id in line and not isinstance(rate, NotMeasurable) and format_rate(rate) in line:
                assert "practice" in line, line
    document = json_document(artifact)
    assert document["practice"] and document["verdict"]["cites_practice"]
    assert all(isinstance(run["practice"], bool) for run in document["runs"])


def test_no_practice_number_stands_in_a_part_with_claims(lesson, store, now):
    markdown = to_markdown(collect(lesson, store, now))
    parts = re.split(r"^## ", markdown, flags=re.MULTILINE)
    for part in parts:
        if lesson.anchors[0].quote.split(" | ")[0] in part:
            assert "tok/s" not in part.partition("\n")[2]


def test_the_map_says_what_is_proved_and_what_is_open(lesson, store, now):
    rows = {row.stage: row for row in collect(lesson, store, now).harness_map}
    assert list(rows) == ["Intent", "Model", "Harness", "Tools", "Verifier", "Artifact"]
    assert rows["Intent"].proof == "Verdict of 2026-11-30, citing 2 runs"
    assert rows["Model"].proof == "fp8: 1 valid run; practice: 2 valid runs"
    assert rows["Verifier"].proof == "fp8: 1 of 1 answer passed; practice: 1 of 2 answers passed"
    assert rows["Artifact"].open and rows["Artifact"].proof == "1 of 2 gates met"
    assert rows["Tools"].note == "May read one picture, nothing else."
    assert [stage for stage, row in rows.items() if row.open] == ["Artifact"]


def test_a_fresh_store_gives_an_artifact_that_says_what_is_missing(lesson, tmp_path, now):
    with Store.open(tmp_path / "fresh.db") as fresh:
        artifact = collect(lesson, fresh, now)
    assert all(row.open for row in artifact.harness_map)
    markdown = to_markdown(artifact)
    for missing in ("No verdict was written yet.", "Nothing was run yet.", "Not answered yet.", "0 of 2 met"):
        assert missing in markdown
    document = json_document(artifact)
    assert (document["verdict"], document["runs"], document["practice"]) == (None, [], False)
    assert [gate["met"] for gate in document["gates"]] == [False, False]


def test_a_bare_lesson_exports_too(lesson, store, now):
    bare = replace(
        lesson,
        cards=(), anchors=(), misconceptions=(), gates=(), practice=(), lab_tasks=(), recall=(), notes=(), sources=()
    )  # fmt: skip
    markdown = to_markdown(collect(bare, store, now))
    assert "## Gates" not in markdown and "## The map" not in markdown


def test_an_unknown_stage_keeps_its_place_and_note(lesson, store, now):
    other = replace(lesson, cards=(replace(lesson.cards[0], id="tools", stage="Budget"),))
    (row,) = collect(other, store, now).harness_map
    assert (row.here, row.boundary, row.proof) == (first_sentence(other.cards[0].body), "", "In my words, below")
    assert (row.stage, row.open, row.note) == ("Budget", False, "May read one picture, nothing else.")


def test_a_lesson_with_stages_of_its_own_is_called_by_no_other_name(lesson, store, now):
    other = replace(lesson, cards=(replace(lesson.cards[0], id="line", stage="Line"),))
    for text in (to_markdown(collect(other, store, now)), to_html(collect(other, store, now))):
        assert f"Lesson map: {lesson.title.partition('|')[0]}" in text
        assert "Agent harness map" not in text
        assert "Tool boundary" not in text


def test_a_lesson_without_a_lab_shows_the_persons_map_and_misses_no_run(lesson, store, now):
    """As one that was imported from a page about something else."""
    other = replace(lesson, id="page", lab_tasks=())
    store.progress.save_note("page", "card/tools", "A saw and a rule, no glue.")
    artifact = collect(other, store, now)
    rows = {row.stage: row for row in artifact.harness_map}
    assert (rows["Tools"].here, rows["Tools"].open) == ("About Tools", False)
    assert (rows["Model"].proof, rows["Model"].open) == ("Open: not in my words yet", True)
    for text in (to_markdown(artifact), to_html(artifact)):
        assert "A saw and a rule, no glue." in text
        assert not re.search(
            "Verdict|Nothing was run|canvas|checkpoint|No lab task", text.partition("</style>")[2] or text
        )


def test_what_was_predicted_and_what_was_seen_is_in_every_export(lesson, store, now):
    record = "kv-cache-line/long-requests-on-an-h200"
    asked = (
        Prediction("long", "How | many?", record, "Say."),
        Prediction("half", "And half?", "kv-cache-line/half-the-length", "Say."),
        Prediction("lost", "Which?", "no/such", "Say."),
    )
    lesson = replace(lesson, predictions=asked)
    predict(lesson, asked[0], "9.0, since 68.74 / 7.6", store)
    check(lesson, asked[0], store)
    predict(lesson, asked[1], "80", store)
    artifact = collect(lesson, store, now)
    assert not any(noted.note.step.startswith("predict/") for noted in artifact.notes)
    seen = "8.26x (recorded, not yours: vLLM 0.26.0 on an H200, 2026-11-30)"
    for text in (to_markdown(artifact), to_html(artifact)):
        assert seen in text
        assert "9.0% too high" in text
        assert "not checked yet" in text
        assert "not predicted yet" in text
    long, half, lost = json_document(artifact)["predictions"]
    assert (long["predicted"], long["seen"]["value"], long["right"]) == (9.0, 8.26, False)
    assert (half["predicted"], half["seen"], half["right"]) == (80.0, None, None)
    assert (lost["unit"], lost["predicted"]) == (None, None)


def test_runs_that_the_verdict_cites_are_in_it_whatever_their_task(lesson, store, now):
    other = replace(lesson, lab_tasks=())
    artifact = collect(other, store, now)
    assert [run.id[-3:] for run in artifact.runs] == ["ccc", "bbb"]
    assert [run.id[-3:] for run in artifact.cited_runs] == ["ccc", "bbb"]


def test_an_item_reworded_since_is_said_to_be(lesson, store, now):
    reworded = replace(lesson, recall=(replace(lesson.recall[0], answer="Quality for speed."), lesson.recall[1]))
    assert collect(reworded, store, now).recall[0].changed_since
    assert "the question was reworded since" in to_markdown(collect(reworded, store, now))
    assert not collect(lesson, store, now).recall[0].changed_since


def test_the_first_guess_counts(lesson, store, now):
    store.progress.save_guess("small", "more-tools", False, "I know better now.")
    believed = collect(lesson, store, now).misconceptions[0].guess
    assert believed is not None and (believed.believed, believed.why) == (True, "More is more.")


def test_many_runs_do_not_flood_the_page(lesson, store, now):
    for number in range(30):
        store.runs.add(replace(store.runs.get("bbb"), id="", started_at=f"2026-11-30T22:{number:02}:00+00:00"))
    artifact = collect(lesson, store, now)
    rows = rows_of(to_markdown(artifact))
    assert {run.id for run in artifact.cited_runs} <= rows.keys(), "a cited run is always shown"
    assert len(rows) <= 15
    assert len(json_document(artifact)["runs"]) == 35
    assert re.search(r"\d+ earlier runs are in the store", to_markdown(artifact))


def test_nothing_of_the_model_is_markup_or_reaches_the_terminal(lesson, store, now):
    markdown = to_markdown(collect(lesson, store, now))
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    types = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    assert not types & {"html_block", "html_inline"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", markdown)
    headings = [
        tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0
    ]
    assert "Not a heading of yours" not in headings
    fences = [token.content for token in tokens if token.type == "fence"]
    assert "```svg\n<svg/>\n```\n<script>alert(1)</script>␛[31m\n" in fences


EVIDENCE = EvidenceMap(
    (
        EvidenceMapRow("0:34", "over 1,100", "that it was said", "high", "the card"),
        EvidenceMapRow("8:08", "the barrier", "one picture", "medium", "more pictures"),
        EvidenceMapRow("9:99", "nowhere", "", "low", ""),
    ),
    transfer="When I choose a card.",
)
HARNESS = HarnessMap(
    (HarnessStage("tools", "one picture", "reads nothing else", "its checker"), HarnessStage("Model", "", "", "")),
    weakest="Tools",
    notice="The checker fails twice.",
)


def test_pieces_of_the_studio_stand_on_the_map_and_in_the_source_check(lesson, store, now):
    lesson = replace(lesson, practice=(lesson.practice[0], PracticePiece("map", "My map", "", "", "harness-map")))
    store.progress.save_note("small", "practice/teach-back", to_json(EVIDENCE))
    store.progress.save_note("small", "practice/map", to_json(HARNESS))
    artifact = collect(lesson, store, now)
    assert [row.confidence for row in artifact.source_check] == ["Low: nothing ran yet.", "medium"], (
        "a note comes first"
    )
    rows = {row.stage: row.note for row in artifact.harness_map}
    assert rows["Tools"] == "Here: one picture\n\nTool boundary: reads nothing else\n\nProof signal: its checker"
    assert rows["Model"] is None
    document = json_document(artifact)
    assert document["weakest_link"] == {"stage": "Tools", "notice": "The checker fails twice."}
    pieces = {note["step"]: note["piece"] for note in document["notes"]}
    assert pieces["practice/map"]["weakest"] == "Tools" and pieces["deep/denoising"] is None
    for written in (to_markdown(artifact), to_html(artifact)):
        text = re.sub(r"<[^>]+>|\*\*", "", written)
        assert "Weakest link: Tools." in text and "The checker fails twice." in text
        assert "where it will matter: When I choose a card." in text
        assert '{"' not in text.replace('{"canvas_length"', ""), "no piece is shown as JSON"
