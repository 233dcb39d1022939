"""Every fault of a stream, and the two worked cases, over real HTTP: the numbers are the right ones, and the same ones
in the store, in every command, in a bundle read back, and in every export."""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.records import NotMeasurable, Run
from exercises.running import run_task
from exercises.speed import format_rate, speed_lines, speed_to_json
from exercises.tasks import find_task, task_set_for
from exercises.trace import read_traces
from labtui.artifacts.run_facts import SPEED_COLUMNS
from labtui.artifacts.toml_document import document_of_toml
from tests.fakes.vllm_stream import CASE_A, CASE_B, MODEL, Canvas, FakeVllm, Script, scaled
from tests.labtui.artifacts.test_export import rows_of
from tests.labtui.artifacts.test_html import Page

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDED = [*sorted(FIXTURES.glob("vllm-*/streams/*.txt")), *sorted(FIXTURES.glob("vllm-cuda-*/*.json"))]
TWO = (Canvas(0.1, 256, "some more words "), Canvas(0.2, 100, "naïve – 模型 🌋 end "))
FIRST = (TWO[0],)


@dataclass(frozen=True)
class Right:
    """tokens and canvases that are right, whether an end-to-end rate and a rate after the first canvas exist."""

    tokens: int | None
    canvases: int
    end_to_end: bool = True
    after_first: bool = True
    valid: bool = True


CASES: dict[str, tuple[Script, Right]] = {
    "case-a": (scaled(CASE_A, 0.1), Right(180, 1, after_first=False)),
    "case-b": (scaled(CASE_B, 0.1), Right(700, 3)),
    "reasoning-text": (Script((Canvas(0.1, 256, "", "a thought "), Canvas(0.2, 100, "an answer "))), Right(356, 2)),
    "empty-deltas": (Script((Canvas(0.1, 256, ""), Canvas(0.2, 100, "an answer "))), Right(356, 2)),
    "usage-only": (Script(TWO, continuous_usage=False), Right(356, 2, after_first=False)),
    "keep-alives": (Script(TWO, comments=True), Right(356, 2)),
    "crlf": (Script(TWO, crlf=True), Right(356, 2)),
    "utf-8-cut": (Script(TWO, cut=7), Right(356, 2)),
    "break-off": (Script(FIRST, break_off_at_s=0.15), Right(256, 1, after_first=False, valid=False)),
    "error-inside": (Script(FIRST, error_at_s=0.15), Right(256, 1, after_first=False, valid=False)),
    "nothing-but-empty-text": (Script((Canvas(0.1, 256, ""), Canvas(0.2, 256, ""))), Right(512, 2, valid=False)),
}


@dataclass(frozen=True)
class Exported:
    """rows: for each run what stands in its row of the Markdown table, and in that of the page."""

    json: dict
    toml: dict
    markdown: str
    html: str

    @property
    def rows(self) -> dict[str, list[list[str]]]:
        found: dict[str, list[list[str]]] = {}
        for run_id, cells in rows_of(self.markdown).items():
            found.setdefault(run_id, []).append([cell.replace("\\", "") for cell in cells[3:-1]])
        for row in Page(self.html).tables["runs"]:
            if run_id := re.match(r"r-\d{8}-\d{6}-\w{3}", row[0]):
                found.setdefault(run_id.group(), []).append(row[1:-1])
        return found


def export(lab, folder: Path) -> Exported:
    assert lab("export", "diffusiongemma", "--format", "json,md,html,toml", "--to", str(folder)).exit_code == 0
    markdown, html, toml, document = (
        (folder / f"diffusiongemma.{ending}").read_text("utf-8") for ending in ("md", "html", "toml", "json")
    )
    return Exported(json.loads(document), document_of_toml(toml), markdown, html)


def shown_values(run: Run) -> list[str]:
    shown = {line.key: line.value for line in speed_lines(run.speed)}
    return [shown[key] for key in SPEED_COLUMNS]


def readable(path: Path) -> tuple[Run, ...]:
    try:
        return read_traces(path)
    except ExerciseError:
        return ()


def measured(script: Script):
    task = replace(find_task("coding", task_set_for("practice", True)), id="coding")
    with FakeVllm(script) as server:
        return run_task(task, Endpoint(server.url, None, MODEL, "practice", True, "0.32.0"), seed=3)


