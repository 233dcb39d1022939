from __future__ import annotations

from typing import TYPE_CHECKING

from labtui.widgets.dates import span

if TYPE_CHECKING:
    from labtui.serving.status import Status

SYMBOLS = {"ready": "●", "stopped": "○", "foreign": "◇"}


def server_words(status: Status | None) -> str:
    """The server's state in a few words, for the right end of the title line."""
    if status is None:
        return "server: looking"
    words = {"ready": "ready", "stopped": "stopped", "foreign": "not ours", "dying": "stopping"}.get(
        status.state, status.stage or status.state
    )
    parts = [words]
    if status.state not in ("stopped", "foreign") and status.checkpoint:
        parts.append(status.checkpoint)
    if status.state in ("starting", "warming", "dying") and status.since_s is not None:
        parts.append(span(status.since_s))
    return f"server {SYMBOLS.get(status.state, '◐')} {' · '.join(parts)}"
