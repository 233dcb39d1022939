"""Merging a progress file into a store. The rules are told in docs/progress-files.md; each is one function here."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from exercises.run_json import run_from_json
from store import moments
from store.progress_sections import (
    ANSWERS,
    GRADES,
    HISTORIES,
    JUDGEMENTS,
    PAIRS,
    RUNS,
    STATES,
    SWEEPS,
    VERDICTS,
    Section,
    not_a_progress_file,
)
from store.runs import row_of_run
from store.scheduling import Review, review

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """One answer of a file with every grade that it ever got."""

    answer: Row
    grades: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class ProgressEntries:
    """A progress file that was read and found sound. rows: by the name of the section."""

    runs: tuple[Row, ...]
    sweeps: tuple[Row, ...]
    answers: tuple[AnswerEntry, ...]
    rows: Mapping[str, tuple[Row, ...]]


@dataclass(frozen=True, slots=True)
class Merged:
    """How many entries of each section were added, changed something that was here, or were here already."""

    added: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    changed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    already: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def merge(db: Database, entries: ProgressEntries) -> Merged:
    """Call it inside a write transaction. Merging the same file again changes nothing."""
    _refuse_what_is_missing(db, entries)
    merged = Merged()
    _merge_runs(db, entries.runs, merged)
    _merge_sweeps(db, entries.sweeps, merged)
    _merge_pairs(db, entries.rows[PAIRS.name], merged)
    _merge_judgements(db, entries.rows[JUDGEMENTS.name], merged)
    for section in HISTORIES:
        _merge_history(db, section, entries.rows[section.name], merged)
    for section in STATES:
        _merge_states(db, section, entries.rows[section.name], merged)
    _merge_answers(db, entries.answers, merged)
    return merged


def _refuse_what_is_missing(db: Database, entries: ProgressEntries) -> None:
    """What an entry refers to must be in the file or here. Raises StoreError (exit code 2)."""
    runs = {row[0] for row in db.execute("SELECT id FROM runs")} | {document["id"] for document in entries.runs}
    pairs = {row[0] for row in db.execute("SELECT id FROM pairs")} | {row["id"] for row in entries.rows[PAIRS.name]}
    wanted = [
        *((run, "a verdict") for row in entries.rows[VERDICTS.name] for run in json.loads(row["runs"])),
        *((row[side], f"pair {row['id']}") for row in entries.rows[PAIRS.name] for side in ("left_run", "right_run")),
    ]
    for run, user in wanted:
        if run not in runs:
            raise not_a_progress_file(f"{user} cites run {run}, which is neither in the file nor in this store")
    for row in entries.rows[JUDGEMENTS.name]:
        if row["pair"] not in pairs:
            raise not_a_progress_file(f"a judgement is about pair {row['pair']}, which is nowhere")


def _merge_runs(db: Database, documents: Sequence[Row], merged: Merged) -> None:
    """A run is what was measured: the one that is here stays as it is."""
    here = {row[0] for row in db.execute("SELECT id FROM runs")}
    for document in documents:
        if document["id"] in here:
            merged.already[RUNS.name] += 1
            continue
        here.add(document["id"])
        _insert(db, RUNS.table, row_of_run(run_from_json(document), document))
        merged.added[RUNS.name] += 1


def _merge_sweeps(db: Database, documents: Sequence[Row], merged: Merged) -> None:
    """Of one sweep the copy with more points is the later one."""
    here = {row[0]: len(json.loads(row[1])["points"]) for row in db.execute("SELECT id, document FROM sweeps")}
    for document in documents:
        sweep_id, points = document["id"], len(document["points"])
        if points <= here.get(sweep_id, -1):
            merged.already[SWEEPS.name] += 1
            continue
        (merged.changed if sweep_id in here else merged.added)[SWEEPS.name] += 1
        here[sweep_id] = points
        row = {key: document[key] for key in ("id", "axis", "checkpoint", "practice")}
        row["started_at"] = moments.to_text(moments.from_text(document["started_at"]))
        row["document"] = json.dumps(document, allow_nan=False)
        _insert(db, SWEEPS.table, row, "INSERT OR REPLACE")


def _merge_pairs(db: Database, rows: Sequence[Row], merged: Merged) -> None:
    here = {row[0] for row in db.execute("SELECT id FROM pairs")}
    for row in rows:
        if row["id"] in here:
            merged.already[PAIRS.name] += 1
            continue
        here.add(row["id"])
        _insert(db, PAIRS.table, row)
        merged.added[PAIRS.name] += 1


def _merge_judgements(db: Database, rows: Sequence[Row], merged: Merged) -> None:
    """Where a pair was judged blind on two machines, the first of the two stays the blind one."""
    section = JUDGEMENTS
    identity = [column for column in section.columns if column != "blind"]
    here = {tuple(row) for row in db.execute(f"SELECT {', '.join(identity)} FROM judgements")}
    for row in rows:
        if tuple(row[column] for column in identity) in here:
            merged.already[section.name] += 1
            continue
        if row["blind"]:
            blind = db.execute("SELECT id, judged_at FROM judgements WHERE pair = ? AND blind = 1", [row["pair"]])
            other = blind.fetchone()
            if other is not None and other[1] <= row["judged_at"]:
                row = {**row, "blind": 0}
            elif other is not None:
                db.execute("UPDATE judgements SET blind = 0 WHERE id = ?", [other[0]])
                merged.changed[section.name] += 1
        _insert(db, section.table, row)
        merged.added[section.name] += 1


def _merge_history(db: Database, section: Section, rows: Sequence[Row], merged: Merged) -> None:
    """Nothing is lost on either side: a row is added as often as it stands in the file more than here."""
    columns = list(section.columns)
    left: dict[tuple[Any, ...], int] = defaultdict(int)
    for found in db.execute(f"SELECT {', '.join(columns)} FROM {section.table}"):
        left[tuple(found)] += 1
    for row in rows:
        values = tuple(row[column] for column in columns)
        if left[values]:
            left[values] -= 1
            merged.already[section.name] += 1
        else:
            _insert(db, section.table, row)
            merged.added[section.name] += 1


def _merge_states(db: Database, section: Section, rows: Sequence[Row], merged: Merged) -> None:
    """The newest state counts; of two from the same moment the one that sorts last, on whichever side it is."""
    columns = list(section.columns)
    rank = [section.newest, *(column for column in columns if column != section.newest)]
    here = {
        tuple(row[column] for column in section.key): row
        for row in (
            dict(zip(columns, found, strict=True))
            for found in db.execute(f"SELECT {', '.join(columns)} FROM {section.table}").fetchall()
        )
    }
    for row in rows:
        key = tuple(row[column] for column in section.key)
        present = here.get(key)
        if present is not None and [present[column] for column in rank] >= [row[column] for column in rank]:
            merged.already[section.name] += 1
            continue
        (merged.added if present is None else merged.changed)[section.name] += 1
        here[key] = dict(row)
        _insert(db, section.table, row, "INSERT OR REPLACE")


def _merge_answers(db: Database, entries: Sequence[AnswerEntry], merged: Merged) -> None:
    """Answers and grades of both sides are kept; what was undone on one side is undone; an answer that was graded on
    both counts as it was graded last. Where both sides have graded an item, its day is computed again from all grades
    in the order of their times, as if they had been given on one machine."""
    counting_before = _counting(db)
    left: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    columns = list(ANSWERS.columns)
    for found in db.execute(f"SELECT id, {', '.join(columns)} FROM recall_answers ORDER BY id"):
        left[tuple(found[1:])].append(found[0])
    for entry in entries:
        same = left[tuple(entry.answer[column] for column in columns)]
        if same:
            answer_id = same.pop(0)
            changed = _merge_grades(db, entry, answer_id)
            (merged.changed if changed else merged.already)[ANSWERS.name] += 1
        else:
            answer_id = _insert(db, ANSWERS.table, entry.answer)
            _merge_grades(db, entry, answer_id)
            merged.added[ANSWERS.name] += 1
    in_file = _counting_in(entries)
    for item, grades in _counting(db).items():
        before = counting_before.get(item, [])
        if grades != before and (before or grades != in_file[item]):
            _compute_days(db, *item)


def _merge_grades(db: Database, entry: AnswerEntry, answer_id: int) -> bool:
    """Whether anything was added or undone."""
    columns = list(GRADES.columns)
    here = [
        dict(zip(["id", *columns], found, strict=True))
        for found in db.execute(
            f"SELECT id, {', '.join(columns)} FROM recall_grades WHERE answer_id = ? ORDER BY id", [answer_id]
        ).fetchall()
    ]
    before = [dict(row) for row in here]
    unmatched = list(here)
    for grade in entry.grades:
        twin = next((row for row in unmatched if _is_same_grade(row, grade)), None)
        if twin is None:
            here.append({"id": None, **grade})
            continue
        unmatched.remove(twin)
        undone = [at for at in (twin["undone_at"], grade["undone_at"]) if at is not None]
        twin["undone_at"] = min(undone, default=None)
    counting = sorted(
        (row for row in here if row["undone_at"] is None), key=lambda row: (row["graded_at"], row["grade"])
    )
    for replaced in counting[:-1]:
        replaced["undone_at"] = counting[-1]["graded_at"]
    known = {row["id"]: row for row in before}
    for row in here:
        if row["id"] is not None and row != known[row["id"]]:
            db.execute("UPDATE recall_grades SET undone_at = ? WHERE id = ?", [row["undone_at"], row["id"]])
    for row in here:
        if row["id"] is None:
            place = {"answer_id": answer_id, "lesson": entry.answer["lesson"], "item": entry.answer["item"]}
            _insert(db, GRADES.table, {**place, **{column: row[column] for column in columns}})
    return here != before


def _is_same_grade(one: Row, other: Row) -> bool:
    return (one["grade"], one["graded_at"]) == (other["grade"], other["graded_at"])


def _counting(db: Database) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """For each item the grades that count, in the order of their times."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for lesson, item, graded_at, grade in db.execute(
        "SELECT lesson, item, graded_at, grade FROM recall_grades WHERE undone_at IS NULL ORDER BY graded_at, id"
    ):
        found[lesson, item].append((graded_at, grade))
    return found


