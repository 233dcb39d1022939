from __future__ import annotations

import json

from sqlite_utils import Database

from exercises.errors import ExerciseError
from exercises.run_json import run_from_json
from store.errors import StoreError
from store.runs import numbers_not_proved, row_of_run

JSON_COLUMNS = {
    "sweeps": ("id", "document"),
    "verdicts": ("id", "runs"),
    "recall_grades": ("id", "card"),
    "launches": ("id", "memory"),
}

COMPARED = ("id", "task", "task_set", "checkpoint", "practice", "valid", "warmup", "trial", "end_to_end_tps")


def faults_in(db: Database) -> list[str]:
    """What SQLite and the shape of our own rows say; empty if all is sound. Reads only."""
    faults = [str(row[0]) for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    faults += [
        f"row {row[1]} of {row[0]} refers to a row of {row[2]} that is not there"
        for row in db.execute("PRAGMA foreign_key_check")
    ]
    for table, (key, column) in JSON_COLUMNS.items():
        for identity, text in db.execute(f"SELECT {key}, {column} FROM {table}"):
            try:
                json.loads(text)
            except ValueError as error:
                faults.append(f"{column} of {table} {identity} is not JSON: {error}")
    return [*faults, *faults_in_runs(db)]


def faults_in_runs(db: Database) -> list[str]:
    """Runs whose numbers do not follow from their own chunks, or are not those of their columns."""
    faults = []
    for row in db.query("SELECT * FROM runs ORDER BY started_at, id"):
        try:
            document = json.loads(row["document"])
            run = run_from_json(document)
            expected = row_of_run(run, document)
            numbers = numbers_not_proved(run)
        except json.JSONDecodeError as error:
            faults.append(f"run {row['id']} cannot be read, its document is not JSON: {error}")
            continue
        except (ValueError, ExerciseError, StoreError, TypeError, KeyError, AttributeError) as error:
            faults.append(f"run {row['id']} cannot be read: {error}")
            continue
        different = [name for name in COMPARED if row[name] != expected[name]]
        if different:
            faults.append(f"run {row['id']}: its document says otherwise than its columns {', '.join(different)}")
        if numbers:
            faults.append(f"run {row['id']}: its chunks do not give its {', '.join(numbers)}")
    return faults
