"""The artifact as one HTML page: nothing outside it is needed, it prints on A4, and its first sheet is the map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from exercises.checkers.svg import extract_svg
from exercises.records import Run
from exercises.speed import DEFINITIONS, LABELS
from labtui.artifacts.document import Artifact, Believed, GateStanding, Recalled
from labtui.artifacts.harness_map import label, map_title
from labtui.artifacts.html_text import (
    Html,
    element,
    joined,
    link,
    png,
    prose,
    prose_line,
    table,
    text_of,
    verbatim,
)
from labtui.artifacts.made_pieces import made_text, piece_of
from labtui.artifacts.markdown import MARK
from labtui.artifacts.prediction_row import prediction_row
from labtui.artifacts.run_facts import (
    SPEED_COLUMNS,
    left_out_words,
    measured_with,
    outcome,
    shown_in_table,
    speed_values,
)
from labtui.errors import LabError
from lessons.model import PracticePiece

STYLE = Path(__file__).with_name("page.css")
NOTHING_FROM_OUTSIDE = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
PRACTICE_NOTE = (
    "These numbers come from the small practice checkpoint. They show that the harness works and how to measure; they "
    "say nothing about the model of the lesson and are not to be compared with any claim about it."
)

Picture = Callable[[str], bytes]


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
    yield element("h2", "Verdict")
    yield element("div", prose(artifact.lesson.frame.lab_question), class_="question")
    verdict = artifact.verdict
    if verdict is None:
        yield element("p", "No verdict was written yet.", class_="missing")
        return
    yield element(
        "div", prose(verdict.text), element("p", f"Written {_day(verdict.saved_at)}", class_="when"), class_="own"
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
                text_of(run.task),
                _checkpoint(run),
                element("b", speed_values(run)["end_to_end_tps"]),
                text_of(outcome(run)),
            )
            for run in cited
        ],
        "cited",
    )
    if any(run.practice for run in cited):
        yield element("p", element("b", "Practice. ", class_="practice"), PRACTICE_NOTE, class_="note")


def _checkpoint(run: Run) -> Html:
    return element("span", label(run), class_="practice" if run.practice else None)


def _details(artifact: Artifact, picture_of: Picture) -> Iterator[Html]:
    yield from _runs(artifact)
    yield from _source_check(artifact)
    yield from _misconceptions(artifact)
    yield from _predictions(artifact)
    yield from _recall(artifact)
    yield from _gates(artifact)
    yield from _studio(artifact)
    yield from _notes(artifact)
    yield from _editor_notes(artifact)
    yield from _sources(artifact)
    yield from _answers(artifact, picture_of)


def _runs(artifact: Artifact) -> Iterator[Html]:
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
                    element("span", text_of(f"{run.task}{', warm-up' if run.warmup else ''}"), " · ", _checkpoint(run)),
                    cited,
                ),
                *(text_of(values[key]) for key in SPEED_COLUMNS),
                text_of(outcome(run)),
            )
        )
    yield table(("Run", *(LABELS[key] for key in SPEED_COLUMNS), "Answer"), rows, "runs")
    if len(runs) > len(shown):
        yield element("p", left_out_words(len(runs) - len(shown)))


def _source_check(artifact: Artifact) -> Iterator[Html]:
    if not artifact.source_check:
        return
    yield element("h2", "Source check")
    yield table(
        ("Timestamp", "Claim", "What the demo proves", "Confidence", "What still needs verification"),
        [
            (
                link(row.timestamp, row.url),
                joined(element("b", text_of(row.anchor.title)), ": “", text_of(row.anchor.quote), "”"),
                prose(row.anchor.proves) or "not stated",
                prose(row.confidence) if row.confidence else element("span", "not judged yet", class_="missing"),
                joined(
                    prose(f"Not proved: {row.anchor.does_not_prove}") if row.anchor.does_not_prove.strip() else None,
                    prose(row.anchor.to_verify),
                )
                or "not stated",
            )
            for row in artifact.source_check
        ],
        "source-check",
    )
    yield element(
        "p", "Claims are the words of the source, unchanged. Nothing in this table was measured here.", class_="note"
    )


def _misconceptions(artifact: Artifact) -> Iterator[Html]:
    if artifact.misconceptions:
        yield element("h2", "Misconceptions")
        yield from (_misconception(believed) for believed in artifact.misconceptions)


def _misconception(believed: Believed) -> Html:
    guess = believed.guess
    said = "not asked yet"
    if guess is not None:
        said = f"before I was told, I said {'true' if guess.believed else 'false'}"
    return element(
        "article",
        element("p", element("b", text_of(believed.misconception.claim)), f" ({said})"),
        element("div", prose(guess.why), class_="own") if guess is not None and guess.why.strip() else None,
        prose(believed.misconception.correction) if guess is not None else None,
    )


def _predictions(artifact: Artifact) -> Iterator[Html]:
    if artifact.predictions:
        yield element("h2", "Predictions")
        yield element("p", "Each was written down before the number was told.", class_="note")
        yield table(
            ("What", "Predicted", "Seen", "So"),
            [tuple(text_of(words) for words in prediction_row(one)) for one in artifact.predictions],
            "predictions",
        )


def _recall(artifact: Artifact) -> Iterator[Html]:
    if artifact.recall:
        yield element("h2", "Recall")
        yield from (element("article", *_recalled(recalled)) for recalled in artifact.recall)


def _recalled(recalled: Recalled) -> Iterator[Html]:
    yield element("p", element("b", text_of(recalled.item.question)))
    answer = recalled.answer
    if answer is None:
        yield element("p", "Not answered yet.", class_="missing")
        return
    facts = [f"Answered {_day(answer.answered_at)}", f"graded {answer.grade}" if answer.grade else "not graded yet"]
    if recalled.due_on is not None:
        facts.append(f"again on {recalled.due_on}")
    if recalled.changed_since:
        facts.append("the question was reworded since")
    yield element("div", prose(answer.answer), element("p", ", ".join(facts), class_="when"), class_="own")
    if recalled.item.points:
        yield element("p", "A good answer says:")
        yield element("ul", *(element("li", text_of(point)) for point in recalled.item.points))
    elif recalled.item.answer.strip():
        yield element("p", "A good answer says:")
        yield prose(recalled.item.answer)


def _gates(artifact: Artifact) -> Iterator[Html]:
    if artifact.gates:
        yield element("h2", "Gates")
        yield element(
            "p", f"{artifact.gates_met} of {len(artifact.gates)} met. The lesson counts as learned when all are."
        )
        yield from (_gate(standing) for standing in artifact.gates)


def _gate(standing: GateStanding) -> Html:
    parts = [element("p", "● " if standing.met else "○ ", element("b", text_of(standing.gate.title)))]
    parts += [element("p", "Open: ", text_of(missing)) for missing in standing.missing]
    if (evidence := standing.evidence) is not None:
        saved = element("p", _day(evidence.saved_at), class_="when")
        parts.append(element("div", prose(evidence.evidence), saved, class_="own"))
    return element("article", *parts)


def _studio(artifact: Artifact) -> Iterator[Html]:
    if artifact.lesson.practice:
        yield element("h2", "Practice studio")
        yield from (element("article", *_piece(artifact, piece)) for piece in artifact.lesson.practice)


def _piece(artifact: Artifact, piece: PracticePiece) -> Iterator[Html]:
    yield element("p", element("b", text_of(piece.title)), ". Done when: ", prose_line(piece.done_signal))
    for noted in artifact.notes:
        if noted.note.step == f"practice/{piece.id}":
            kept = noted.note.text
            # A piece of the studio lives from its lines and indentation, a free text from its Markdown.
            shown = prose(kept) if piece_of(kept) is None else verbatim(made_text(kept))
            yield element("div", shown, element("p", _day(noted.note.saved_at), class_="when"), class_="own")


def _notes(artifact: Artifact) -> Iterator[Html]:
    notes = artifact.other_notes
    if notes:
        yield element("h2", "My notes")
        for noted in notes:
            yield element(
                "article",
                element("p", element("b", text_of(noted.title))),
                element(
                    "div", prose(noted.note.text), element("p", _day(noted.note.saved_at), class_="when"), class_="own"
                ),
            )


def _editor_notes(artifact: Artifact) -> Iterator[Html]:
    if artifact.lesson.notes:
        yield element("h2", "Editor’s notes")
        for note in artifact.lesson.notes:
            yield element("article", prose(note.body), element("p", "Source: ", prose_line(note.source), class_="when"))


def _sources(artifact: Artifact) -> Iterator[Html]:
    if artifact.lesson.sources:
        yield element("h2", "Source shelf")
        yield element(
            "ul",
            *(
                element(
                    "li", link(source.title, source.url), ": " if source.note.strip() else "", prose_line(source.note)
                )
                for source in artifact.lesson.sources
            ),
            class_="shelf",
        )


def _answers(artifact: Artifact, picture_of: Picture) -> Iterator[Html]:
    runs = artifact.answers_shown
    if not runs:
        return
    yield element("h2", "Answers of the model")
    yield element("p", "As they came, as text. Do not run what you have not read.", class_="note")
    for run in runs:
        yield element("article", *_answer(run, picture_of), class_="answer")


def _answer(run: Run, picture_of: Picture) -> Iterator[Html]:
    yield element("p", element("code", run.id), f" · {run.task} · ", _checkpoint(run))
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


def _foot(artifact: Artifact) -> Html:
    lesson = artifact.lesson
    return element(
        "footer",
        f"Made on {artifact.made_at:%Y-%m-%d %H:%M} UTC by {artifact.made_by} from lesson ",
        element("code", lesson.id),
        f", version {lesson.version}. {MARK}.",
    )


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
