"""What a progress file holds, section by section, and what an entry of each must look like.

Every table of the store is named here, in a section or as left out, so that a new one is not forgotten.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from exercises.errors import ExerciseError
from exercises.run_json import run_from_json
from exercises.speed import speed_lines
from store import moments
from store.errors import StoreError
from store.judgements import CHOICES, WITHDRAWN
from store.redaction import without_secrets
from store.runs import numbers_not_proved, row_of_run
from store.scheduling import RATINGS, is_card
from store.texts import storable

LEFT_OUT = {
    "launches": "server processes of this machine",
}

MACHINE_DRAFTS = ("ask-at/", "export-folder/", "scroll/", "serve-")
"""Drafts whose keys begin so are settings of this machine, such as a folder or the address of a server."""

LONGEST_OFFSET_S = 24 * 60 * 60


class EntryFault(ValueError):
    """What is wrong with one value, to be said with its place."""


Reader = Callable[[Any], Any]
"""From a value of the file to one for the database. Raises EntryFault."""


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise EntryFault(f"must be a text, not {_shown(value)}")
    return storable(value)


def name(value: Any) -> str:
    if not text(value).strip():
        raise EntryFault("is empty")
    return text(value)


def optional(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def one_of(words: Mapping[str, Any] | tuple[str, ...]) -> Reader:
    def read(value: Any) -> str:
        if value not in tuple(words):
            raise EntryFault(f"must be one of {', '.join(words)}, not {_shown(value)}")
        return str(value)

    return read


def flag(value: Any) -> int:
    if not isinstance(value, bool):
        raise EntryFault(f"must be true or false, not {_shown(value)}")
    return int(value)


def moment(value: Any) -> str:
    """A time with its offset, as text in UTC of the store's one width."""
    if isinstance(value, str):
        try:
            read = datetime.fromisoformat(value)
            if read.tzinfo is not None and 1970 <= read.year <= 9000:
                return moments.to_text(read)
        except (ValueError, OverflowError):
            pass
    raise EntryFault(f"must be a time with its offset, such as 2026-11-30T21:15:30+00:00, not {_shown(value)}")


