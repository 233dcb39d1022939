"""What a lesson asks and what the person wrote to it, as HTML."""

from __future__ import annotations

from collections.abc import Iterator

from labtui.artifacts.document import Artifact, Believed, GateStanding, Recalled
from labtui.artifacts.html_text import Html, day, element, joined, link, prose, prose_line, table, text_of, verbatim
from labtui.artifacts.made_pieces import made_text, piece_of
from labtui.artifacts.prediction_row import prediction_row
from lessons.model import PracticePiece


def source_check(artifact: Artifact) -> Iterator[Html]:
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


def misconceptions(artifact: Artifact) -> Iterator[Html]:
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


def predictions(artifact: Artifact) -> Iterator[Html]:
    if artifact.predictions:
        yield element("h2", "Predictions")
        yield element("p", "Each was written down before the number was told.", class_="note")
        yield table(
            ("What", "Predicted", "Seen", "So"),
            [tuple(text_of(words) for words in prediction_row(one)) for one in artifact.predictions],
            "predictions",
        )


def recall(artifact: Artifact) -> Iterator[Html]:
    if artifact.recall:
        yield element("h2", "Recall")
        yield from (element("article", *_recalled(recalled)) for recalled in artifact.recall)


def _recalled(recalled: Recalled) -> Iterator[Html]:
    yield element("p", element("b", text_of(recalled.item.question)))
    answer = recalled.answer
    if answer is None:
        yield element("p", "Not answered yet.", class_="missing")
        return
    facts = [f"Answered {day(answer.answered_at)}", f"graded {answer.grade}" if answer.grade else "not graded yet"]
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


def gates(artifact: Artifact) -> Iterator[Html]:
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
        saved = element("p", day(evidence.saved_at), class_="when")
        parts.append(element("div", prose(evidence.evidence), saved, class_="own"))
    return element("article", *parts)


def studio(artifact: Artifact) -> Iterator[Html]:
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
            yield element("div", shown, element("p", day(noted.note.saved_at), class_="when"), class_="own")


def notes(artifact: Artifact) -> Iterator[Html]:
    notes = artifact.other_notes
    if notes:
        yield element("h2", "My notes")
        for noted in notes:
            yield element(
                "article",
                element("p", element("b", text_of(noted.title))),
                element(
                    "div", prose(noted.note.text), element("p", day(noted.note.saved_at), class_="when"), class_="own"
                ),
            )


def editor_notes(artifact: Artifact) -> Iterator[Html]:
    if artifact.lesson.notes:
        yield element("h2", "Editor’s notes")
        for note in artifact.lesson.notes:
            yield element("article", prose(note.body), element("p", "Source: ", prose_line(note.source), class_="when"))


def sources(artifact: Artifact) -> Iterator[Html]:
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
