"""Which processes are ours, proved. Nothing else is ever signalled.

A process belongs to a launch when its environment carries the launch's random mark. vLLM's engine and workers inherit
it; they rename themselves, so the launch also sets SPT_NOENV, which keeps that renaming off their environment.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

from labtui.serving.state import ServerState

LAUNCH_MARK = "LABTUI_LAUNCH"
FOLDER_MARK = "LABTUI_STATE_FOLDER"
VLLM_TITLE = "VLLM::"
JUST_STARTED_LOOKS = 50


def marks(launch_id: str, folder: Path) -> dict[str, str]:
    """What the child gets so that it can be recognised later."""
    return {LAUNCH_MARK: launch_id, FOLDER_MARK: str(folder), "SPT_NOENV": "1"}


def leader(state: ServerState) -> psutil.Process | None:
    """The server's own process: alive, and pid, start, mark and command all as recorded. Else None."""
    if state.pid is None or state.process_start is None:
        return None
    try:
        process = psutil.Process(state.pid)
        same = (
            start_of(process) == state.process_start
            and _same_command(_command(process), state.command)
            and _environment(process).get(LAUNCH_MARK) == state.launch_id
        )
    except psutil.Error:
        return None
    return process if same and is_alive(process) else None


def listens(pid: int, port: int) -> bool | None:
    """Whether this process or one that it started listens on the port; None where the system does not tell."""
    try:
        server = psutil.Process(pid)
        return any(
            connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            for process in (server, *server.children(recursive=True))
            for connection in process.net_connections(kind="tcp")
            if connection.laddr
        )
    except (psutil.Error, OSError):
        return None


def start_of(process: psutil.Process) -> str:
    """When the process started, in a form that only it has: its clock ticks since boot, and which boot.

    The wall-clock time that psutil computes moves when the clock is set. Raises psutil.NoSuchProcess.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8", errors="replace")
        # proc(5): the 22nd field, counted after the program's name, which may hold spaces and brackets.
        return f"{boot}:{stat.rpartition(')')[2].split()[19]}"
    except FileNotFoundError as error:
        if Path("/proc/self/stat").exists():
            raise psutil.NoSuchProcess(process.pid) from error
    except (OSError, IndexError) as error:
        raise psutil.NoSuchProcess(process.pid) from error
    return f"{process.create_time():.2f}"


def settled_start_of(process: psutil.Process) -> str:
    """As `start_of`, once the system shows the program's words and environment, so that everybody can recognise it."""
    _command(process)
    return start_of(process)


def members(launch_id: str) -> list[psutil.Process]:
    """Every living process that carries the launch's mark: server, engine, workers."""
    return [process for process in psutil.process_iter() if _mark(process, LAUNCH_MARK) == launch_id]


def leftovers(folder: Path) -> list[psutil.Process]:
    """Every living process that was launched from this state folder, whatever became of its record."""
    return [process for process in psutil.process_iter() if _mark(process, FOLDER_MARK) == str(folder)]


def launch_of(process: psutil.Process) -> str | None:
    return _mark(process, LAUNCH_MARK)


def folder_of(process: psutil.Process) -> str | None:
    return _mark(process, FOLDER_MARK)


def head_of(found: Iterable[psutil.Process]) -> psutil.Process | None:
    """The one among them that the others descend from: the leader of their session."""
    for process in found:
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == process.pid:
                return process
    return None


def is_alive(process: psutil.Process) -> bool:
    """A zombie has died; only its parent has not noticed yet."""
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.Error:
        return False


def describe(process: psutil.Process) -> str:
    """What a person reads: the name that vLLM gave it, or its program."""
    try:
        words = process.cmdline()
        name = words[0] if words and words[0].startswith(VLLM_TITLE) else process.name()
    except psutil.Error:
        name = "a process"
    return f"{name} (pid {process.pid})"


def _mark(process: psutil.Process, name: str) -> str | None:
    try:
        mark = _environment(process).get(name)
    except psutil.Error:
        return None
    return mark if mark is not None and is_alive(process) else None


def _environment(process: psutil.Process) -> Mapping[str, str]:
    try:
        return process.environ()
    except (OSError, ValueError) as error:
        raise psutil.AccessDenied(process.pid) from error


def _command(process: psutil.Process) -> list[str]:
    """For a moment after a program was loaded the system shows neither its words nor its environment."""
    for _ in range(JUST_STARTED_LOOKS):
        words = process.cmdline()
        if words:
            return words
        time.sleep(0.01)
    return []


def _same_command(now: list[str], started: tuple[str, ...]) -> bool:
    """A script's interpreter may stand before its words, and vLLM may have renamed the process."""
    tail = list(started[1:])
    return bool(now) and (now[0].startswith(VLLM_TITLE) or now[max(1, len(now) - len(tail)) :] == tail)