def offset(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= LONGEST_OFFSET_S:
        raise EntryFault(f"must be an offset from UTC in seconds, not {_shown(value)}")
    return value


def texts(value: Any) -> str:
    """A list of texts, as JSON."""
    if not isinstance(value, list):
        raise EntryFault(f"must be a list of texts, not {_shown(value)}")
    return json.dumps([text(one) for one in value])


def card(value: Any) -> str:
    try:
        written = json.dumps(value, allow_nan=False)
    except ValueError:
        written = ""
    if not is_card(written):
        raise EntryFault("is not a state of the recall schedule (FSRS)")
    return written


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the file and its table.

    columns: each with what reads it. key: the columns that say that two entries are about the same thing, where the
    newest by `newest` counts; empty where all rows are history and stay side by side. absent: what a column is read
    as in a file that was written before there was the column.
    """

    name: str
    table: str
    columns: Mapping[str, Reader]
    key: tuple[str, ...] = ()
    newest: str = ""
    absent: Mapping[str, Any] = field(default_factory=dict)


VERDICTS = Section("verdicts", "verdicts", {"lesson": name, "text": text, "runs": texts, "saved_at": moment})
HISTORIES = (
    VERDICTS,
    Section(
        "guesses",
        "guesses",
        {"lesson": name, "misconception": name, "believed": flag, "why": text, "saved_at": moment},
    ),
    Section("gates", "gate_evidence", {"lesson": name, "gate": name, "evidence": text, "saved_at": moment}),
    Section("notes", "notes", {"lesson": name, "step": name, "text": text, "saved_at": moment}),
)
STATES = (
    Section(
        "steps",
        "steps",
        {"lesson": name, "step": name, "done": flag, "changed_at": moment, "fingerprint": text},
        ("lesson", "step"),
        "changed_at",
        {"fingerprint": ""},
    ),
    Section("positions", "positions", {"lesson": name, "step": name, "changed_at": moment}, ("lesson",), "changed_at"),
    Section("drafts", "drafts", {"key": name, "text": text, "changed_at": moment}, ("key",), "changed_at"),
)
PAIRS = Section("pairs", "pairs", {"id": name, "task": name, "left_run": name, "right_run": name, "made_at": moment})
JUDGEMENTS = Section(
    "judgements",
    "judgements",
    {"pair": name, "choice": one_of((*CHOICES, WITHDRAWN)), "why": text, "blind": flag, "judged_at": moment},
)
ANSWERS = Section(
    "recall",
    "recall_answers",
    {"lesson": name, "item": name, "answer": text, "item_hash": text, "answered_at": moment},
)
GRADES = Section(
    "grades",
    "recall_grades",
    {
        "grade": one_of(RATINGS),
        "graded_at": moment,
        "utc_offset_s": offset,
        "due_at": moment,
        "card": card,
        "undone_at": optional(moment),
    },
)
RUNS = Section("runs", "runs", {})
SWEEPS = Section("sweeps", "sweeps", {})

SECTIONS = (RUNS, SWEEPS, PAIRS, JUDGEMENTS, *HISTORIES, ANSWERS, *STATES)


def not_a_progress_file(cause: str) -> StoreError:
    return StoreError(
        "The progress was not imported",
        f"{cause}. Nothing was changed",
        "Give a file that labtui progress export wrote.",
        exit_code=2,
    )


def run_document(value: Any) -> dict[str, Any]:
    """A run as the file has it, proved to be one, without secrets."""
    try:
        run = run_from_json(value)
        speed_lines(run.speed)
        moment(run.started_at)
        optional(text)(run.trial)
        optional(text)(run.invalid_reason)
        for fact in run.check.facts:
            name(fact.name)
            flag(fact.passed)
            text(fact.detail)
        flag(run.check.passed)
        kept = {**value, "evidence": without_secrets(value["evidence"])}
        _is_storable(row_of_run(run, kept))
        unproved = numbers_not_proved(run)
    except ExerciseError as error:
        raise EntryFault(error.cause) from None
    except EntryFault as fault:
        raise EntryFault(f"holds a value that {fault}") from None
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise EntryFault(f"holds a number that is none: {error}") from None
    if not run.id.strip() or not run.task.strip():
        raise EntryFault("has no id or no task")
    if unproved:
        raise EntryFault(f"has numbers that its chunks do not give: {', '.join(unproved)}")
    return kept


def sweep_document(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise EntryFault("is no JSON object")
    for key, reader in {"id": name, "axis": name, "checkpoint": name, "practice": flag, "started_at": moment}.items():
        _read_key(value, key, reader)
    if not isinstance(value.get("points"), list):
        raise EntryFault("has no list of points")
    kept: dict[str, Any] = without_secrets(value)
    try:
        json.dumps(kept, allow_nan=False)
        _is_storable({key: kept[key] for key in ("id", "axis", "checkpoint")})
    except ValueError as error:
        raise EntryFault(f"holds a value that is none: {error}") from None
    return kept


def row_of(section: Section, entry: Any) -> dict[str, Any]:
    """The entry as a row of its table. Keys that are unknown here are left. Raises EntryFault."""
    if not isinstance(entry, dict):
        raise EntryFault("is no JSON object")
    entry = {**section.absent, **entry}
    return {column: _read_key(entry, column, reader) for column, reader in section.columns.items()}


def entry_of(section: Section, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as an entry of the file."""
    return {column: _as_json(section.columns[column], row[column]) for column in section.columns}


def is_of_this_machine(draft_key: str) -> bool:
    return draft_key.startswith(MACHINE_DRAFTS)


def _is_storable(row: Mapping[str, Any]) -> None:
    """Raises UnicodeEncodeError, a ValueError, for half characters, which SQLite does not take."""
    for value in row.values():
        if isinstance(value, str):
            value.encode("utf-8")


def _read_key(entry: Mapping[str, Any], key: str, reader: Reader) -> Any:
    if key not in entry:
        raise EntryFault(f"has no {key}")
    try:
        return reader(entry[key])
    except EntryFault as fault:
        raise EntryFault(f"{key} {fault}") from None


def _as_json(reader: Reader, value: Any) -> Any:
    if reader is flag:
        return bool(value)
    if reader in (texts, card):
        return json.loads(value)
    return value


def _shown(value: Any) -> str:
    words = json.dumps(value, default=str) if not isinstance(value, float) or math.isfinite(value) else str(value)
    return words if len(words) <= 60 else f"{words[:59]}…"
