"""The artifact as one HTML page: nothing outside it is needed, it prints on A4, and its first sheet is the map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from exercises.speed import LABELS
from labtui.artifacts import html_lesson, html_measured, html_runs
from labtui.artifacts.document import Artifact
from labtui.artifacts.harness_map import map_title
from labtui.artifacts.html_runs import PRACTICE_NOTE, Picture, checkpoint
from labtui.artifacts.html_text import Html, day, element, joined, link, prose, prose_line, table, text_of
from labtui.artifacts.markdown import MARK
from labtui.artifacts.run_facts import outcome, speed_values, task_words

STYLE = Path(__file__).with_name("page.css")
NOTHING_FROM_OUTSIDE = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)


def to_html(artifact: Artifact, picture_of: Picture | None = None) -> str:
    """picture_of: makes a PNG of the SVG in an answer, or raises LabError; None for the drawing of labtui itself."""
    sheets = (
        element("section", *_map_sheet(artifact), class_="sheet map-sheet"),
        element("section", *_details(artifact, picture_of or _own_picture), class_="sheet"),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=NOTHING_FROM_OUTSIDE),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content=f"{artifact.made_by}; {MARK}"),
        element("title", f"{map_title(artifact.lesson)}: {artifact.lesson.title}"),
        element("style", Html(STYLE.read_text("utf-8"))),
    )
    body = element("body", element("main", *sheets, _foot(artifact)))
    return f"<!doctype html>\n{element('html', head, body, lang=artifact.lesson.lang)}\n"


def _own_picture(answer: str) -> bytes:
    from labtui.svg_picture import picture_of_svg

    return picture_of_svg(answer)


def _map_sheet(artifact: Artifact) -> Iterator[Html]:
    """What the artifact is about: on one A4 page where its texts are as long as they should be."""
    lesson = artifact.lesson
    yield element("p", map_title(lesson), class_="over-title")
    yield element("h1", text_of(lesson.title))
    yield element("div", prose(lesson.summary), class_="summary")
    video = lesson.video
    if video.title:
        yield element("p", "From the video ", link(video.title, video.url), f", {video.channel}", class_="source")
    if lesson.frame.principle.strip():
        yield element("div", prose(lesson.frame.principle), class_="rule")
    if artifact.harness_map:
        yield _stages(artifact)
        bounded = any(row.boundary for row in artifact.harness_map)
        yield table(
            ("Stage", *(("In this lab", "Tool boundary") if bounded else ("What it is about",)), "Proof signal"),
            [
                (
                    joined(element("b", text_of(row.stage)), _sign(not row.open)),
                    prose_line(row.here) if row.stage.casefold() == "intent" else text_of(row.here),
                    *((text_of(row.boundary),) if bounded else ()),
                    text_of(row.proof),
                )
                for row in artifact.harness_map
            ],
            "map",
        )
        noted = [row for row in artifact.harness_map if row.note]
        for row in noted:
            yield element("div", element("b", f"My words on {row.stage}"), prose(row.note or ""), class_="own")
    if artifact.weakest is not None:
        notice = artifact.weakest.notice.strip()
        yield element(
            "p",
            element("b", "Weakest link: "),
            text_of(artifact.weakest.stage),
            joined(". I would notice: ", text_of(notice)) if notice else ".",
        )
    yield from _verdict(artifact)
    yield from _blind(artifact)
    if artifact.gates:
        gates = " · ".join(f"{'●' if one.met else '○'} {one.gate.title}" for one in artifact.gates)
        yield element(
            "p", element("b", f"{artifact.gates_met} of {len(artifact.gates)} gates met: "), gates, class_="gates-line"
        )


def _stages(artifact: Artifact) -> Html:
    stages = [
        element("li", text_of(row.stage), " ○" if row.open else " ●", class_="open" if row.open else "proved")
        for row in artifact.harness_map
    ]
    return element("ol", *stages, class_="stages")


def _blind(artifact: Artifact) -> Iterator[Html]:
    for one in artifact.blind:
        yield element("p", element("b", "Judged blind, by eye: "), text_of(one.sentence))
        for note in one.notes:
            yield element("div", prose(note), class_="own")


def _sign(proved: bool) -> Html:
    return element("span", "● proved" if proved else "○ open", class_="sign")


def _verdict(artifact: Artifact) -> Iterator[Html]:
    if not artifact.has_lab:
        return
    yield element("h2", "Verdict")
    yield element("div", prose(artifact.lesson.frame.lab_question), class_="question")
    verdict = artifact.verdict
    if verdict is None:
        yield element("p", "No verdict was written yet.", class_="missing")
        return
    yield element(
        "div", prose(verdict.text), element("p", f"Written {day(verdict.saved_at)}", class_="when"), class_="own"
    )
    cited = artifact.cited_runs
    if not cited:
        yield element("p", "It cites no run.", class_="missing")
        return
    yield table(
        ("It rests on", "Task", "Checkpoint", LABELS["end_to_end_tps"], "Answer"),
        [
            (
                element("code", run.id),
                text_of(task_words(run)),
                checkpoint(run),
                element("b", speed_values(run)["end_to_end_tps"]),
                text_of(outcome(run)),
            )
            for run in cited
        ],
        "cited",
    )
    if any(run.practice for run in cited):
        yield element("p", element("b", "Practice. ", class_="practice"), PRACTICE_NOTE, class_="note")


def _details(artifact: Artifact, picture_of: Picture) -> Iterator[Html]:
    yield from html_runs.runs(artifact)
    yield from html_measured.sweeps(artifact)
    yield from html_measured.baseline(artifact)
    yield from html_lesson.source_check(artifact)
    yield from html_lesson.misconceptions(artifact)
    yield from html_lesson.predictions(artifact)
    yield from html_lesson.recall(artifact)
    yield from html_lesson.gates(artifact)
    yield from html_lesson.studio(artifact)
    yield from html_lesson.notes(artifact)
    yield from html_lesson.editor_notes(artifact)
    yield from html_lesson.sources(artifact)
    yield from html_runs.answers(artifact, picture_of)


def _foot(artifact: Artifact) -> Html:
    lesson = artifact.lesson
    return element(
        "footer",
        f"Made on {artifact.made_at:%Y-%m-%d %H:%M} UTC by {artifact.made_by} from lesson ",
        element("code", lesson.id),
        f", version {lesson.version}. {MARK}.",
    )
