from __future__ import annotations

import builtins
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from exercises.errors import ExerciseError
from exercises.records import NotMeasurable, Run
from exercises.run_ids import new_id
from exercises.run_json import recompute, run_from_json, run_to_json
from exercises.speed import speed_to_json
from store import moments
from store.connection import Connection
from store.errors import StoreError
from store.redaction import without_secrets


class Runs:
    """unreadable: ids of the damaged runs that lists had to leave out."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.unreadable: set[str] = set()

    def add(self, run: Run) -> Run:
        """Keeps a run and returns it as it was kept: with an id if it had none, its evidence without secrets."""
        kept = replace(run, evidence=without_secrets(run.evidence))
        with self._connection.writing() as db:
            if kept.id:
                self._refuse_taken(db, kept.id)
            else:
                kept = replace(kept, id=self._free_id(db, kept.started_at))
            db.table("runs").insert(row_of_run(kept))
        return kept

    def get(self, id_or_part: str) -> Run:
        """The run with that id, or with the only id that starts or ends so. Raises StoreError with exit code 2."""
        with self._connection.reading() as db:
            run_id = self.resolve(id_or_part)
            row = db.execute("SELECT id, document FROM runs WHERE id = ?", [run_id]).fetchone()
        return _run(row)

    def resolve(self, id_or_part: str) -> str:
        """The full id. Raises StoreError with exit code 2 where no run, or more than one, is meant."""
        part = id_or_part.strip()
        with self._connection.reading() as db:
            found = [
                row[0]
                for row in db.execute(
                    "SELECT id FROM runs WHERE id = :part OR substr(id, 1, length(:part)) = :part "
                    "OR substr(id, -length(:part)) = :part ORDER BY started_at DESC, id DESC",
                    {"part": part},
                )
            ]
            if part in found:
                return part
            if len(found) == 1 and part:
                return str(found[0])
            latest = db.execute("SELECT id FROM runs ORDER BY started_at DESC, id DESC LIMIT 1").fetchone()
        if found and part:
            raise StoreError(
                "More than one run is meant",
                f"{part} fits {len(found)} runs: {', '.join(found[:5])}{', ...' if len(found) > 5 else ''}",
                "Give more of the id; its last three characters are enough as a rule.",
                exit_code=2,
            )
        raise StoreError(
            "There is no such run",
            f"no run has the id {part or '(empty)'}",
            f"See labtui runs. The newest is {latest[0]}." if latest else "Nothing was run yet: labtui run coding.",
            exit_code=2,
        )

    def list(
        self,
        task: str | None = None,
        limit: int | None = None,
        *,
        checkpoint: str | None = None,
        trial: str | None = None,
    ) -> builtins.list[Run]:
        """Newest first. A run that cannot be read is left out, and named in unreadable."""
        wanted = {"task": task, "checkpoint": checkpoint, "trial": trial}
        where = " AND ".join(f"{column} = :{column}" for column, value in wanted.items() if value is not None) or "1"
        with self._connection.reading() as db:
            rows = db.execute(
                f"SELECT id, document FROM runs WHERE {where} ORDER BY started_at DESC, id DESC LIMIT :limit",
                {**wanted, "limit": -1 if limit is None else limit},
            ).fetchall()
        found = []
        for row in rows:
            try:
                found.append(_run(row))
            except StoreError:
                self.unreadable.add(row[0])
        return found

    def readable(self, ids: Iterable[str]) -> builtins.list[Run]:
        """Those with these ids, in their order. One that cannot be read is left out, and named in unreadable."""
        found = []
        with self._connection.reading() as db:
            for run_id in ids:
                row = db.execute("SELECT id, document FROM runs WHERE id = ?", [run_id]).fetchone()
                try:
                    found += [] if row is None else [_run(row)]
                except StoreError:
                    self.unreadable.add(run_id)
        return found

    def ids(self, *, counting: bool = False) -> builtins.list[str]:
        """Of all runs, newest first. counting: of the valid ones that are no warm-ups."""
        wanted = "valid AND NOT warmup" if counting else "1"
        with self._connection.reading() as db:
            rows = db.execute(f"SELECT id FROM runs WHERE {wanted} ORDER BY started_at DESC, id DESC")
            return [str(row[0]) for row in rows]

    def count(self, task: str | None = None) -> int:
        with self._connection.reading() as db:
            found = db.execute("SELECT count(*) FROM runs WHERE :task IS NULL OR task = :task", {"task": task})
            return int(found.fetchone()[0])

    def new_id(self) -> str:
        with self._connection.reading() as db:
            return self._free_id(db, moments.to_text(moments.now()))

    def _free_id(self, db: Database, started_at: str) -> str:
        while True:
            run_id = new_id(at=moments.from_text(started_at))
            if not _exists(db, run_id):
                return run_id

    def _refuse_taken(self, db: Database, run_id: str) -> None:
        if _exists(db, run_id):
            raise StoreError(
                "The run is kept already",
                f"there is a run {run_id}, and kept runs are never overwritten",
                f"labtui show {run_id} shows it.",
                exit_code=2,
            )


def _exists(db: Database, run_id: str) -> bool:
    return db.execute("SELECT 1 FROM runs WHERE id = ?", [run_id]).fetchone() is not None


def row_of_run(run: Run, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """document: what is kept of it, where that is more than this program makes of a run."""
    rate = run.speed.end_to_end_tps
    return {
        "id": run.id,
        "task": run.task,
        "task_set": run.task_set,
        "checkpoint": run.checkpoint,
        "practice": run.practice,
        "valid": run.valid,
        "warmup": run.warmup,
        "trial": run.trial,
        "started_at": moments.to_text(moments.from_text(run.started_at)),
        "end_to_end_tps": None if isinstance(rate, NotMeasurable) else float(rate),
        # ASCII only, so that half characters of a model's output come back as they were.
        "document": json.dumps(run_to_json(run) if document is None else document, ensure_ascii=True, allow_nan=False),
    }


def numbers_not_proved(run: Run) -> list[str]:
    """The keys of its speed that do not come out again from its own chunks and counters."""
    stored, computed = speed_to_json(run.speed), speed_to_json(recompute(run).speed)
    return [key for key in stored if stored[key] != computed.get(key)]


def _run(row: sqlite3.Row | tuple[str, str]) -> Run:
    run_id, document = row
    try:
        return run_from_json(json.loads(document))
    except (ValueError, TypeError, KeyError, AttributeError, ExerciseError) as error:
        raise StoreError(
            "A kept run cannot be read",
            f"the document of run {run_id} is damaged: {error}",
            "labtui store check names every damaged row. The other runs are not touched by it.",
        ) from error
