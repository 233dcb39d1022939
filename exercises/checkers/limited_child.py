"""Runs a function of untrusted code in a child process that can compute and nothing else.

The child is another interpreter (-I -S, empty environment, an empty folder of its own, a session of its own). It gives
up files, processes, memory and time before it runs the code (child_program.py), and the whole group is killed
afterwards. What the right answers are stays in this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_PROGRAM = Path(__file__).with_name("child_program.py")
_TIME_TO_LEAVE_S = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """time_s: wall time of the whole check. cpu_s: processor time. output_bytes: what the child may write."""

    time_s: float = 10.0
    cpu_s: int = 5
    memory_bytes: int = 512 * 1024 * 1024
    output_bytes: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class ChildReport:
    """steps: what the child told, as child_program.py writes it. stopped: why it did not come to its end, if so."""

    steps: tuple[dict[str, Any], ...]
    stopped: str | None


def run_limited(code: str, function: str, calls: Sequence[Sequence[Any]], limits: Limits | None = None) -> ChildReport:
    """Load code and call function once for each of calls, arguments as JSON has them. Never raises for what code does.

    Raises OSError where no child process can be started.
    """
    limits = limits or Limits()
    job = json.dumps(
        {
            "code": code,
            "function": function,
            "calls": [list(args) for args in calls],
            "memory_bytes": limits.memory_bytes,
            "cpu_s": limits.cpu_s,
        }
    )
    with tempfile.TemporaryDirectory(prefix="answer-") as folder:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={},
            start_new_session=True,
        )
        assert child.stdin is not None and child.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(job.encode("ascii"))
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
            output, stopped = _read_bounded(child.stdout, limits)
            if stopped is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_TIME_TO_LEAVE_S)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.kill()
            child.stdout.close()
            code_of_exit = child.wait()
    if stopped is None and code_of_exit != 0:
        stopped = _why(code_of_exit)
    return ChildReport(tuple(_steps(output)), stopped)


def _read_bounded(pipe: IO[bytes], limits: Limits) -> tuple[bytes, str | None]:
    output = bytearray()
    deadline = time.monotonic() + limits.time_s
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                return bytes(output), f"it was still running after {limits.time_s:g} s"
            data = os.read(pipe.fileno(), 65536)
            if not data:
                return bytes(output), None
            output += data
            if len(output) > limits.output_bytes:
                return bytes(output[: limits.output_bytes]), "it wrote too much"


def _why(code_of_exit: int) -> str:
    if code_of_exit == -signal.SIGXCPU:
        return "it used up its processor time"
    if code_of_exit < 0:
        return f"it was ended by signal {-code_of_exit}"
    return f"it ended by itself with code {code_of_exit}"


def _steps(output: bytes) -> list[dict[str, Any]]:
    steps = []
    for line in output.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            step = json.loads(line)
            if isinstance(step, dict) and isinstance(step.get("step"), str):
                steps.append(step)
    return steps
