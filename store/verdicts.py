from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from store import moments
from store.connection import Connection
from store.errors import StoreError
from store.runs import Runs
from store.texts import storable

COLUMNS = "id, lesson, text, runs, saved_at"


@dataclass(frozen=True, slots=True)
class Verdict:
    """runs: the full ids of the runs that it cites."""

    id: int
    lesson: str
    text: str
    runs: tuple[str, ...]
    saved_at: datetime


class Verdicts:
    def __init__(self, connection: Connection, runs: Runs) -> None:
        self._connection = connection
        self._runs = runs

    def save(self, lesson_id: str, text: str, run_ids: Iterable[str] = ()) -> Verdict:
        """Keeps the verdict beside the earlier ones. Raises StoreError (exit code 2) for no text or unknown runs."""
        if not text.strip():
            raise StoreError("The verdict is empty", "there is no text in it", "Write a sentence or two.", exit_code=2)
        with self._connection.writing() as db:
            cited = tuple(dict.fromkeys(self._runs.resolve(run_id) for run_id in run_ids))
            (newest,) = db.execute("SELECT max(saved_at) FROM verdicts WHERE lesson = ?", [lesson_id]).fetchone()
            saved_at = moments.not_before(moments.now(), newest)
            row = {
                "lesson": lesson_id,
                "text": storable(text),
                "runs": json.dumps(cited),
                "saved_at": moments.to_text(saved_at),
            }
            verdict_id = db.table("verdicts").insert(row).last_pk
        return Verdict(cast(int, verdict_id), lesson_id, row["text"], cited, saved_at)

    def latest(self, lesson_id: str) -> Verdict | None:
        history = self._select(lesson_id, limit=1)
        return history[0] if history else None

    def history(self, lesson_id: str) -> list[Verdict]:
        """Newest first."""
        return self._select(lesson_id, limit=-1)

    def _select(self, lesson_id: str, limit: int) -> list[Verdict]:
        with self._connection.reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM verdicts WHERE lesson = ? ORDER BY saved_at DESC, id DESC LIMIT ?",
                [lesson_id, limit],
            ).fetchall()
        return [Verdict(row[0], row[1], row[2], tuple(json.loads(row[3])), moments.from_text(row[4])) for row in rows]
