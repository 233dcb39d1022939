from __future__ import annotations

import builtins
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store import moments
from store.connection import Connection
from store.errors import StoreError
from store.redaction import without_secrets

COLUMNS = "id, axis, checkpoint, practice, started_at, document"


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """document: as exercises.sweep.sweep_to_json makes it; its runs are in store.runs."""

    id: str
    axis: str
    checkpoint: str
    practice: bool
    started_at: datetime
    document: Mapping[str, Any]


class Sweeps:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def save(self, document: Mapping[str, Any]) -> SweepRecord:
        """Keeps a sweep as far as it came; the same sweep saved again replaces what was kept of it."""
        kept = without_secrets(document)
        row = {
            "id": kept["id"],
            "axis": kept["axis"],
            "checkpoint": kept["checkpoint"],
            "practice": kept["practice"],
            "started_at": moments.to_text(moments.from_text(kept["started_at"])),
            "document": json.dumps(kept, ensure_ascii=True, allow_nan=False),
        }
        with self._connection.writing() as db:
            db.table("sweeps").insert(row, pk="id", replace=True)
        return self.get(row["id"])

    def get(self, id_or_part: str) -> SweepRecord:
        """The sweep with that id, or with the only id that starts or ends so. Raises StoreError with exit code 2."""
        part = id_or_part.strip()
        with self._connection.reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM sweeps WHERE id = :part OR substr(id, 1, length(:part)) = :part "
                "OR substr(id, -length(:part)) = :part ORDER BY started_at DESC",
                {"part": part},
            ).fetchall()
        exact = [row for row in rows if row[0] == part]
        if part and len(exact or rows) == 1:
            return _record((exact or rows)[0])
        raise StoreError(
            "More than one sweep is meant" if part and rows else "There is no such sweep",
            f"{part or '(empty)'} fits {len(rows)} sweeps" if part and rows else f"no sweep has the id {part!r}",
            "Give the whole id.",
            exit_code=2,
        )

    def list(self, limit: int | None = None) -> builtins.list[SweepRecord]:
        """Newest first."""
        with self._connection.reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM sweeps ORDER BY started_at DESC, id DESC LIMIT ?",
                [-1 if limit is None else limit],
            ).fetchall()
        return [_record(row) for row in rows]


def _record(row: tuple[Any, ...]) -> SweepRecord:
    return SweepRecord(row[0], row[1], row[2], bool(row[3]), moments.from_text(row[4]), json.loads(row[5]))
