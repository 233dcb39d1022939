"""The runs of an artifact and the answers of the model, as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from exercises.checkers.svg import extract_svg
from exercises.records import Run
from exercises.speed import DEFINITIONS, LABELS
from labtui.artifacts.document import Artifact
from labtui.artifacts.harness_map import label
from labtui.artifacts.html_text import Html, element, joined, png, table, text_of, verbatim
from labtui.artifacts.run_facts import (
    SPEED_COLUMNS,
    left_out_words,
    measured_with,
    outcome,
    shown_in_table,
    speed_values,
    task_words,
)
from labtui.errors import LabError

PRACTICE_NOTE = (
    "These numbers come from the small practice checkpoint. They show that the harness works and how to measure; they "
    "say nothing about the model of the lesson and are not to be compared with any claim about it."
)

Picture = Callable[[str], bytes]


def runs(artifact: Artifact) -> Iterator[Html]:
    if not artifact.has_lab:
        return
    yield element("h2", "Runs")
    if not artifact.runs:
        yield element("p", "Nothing was run yet.", class_="missing")
        return
    if artifact.other_runs:
        yield from _run_table(artifact, artifact.other_runs)
    if artifact.practice_runs:
        yield element("h3", "Practice runs")
        yield element("p", PRACTICE_NOTE, class_="note")
        yield from _run_table(artifact, artifact.practice_runs)
    yield element("h3", "What the numbers mean")
    yield element("dl", *(joined(element("dt", LABELS[key]), element("dd", DEFINITIONS[key])) for key in SPEED_COLUMNS))
    settings = measured_with(artifact.runs)
    if settings:
        yield element("h3", "Measured with")
        yield element(
            "ul",
            *(
                element(
                    "li",
                    text_of(one.label),
                    (joined(f"; {name} ", element("code", value)) for name, value in one.facts),
                    f" ({one.runs} {'run' if one.runs == 1 else 'runs'})",
                )
                for one in settings
            ),
        )


def _run_table(artifact: Artifact, runs: tuple[Run, ...]) -> Iterator[Html]:
    shown = shown_in_table(runs, artifact.cited_ids)
    rows = []
    for run in shown:
        values = speed_values(run)
        cited = element("span", "cited", class_="sign") if run.id in artifact.cited_ids else None
        rows.append(
            (
                joined(
                    element("code", run.id),
                    element("span", text_of(task_words(run)), " · ", checkpoint(run)),
                    cited,
                ),
                *(text_of(values[key]) for key in SPEED_COLUMNS),
                text_of(outcome(run)),
            )
        )
    if rows:
        yield table(("Run", *(LABELS[key] for key in SPEED_COLUMNS), "Answer"), rows, "runs")
    if left_out := left_out_words(runs, shown):
        yield element("p", left_out)


def answers(artifact: Artifact, picture_of: Picture) -> Iterator[Html]:
    runs = artifact.answers_shown
    if not runs:
        return
    yield element("h2", "Answers of the model")
    yield element("p", "As they came, as text. Do not run what you have not read.", class_="note")
    for run in runs:
        yield element("article", *_answer(run, picture_of), class_="answer")


def _answer(run: Run, picture_of: Picture) -> Iterator[Html]:
    yield element("p", element("code", run.id), f" · {run.task} · ", checkpoint(run))
    prompt = run.evidence.get("prompt")
    if isinstance(prompt, str) and prompt.strip():
        yield element("p", "Asked:", class_="when")
        yield verbatim(prompt)
    if run.output:
        yield element("p", "Answered:", class_="when")
        yield verbatim(run.output)
        yield from _drawing(run, picture_of)
    else:
        yield element("p", "The answer is empty.", class_="missing")
    yield element(
        "ul",
        *(
            element(
                "li",
                f"{'passed' if fact.passed else 'failed'}: {fact.name}{f' ({fact.detail})' if fact.detail else ''}",
            )
            for fact in run.check.facts
        ),
    )


def _drawing(run: Run, picture_of: Picture) -> Iterator[Html]:
    """The SVG of an answer as a picture of its pixels: nothing of its markup is in the page."""
    if extract_svg(run.output) is None:
        return
    try:
        picture = picture_of(run.output)
    except LabError as error:
        yield element("p", f"Not drawn: {error.cause}.", class_="missing")
        return
    yield element("p", png(picture, "The SVG of this answer, drawn"), class_="drawing")


def checkpoint(run: Run) -> Html:
    return element("span", label(run), class_="practice" if run.practice else None)
