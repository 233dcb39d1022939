"""Recall questions and misconceptions as Anki notes: a package (.apkg), and the text form that any Anki can import.

A note's GUID is made of the lesson's id and the item's id alone, so an edited text changes the note that is there,
and another export adds none. The models' and decks' numbers are fixed for the same reason.
"""

from __future__ import annotations

import csv
import hashlib
import io
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import genanki

from labtui.artifacts.document import Artifact
from labtui.artifacts.html_text import Html, element, joined, link, prose, text_of
from labtui.artifacts.markdown import MARK
from lessons.model import Lesson, Misconception, RecallItem
from lessons.times import anchor_url, clock

MODEL_ID = 1_719_436_201
FIELDS = ("Question", "Answer", "Source", "Id")
FRONT = "{{Question}}"
BACK = '{{FrontSide}}<hr id="answer">{{Answer}}<p class="source">{{Source}}</p>'
STYLE = """
.card { font-family: sans-serif; font-size: 20px; text-align: left; max-width: 34em; margin: 0 auto; }
.source { color: gray; font-size: 15px; }
ul { padding-left: 1.2em; }
"""


@dataclass(frozen=True, slots=True)
class Card:
    """One note. id: such as "diffusiongemma/recall/tradeoff"; it never changes with the text."""

    id: str
    question: Html
    answer: Html
    source: Html
    kind: str

    @property
    def guid(self) -> str:
        return str(genanki.guid_for("labtui", self.id))

    @property
    def fields(self) -> tuple[str, str, str, str]:
        return str(self.question), str(self.answer), str(self.source), str(text_of(self.id))


def cards(lesson: Lesson) -> tuple[Card, ...]:
    return (
        *(_recall(lesson, item) for item in lesson.recall),
        *(_misconception(lesson, one) for one in lesson.misconceptions),
    )


def to_apkg(artifact: Artifact) -> bytes:
    lesson = artifact.lesson
    model = genanki.Model(
        MODEL_ID,
        "labtui",
        fields=[{"name": name} for name in FIELDS],
        templates=[{"name": "Recall", "qfmt": FRONT, "afmt": BACK}],
        css=STYLE,
        sort_field_index=FIELDS.index("Id"),
    )
    deck = genanki.Deck(_deck_id(lesson), _deck_name(lesson), str(prose(lesson.summary)))
    for card in cards(lesson):
        deck.add_note(genanki.Note(model, list(card.fields), guid=card.guid, tags=_tags(lesson, card)))
    with tempfile.TemporaryDirectory(prefix="labtui-") as folder:
        path = Path(folder) / "deck.apkg"
        genanki.Package(deck).write_to_file(str(path), timestamp=artifact.made_at.timestamp())
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = MARK.encode("ascii")
        return path.read_bytes()


def to_anki_text(artifact: Artifact) -> str:
    """Tab-separated, with Anki's header lines (https://docs.ankiweb.net/importing/text-files.html).

    Fields: GUID, front, back, tags. Anki finds a note again by its GUID.
    """
    lesson = artifact.lesson
    written = io.StringIO()
    written.write(f"#separator:tab\n#html:true\n#notetype:Basic\n#deck:{_deck_name(lesson)}\n")
    written.write("#guid column:1\n#tags column:4\n#columns:GUID\tFront\tBack\tTags\n")
    written.write(f"# {MARK}.\n")
    # All in quotes: a GUID may begin with #, and such a line would be a remark.
    rows = csv.writer(written, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
    for card in cards(lesson):
        back = joined(card.answer, element("p", card.source) if card.source else None)
        rows.writerow([card.guid, _one_line(card.question), _one_line(back), " ".join(_tags(lesson, card))])
    return written.getvalue()


def _recall(lesson: Lesson, item: RecallItem) -> Card:
    points = element("ul", *(element("li", text_of(point)) for point in item.points)) if item.points else None
    answer = joined(points, prose(item.answer))
    return Card(
        f"{lesson.id}/recall/{item.id}",
        text_of(item.question),
        answer or text_of("The lesson leaves this one open: its source does not answer it."),
        _source(lesson, item.anchors),
        "recall",
    )


def _misconception(lesson: Lesson, one: Misconception) -> Card:
    why = joined(element("p", element("b", "What makes it tempting")), prose(one.why)) if one.why.strip() else None
    return Card(
        f"{lesson.id}/misconception/{one.id}",
        joined("True or false, and why? ", element("i", text_of(one.claim))),
        joined(prose(one.correction), why),
        _source(lesson, one.anchors),
        "misconception",
    )


def _source(lesson: Lesson, anchor_ids: tuple[str, ...]) -> Html:
    return joined(element("span", one) for one in _places(lesson, anchor_ids))


def _places(lesson: Lesson, anchor_ids: tuple[str, ...]) -> Iterator[Html]:
    for anchor in lesson.anchors:
        if anchor.id in anchor_ids:
            address = anchor_url(lesson.video.url, anchor.start_s) if lesson.video.url else None
            yield joined(link(clock(anchor.start_s), address), " “", text_of(anchor.quote), "” ")


def _tags(lesson: Lesson, card: Card) -> list[str]:
    return ["labtui", f"labtui::{lesson.id}", f"labtui::{card.kind}"]


def _deck_name(lesson: Lesson) -> str:
    """Anki parts sub-decks by ::, so a title may hold none of its own."""
    return f"labtui::{' '.join(lesson.title.replace('::', ':').split())}"


def _deck_id(lesson: Lesson) -> int:
    """The same number for a lesson for ever, in the range that Anki uses."""
    digest = hashlib.sha256(f"labtui/{lesson.id}".encode()).digest()
    return (1 << 30) + int.from_bytes(digest[:4], "big") % (1 << 30)


def _one_line(html: Html) -> str:
    return " ".join(str(html).split())