def _counting_in(entries: Sequence[AnswerEntry]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for entry in entries:
        found[entry.answer["lesson"], entry.answer["item"]] += [
            (grade["graded_at"], grade["grade"]) for grade in entry.grades if grade["undone_at"] is None
        ]
    return defaultdict(list, {item: sorted(grades) for item, grades in found.items()})


def _compute_days(db: Database, lesson_id: str, item_id: str) -> None:
    rows = db.execute(
        "SELECT id, grade, graded_at, utc_offset_s FROM recall_grades "
        "WHERE lesson = ? AND item = ? AND undone_at IS NULL ORDER BY graded_at, id",
        [lesson_id, item_id],
    ).fetchall()
    reviewed: Review | None = None
    for grade_id, grade, graded_at, utc_offset_s in rows:
        reviewed = review(reviewed, grade, moments.from_text(graded_at), utc_offset_s)
        db.execute(
            "UPDATE recall_grades SET due_at = ?, card = ? WHERE id = ?",
            [moments.to_text(reviewed.due_at), reviewed.card, grade_id],
        )


def _insert(db: Database, table: str, row: Row, verb: str = "INSERT") -> int:
    """Plain SQL: a progress file may have thousands of rows. Returns the row's number."""
    places = ", ".join("?" for _ in row)
    cursor = db.execute(f"{verb} INTO {table} ({', '.join(row)}) VALUES ({places})", list(row.values()))
    return int(cursor.lastrowid or 0)
