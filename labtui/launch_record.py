"""Keeping launches: whoever sees the server next writes down what the store does not know yet."""

from __future__ import annotations

from datetime import UTC, datetime

from labtui.serving.measured import CARD
from labtui.serving.state import ServerState
from labtui.serving.status import Status
from store.launches import Launch
from store.opening import Store

LOOKED_AT = 20


def record_launch(store: Store, launch: ServerState | None, status: Status) -> Launch | None:
    """Writes that a launch began, became ready or died; may be called at every look. None for a server not ours.

    Raises StoreError.
    """
    if launch is None or launch.kind != "launched":
        return None
    kept = _find(store, launch) or store.launches.add(
        launch.checkpoint,
        launch.plan_key or "",
        launch.command,
        started_at=_moment(launch.started_at),
        vllm_version=launch.vllm_version,
    )
    if kept.ready_at is None and status.ready_after_s is not None:
        kept = store.launches.ready(
            kept.id,
            status.ready_after_s,
            vllm_version=status.vllm_version,
            memory={**status.facts, CARD: launch.hardware[0].partition(", ")[0] if launch.hardware else None},
        )
    if kept.ended is None and launch.ended is not None:
        ended_at = None if launch.ended_at is None else _moment(launch.ended_at)
        kept = store.launches.finish(kept.id, launch.ended, ended_at)
    return kept


def record_stop(store: Store, launch: ServerState | None) -> None:
    """Writes that the launch was stopped. launch: as it was before that. Raises StoreError."""
    kept = None if launch is None else _find(store, launch)
    if kept is not None and kept.ended is None:
        store.launches.finish(kept.id, "stopped")


def _find(store: Store, launch: ServerState) -> Launch | None:
    began = _moment(launch.started_at)
    return next((one for one in store.launches.list(LOOKED_AT) if one.started_at == began), None)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
