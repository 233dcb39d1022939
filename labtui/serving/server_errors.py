"""Why there is no server to use, in the words that the person reads."""

from __future__ import annotations

from labtui.errors import NO_SERVER, LabError
from labtui.serving.state import ServerState
from labtui.serving.status import Status


def already_running(state: ServerState) -> LabError:
    return LabError(
        "A server of labtui is already running",
        f"{state.checkpoint} on {state.url}, pid {state.pid}.",
        "Use that one, or end it first: labtui serve stop",
        NO_SERVER,
    )


def not_there(status: Status) -> LabError:
    if status.state == "stopped" and status.causes:
        first = status.causes[0]
        return LabError(first.title, f"{first.cause} (line {first.line} of {status.log_path})", first.fix, NO_SERVER)
    if status.died:
        last = f" Its last line: {status.last_line}" if status.last_line else ""
        return LabError(
            "The server ended by itself",
            f"{status.message or 'No known cause is in its log.'}{last}",
            f"Read the log: labtui serve logs ({status.log_path})",
            NO_SERVER,
        )
    if status.state == "stopped":
        return LabError(
            "No server is running",
            "Nothing was started, or it was stopped.",
            "Start one: labtui serve start --wait",
            NO_SERVER,
        )
    if status.state == "foreign":
        return LabError(
            "The server there cannot be used",
            status.message or "It was not started by labtui, and labtui is not attached to it.",
            f"Attach to it: labtui serve attach {status.url}",
            NO_SERVER,
        )
    if status.state == "dying":
        return LabError("The server is going down", status.message, "See it off: labtui serve stop", NO_SERVER)
    since = "" if status.since_s is None else f" for {status.since_s:.0f} s"
    return LabError(
        "The server is not ready yet",
        f"It is {status.state}{since}: {status.message or status.stage or 'no stage seen yet'}.",
        "Wait for it: labtui serve start --wait",
        NO_SERVER,
    )
