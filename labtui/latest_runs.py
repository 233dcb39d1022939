"""The latest runs of a store, for a screen that looks at them often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exercises.records import Run

if TYPE_CHECKING:
    from store.opening import Store

RUNS_SHOWN = 12


def newer_runs(store: Store, known: str | None) -> tuple[Run, ...] | None:
    """The latest runs; None where the newest is the known one, so that a look costs little."""
    newest = store.runs.list(limit=1)
    if (newest[0].id if newest else None) == known:
        return None
    return tuple(store.runs.list(limit=RUNS_SHOWN))


def latest_of(store: Store, task_id: str) -> Run | None:
    """The latest measured run of a task; a warm-up only where there is nothing else."""
    found = store.runs.list(task_id, limit=RUNS_SHOWN)
    return next((run for run in found if not run.warmup), found[0] if found else None)
