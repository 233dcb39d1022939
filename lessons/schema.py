"""Which tables and keys a lesson file has; tests hold the scaffold and docs/lesson-format.md to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FORMAT_VERSION = 1
OLDEST_FORMAT = 1

Kind = Literal[
    "text",
    "line",
    "id",
    "ids",
    "retired",
    "texts",
    "time",
    "url",
    "lang",
    "count",
    "release",
    "piece",
    "needs",
    "exercise",
]

LENGTH_LIMITS: dict[Kind, int] = {
    "text": 20_000,
    "line": 500,
    "id": 64,
    "url": 2_000,
    "lang": 35,
    "release": 20,
    "exercise": 129,
}
LIST_LIMIT = 200
PIECES = ("evidence-map", "harness-map", "teach-back", "checklist", "transfer", "text")
NEEDS = ("own-words", "citation", "evidence-map", "harness-map", "teach-back", "predictions", "runs", "verdict")
SIZE_LIMIT_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Key:
    """kind: what the value must be. text: Markdown, any number of lines; line: one line; texts: a list of text;
    ids: a list of anchor ids; retired: ids no longer in use; time: "m:ss", "h:mm:ss" or seconds; release: "0.3.1";
    piece: one of PIECES; needs: a list of NEEDS; exercise: "set/exercise", two ids."""

    name: str
    kind: Kind
    required: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """many: written [[name]], any number of times, each with an id of its own.

    step: the first half of its step ids in lessons/walk.py ("deep" in "deep/denoising").
    """

    name: str
    keys: tuple[Key, ...]
    many: bool = True
    required: bool = False
    step: str = ""

    @property
    def heading(self) -> str:
        return f"[[{self.name}]]" if self.many else f"[{self.name}]"


ID = Key("id", "id", required=True)
TITLE = Key("title", "line", required=True)
BODY = Key("body", "text", required=True)
ANCHORS = Key("anchors", "ids")

TOP_KEYS = (
    Key("format_version", "count", required=True),
    Key("needs_labtui", "release"),
    ID,
    TITLE,
    Key("summary", "text", required=True),
    Key("lang", "lang"),
    Key("version", "line"),
    Key("minutes", "count"),
    Key("retired", "retired"),
)

TABLES = (
    Table(
        "video",
        (
            TITLE,
            Key("url", "url"),
            Key("channel", "line"),
            Key("duration", "time"),
            Key("transcript_words", "count"),
            Key("transcript_segments", "count"),
        ),
        many=False,
    ),
    Table(
        "frame",
        tuple(
            Key(name, "text") for name in ("principle", "why", "skill", "watch_for", "thesis", "goal", "lab_question")
        ),
        many=False,
        required=True,
    ),
    Table("card", (ID, Key("stage", "line", required=True), BODY, ANCHORS), step="card"),
    Table(
        "deep_point",
        (ID, TITLE, Key("at", "time"), Key("quote", "text"), BODY, Key("task", "text"), ANCHORS),
        step="deep",
    ),
    Table(
        "anchor",
        (
            ID,
            Key("at", "time", required=True),
            TITLE,
            Key("quote", "text", required=True),
            Key("proves", "text"),
            Key("does_not_prove", "text"),
            Key("to_verify", "text"),
        ),
        step="anchor",
    ),
    Table("example", (ID, TITLE, BODY), step="example"),
    Table("pitfall", (ID, BODY), step="pitfall"),
    Table(
        "misconception",
        (
            ID,
            Key("claim", "line", required=True),
            Key("correction", "text", required=True),
            Key("why", "text"),
            ANCHORS,
        ),
        step="misconception",
    ),
    Table(
        "practice", (ID, TITLE, Key("piece", "piece"), BODY, Key("done_signal", "text", required=True)), step="practice"
    ),
    Table(
        "prediction",
        (ID, TITLE, Key("exercise", "exercise", required=True), BODY, Key("worked", "text")),
        step="predict",
    ),
    Table("lab_task", (ID, Key("task", "id", required=True), TITLE, BODY), step="lab"),
    Table(
        "recall",
        (ID, Key("question", "line", required=True), Key("answer", "text"), Key("points", "texts"), ANCHORS),
        step="recall",
    ),
    Table("gate", (ID, TITLE, Key("needs", "needs"), BODY), step="gate"),
    Table(
        "prompt",
        (
            Key("intro", "text"),
            Key("why", "text"),
            Key("topic", "line"),
            Key("learning_frame", "text"),
            Key("tasks", "texts"),
            Key("includes", "texts"),
            Key("quality_bar", "texts"),
        ),
        many=False,
    ),
    Table("note", (ID, Key("about", "line", required=True), BODY, Key("source", "text", required=True))),
    Table("source", (ID, TITLE, Key("url", "url"), Key("note", "text"))),
)
