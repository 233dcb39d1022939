"""Ending a server so that nothing of it stays: ask the group, wait, end what is left, look, and say what is held."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import psutil

from labtui.serving import gpu, ports, processes
from labtui.serving.state import ServerState

GRACE_S = 15.0
AFTER_KILL_S = 5.0
LOOK_EVERY_S = 0.1

OnProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Held:
    """A process that is still there after all, and the GPU memory that it holds, in GiB."""

    pid: int
    name: str
    gpu_gib: float | None = None


@dataclass(frozen=True, slots=True)
class StopReport:
    """What stopping did.

    outcome: "stopped"; "nothing" where no server of ours was there; "foreign" where it is not ours and was left alone;
    "held" where something of ours survived.
    """

    outcome: Literal["stopped", "nothing", "foreign", "held"]
    message: str
    pid: int | None = None
    seconds: float = 0.0
    forced: bool = False
    exit_code: int | None = None
    held: tuple[Held, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return self.outcome != "held"


def stop_processes(
    state: ServerState,
    found: Sequence[psutil.Process],
    *,
    grace_s: float = GRACE_S,
    on_progress: OnProgress | None = None,
    reap: Callable[[], int | None] = lambda: None,
) -> StopReport:
    """End the processes, which must be proved ours. reap: called while waiting, collects the exit code of a child."""
    say = on_progress or (lambda text: None)
    began = time.monotonic()
    head = processes.leader(state)
    say("asking it to stop")
    _signal_all(head, found, signal.SIGTERM)
    left = _wait(state, found, grace_s, reap, lambda count, spent: say(_waiting(count, spent, grace_s)))
    forced = bool(left)
    if forced:
        say(f"ending {', '.join(processes.describe(one) for one in left)}, which did not stop in {grace_s:.0f} s")
        _signal_all(None, left, signal.SIGKILL)
        left = _wait(state, left, AFTER_KILL_S, reap, lambda count, spent: None)
    seconds = time.monotonic() - began
    exit_code = reap()
    if left:
        memory = gpu.memory_holders()
        held = tuple(Held(one.pid, processes.describe(one), memory.get(one.pid)) for one in left)
        names = ", ".join(
            f"{one.name}" + (f" with {one.gpu_gib:.1f} GiB of GPU memory" if one.gpu_gib else "") for one in held
        )
        message = f"Still there after SIGKILL: {names}. It ends when the driver that it waits for lets it go."
        return StopReport("held", message, state.pid, seconds, forced, exit_code, held)
    how = f"It did not end by itself in {grace_s:.0f} s and was killed" if forced else f"Stopped after {seconds:.1f} s"
    message = f"{how}; no process of it is left."
    if state.port is not None and not ports.port_is_free(state.port, state.host):
        message += f" Port {state.port} is held by {ports.port_holder(state.port) or 'another process'}."
    return StopReport("stopped", message, state.pid, seconds, forced, exit_code)


def _signal_all(head: psutil.Process | None, found: Sequence[psutil.Process], number: signal.Signals) -> None:
    """The whole group where its leader is proved ours, else each proved process alone."""
    if head is not None:
        with contextlib.suppress(OSError):
            if os.getpgid(head.pid) == head.pid and head.is_running():
                os.killpg(head.pid, number)
                return
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)


def _wait(
    state: ServerState,
    found: Sequence[psutil.Process],
    limit_s: float,
    reap: Callable[[], int | None],
    told: Callable[[int, float], None],
) -> list[psutil.Process]:
    """Until those found have ended and no process carries the mark, or the time is over. Returns those that are left.

    A process that is ending loses its environment, and with it the mark, before its exit code is there and its port
    is free: so those that were proved ours before the signal are watched themselves.
    """
    began = time.monotonic()
    second = 1
    watched = {process.pid: process for process in (*found, *processes.members(state.launch_id))}
    while True:
        reap()
        alive = [process for process in watched.values() if processes.is_alive(process)]
        spent = time.monotonic() - began
        if not alive or spent >= limit_s:
            # Looked for again: a process that started meanwhile is not among those that were watched.
            left = {process.pid: process for process in (*alive, *processes.members(state.launch_id))}
            if not left or spent >= limit_s:
                return list(left.values())
            watched = left
        if spent >= second:
            told(len(alive), spent)
            second = int(spent) + 1
        time.sleep(LOOK_EVERY_S)


def _waiting(count: int, spent: float, grace_s: float) -> str:
    what = "1 process" if count == 1 else f"{count} processes"
    return f"waiting for {what}, {spent:.0f} of {grace_s:.0f} s"
