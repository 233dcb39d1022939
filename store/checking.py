from __future__ import annotations

import json

from sqlite_utils import Database

JSON_COLUMNS = {
    "runs": ("id", "document"),
    "sweeps": ("id", "document"),
    "verdicts": ("id", "runs"),
    "recall_grades": ("id", "card"),
    "launches": ("id", "memory"),
}


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
    return faults
