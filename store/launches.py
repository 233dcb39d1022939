from __future__ import annotations

import builtins
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from exercises.run_ids import new_id
from store import moments
from store.connection import Connection
from store.errors import StoreError
from store.redaction import without_secrets

COLUMNS = (
    "id, checkpoint, plan_key, command, started_at, ready_at, ready_after_s, ended_at, ended, vllm_version, memory"
)


@dataclass(frozen=True, slots=True)
class Launch:
    """One server process that was started.

    plan_key: the same for plans that should take equally long to start.
    ready_after_s: seconds from start to this program's own one-token request being answered.
    ended: how it ended, such as "stopped", "died", None while it runs or where nobody saw its end.
    memory: what vLLM's log said about memory, by name.
    """

    id: str
    checkpoint: str
    plan_key: str
    command: tuple[str, ...]
    started_at: datetime
    ready_at: datetime | None
    ready_after_s: float | None
    ended_at: datetime | None
    ended: str | None
    vllm_version: str | None
    memory: Mapping[str, Any]


class Launches:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(
        self,
        checkpoint: str,
        plan_key: str,
        command: Sequence[str],
        *,
        started_at: datetime | None = None,
        vllm_version: str | None = None,
    ) -> Launch:
        """Keeps that a server was started; secrets are taken out of the command."""
        moment = started_at or moments.now()
        with self._connection.writing() as db:
            launch_id = new_id("l", moment)
            while db.execute("SELECT 1 FROM launches WHERE id = ?", [launch_id]).fetchone():
                launch_id = new_id("l", moment)
            db.table("launches").insert(
                {
                    "id": launch_id,
                    "checkpoint": checkpoint,
                    "plan_key": plan_key,
                    "command": json.dumps(without_secrets(list(command))),
                    "started_at": moments.to_text(moment),
                    "vllm_version": vllm_version,
                    "memory": "{}",
                }
            )
        return self.get(launch_id)

    def ready(
        self,
        launch_id: str,
        ready_after_s: float,
        *,
        vllm_version: str | None = None,
        memory: Mapping[str, Any] | None = None,
    ) -> Launch:
        with self._connection.writing() as db:
            self._refuse_unknown(
                db.execute(
                    "UPDATE launches SET ready_at = ?, ready_after_s = ?, vllm_version = coalesce(?, vllm_version), "
                    "memory = coalesce(?, memory) WHERE id = ?",
                    [
                        moments.to_text(moments.now()),
                        ready_after_s,
                        vllm_version,
                        None if memory is None else json.dumps(without_secrets(memory)),
                        launch_id,
                    ],
                ).rowcount,
                launch_id,
            )
        return self.get(launch_id)

    def finish(self, launch_id: str, ended: str, ended_at: datetime | None = None) -> Launch:
        with self._connection.writing() as db:
            self._refuse_unknown(
                db.execute(
                    "UPDATE launches SET ended = ?, ended_at = ? WHERE id = ?",
                    [ended, moments.to_text(ended_at or moments.now()), launch_id],
                ).rowcount,
                launch_id,
            )
        return self.get(launch_id)

    def get(self, launch_id: str) -> Launch:
        with self._connection.reading() as db:
            row = db.execute(f"SELECT {COLUMNS} FROM launches WHERE id = ?", [launch_id]).fetchone()
        self._refuse_unknown(0 if row is None else 1, launch_id)
        return _launch(row)

    def list(self, limit: int | None = None) -> builtins.list[Launch]:
        """Newest first."""
        with self._connection.reading() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM launches ORDER BY started_at DESC, rowid DESC LIMIT ?",
                [-1 if limit is None else limit],
            ).fetchall()
        return [_launch(row) for row in rows]

    def ready_estimate(self, plan_key: str) -> float | None:
        """Seconds to ready of the newest launch of that plan that became ready; None if there was none."""
        with self._connection.reading() as db:
            row = db.execute(
                "SELECT ready_after_s FROM launches WHERE plan_key = ? AND ready_after_s IS NOT NULL "
                "ORDER BY started_at DESC, rowid DESC LIMIT 1",
                [plan_key],
            ).fetchone()
        return None if row is None else float(row[0])

    def _refuse_unknown(self, changed: int, launch_id: str) -> None:
        if not changed:
            raise StoreError(
                "There is no such launch", f"no launch has the id {launch_id}", "See labtui serve status.", exit_code=2
            )


def _launch(row: tuple[Any, ...]) -> Launch:
    return Launch(
        id=row[0],
        checkpoint=row[1],
        plan_key=row[2],
        command=tuple(json.loads(row[3])),
        started_at=moments.from_text(row[4]),
        ready_at=moments.from_text_or_none(row[5]),
        ready_after_s=row[6],
        ended_at=moments.from_text_or_none(row[7]),
        ended=row[8],
        vllm_version=row[9],
        memory=json.loads(row[10]),
    )