@pytest.mark.parametrize("name", list(CASES))
def test_the_numbers_are_right_and_the_same_everywhere(lab, store, tmp_path, name):
    script, right = CASES[name]
    run = store.runs.add(measured(script))
    speed = run.speed

    assert run.valid is right.valid
    assert speed.canvases == right.canvases
    assert speed.completion_tokens == right.tokens
    assert isinstance(speed.end_to_end_tps, NotMeasurable) is not right.end_to_end
    assert isinstance(speed.after_first_canvas_tps, NotMeasurable) is not right.after_first
    if right.end_to_end:
        assert speed.end_to_end_tps == pytest.approx(right.tokens / speed.wall_s)
        assert speed.wall_s == pytest.approx(script.canvases[-1].at_s, abs=0.08)

    bundle = tmp_path / "bundle.json"
    shown = lab.json("show", run.id, "--bundle", str(bundle))
    code = 0 if right.valid else 1
    documents = {
        "show": shown,
        "runs": lab.json("runs")[0],
        "compare": lab.json("compare", run.id, run.id)["runs"][0],
        "recompute": lab.json("show", run.id, "--recompute"),
        "measure bundle": lab.json("measure", str(bundle), code=code),
    }
    (tmp_path / "show.json").write_text(json.dumps(shown))
    documents["measure show"] = lab.json("measure", str(tmp_path / "show.json"), code=code)
    exported = export(lab, tmp_path)
    documents["export json"] = exported.json["runs"][0]
    documents["export toml"] = exported.toml["runs"][0]
    speeds = {place: document["speed"] for place, document in documents.items()}
    assert all(one == shown["speed"] for one in speeds.values()), speeds
    assert documents["recompute"]["recomputed"] == {"same": True, "differences": []}

    texts = [lab(*command).stdout for command in (("show", run.id), ("measure", str(bundle)), ("runs",))]
    texts += [exported.markdown, exported.html]
    assert all(format_rate(speed.end_to_end_tps) in text for text in texts)
    assert exported.rows == {run.id: [shown_values(run)] * 2}
    for line in speed_lines(speed):
        assert line.value in texts[0] and line.value in texts[1]
        if "not measurable" not in line.value:
            assert " inf" not in line.value and not line.value.startswith("0 ")


def test_every_recorded_stream_has_the_same_numbers_in_every_export(lab, store, tmp_path):
    """Of the real vLLM on CPU and CUDA, degenerate answers and those of several streams among them."""
    known = {"task": "coding", "checkpoint": "practice", "practice": True, "started_at": "2026-11-30T21:15:30+00:00"}
    runs = [store.runs.add(replace(found, id="", **known)) for path in RECORDED for found in readable(path)]
    assert len(runs) > 40
    store.verdicts.save("diffusiongemma", "Every one of them.", [run.id for run in runs])
    exported = export(lab, tmp_path)
    for document in (exported.json["runs"], exported.toml["runs"], lab.json("runs", "--limit", "500")):
        assert {one["id"]: one["speed"] for one in document} == {run.id: speed_to_json(run.speed) for run in runs}
    assert exported.rows == {run.id: [shown_values(run)] * 2 for run in runs}


def test_anki_has_the_lessons_words_alone_and_no_number_of_a_run(lab, store, tmp_path):
    def written(name: str) -> tuple[str, list[tuple[str, ...]]]:
        place = tmp_path / name
        assert lab("export", "diffusiongemma", "--format", "anki", "--to", str(place)).exit_code == 0
        with zipfile.ZipFile(place / "diffusiongemma.apkg") as package:
            package.extract("collection.anki2", place)
        with closing(sqlite3.connect(place / "collection.anki2")) as notes:
            fields = notes.execute("SELECT guid, flds FROM notes ORDER BY guid").fetchall()
        return (place / "diffusiongemma.anki.txt").read_text(), fields

    before = written("before")
    run = store.runs.add(measured(CASES["case-b"][0]))
    assert written("after") == before
    assert before[1] and run.id not in before[0]


def test_the_raw_stream_stands_in_the_bundle_and_in_no_list(lab, store, tmp_path):
    run = store.runs.add(measured(CASES["case-b"][0]))
    lab("show", run.id, "--bundle", str(tmp_path / "b.json"))
    bundle = json.loads((tmp_path / "b.json").read_text())
    assert bundle["format"] == "labtui-bundle"
    lines = bundle["run"]["evidence"]["raw"]["lines"]
    assert sum('"content": "second ' in line for line in lines) == 1
    assert "raw" not in lab.json("runs")[0]["evidence"]


def test_the_raw_lines_of_a_bundle_are_a_recorded_stream_of_their_own(lab, store, tmp_path):
    run = store.runs.add(measured(CASES["utf-8-cut"][0]))
    lab("show", run.id, "--bundle", str(tmp_path / "b.json"))
    lines = json.loads((tmp_path / "b.json").read_text())["run"]["evidence"]["raw"]["lines"]
    (tmp_path / "stream.txt").write_text("\n".join(lines), encoding="utf-8")
    again = lab.json("measure", str(tmp_path / "stream.txt"))
    assert again["chunks"] == lab.json("show", run.id)["chunks"]
    assert again["output"] == run.output


def test_a_bundle_that_was_changed_is_found_out(lab, store, tmp_path):
    run = store.runs.add(measured(CASES["case-b"][0]))
    path = tmp_path / "b.json"
    lab("show", run.id, "--bundle", str(path))
    bundle = json.loads(path.read_text())
    bundle["run"]["chunks"][-1][0] /= 2
    path.write_text(json.dumps(bundle))
    result = lab("measure", str(path))
    assert result.exit_code == 1
    assert "contradicts itself" in result.stderr


def test_a_bundle_replaces_no_file(lab, keep_run, tmp_path):
    run = keep_run()
    path = tmp_path / "b.json"
    path.write_text("mine")
    result = lab("show", run.id, "--bundle", str(path))
    assert result.exit_code == 2 and "is there already" in result.stderr
    assert path.read_text() == "mine"
    result = lab("show", run.id, "--bundle", str(tmp_path / "no/such/b.json"))
    assert result.exit_code == 2 and "was not written" in result.stderr
