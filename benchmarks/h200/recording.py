"""Runs commands with time limits, keeps all they say, and packs it after each step."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

MEMORY_EVERY_MS = 500


class Recorder:
    """environment: set for every command. code: how the last one ended, None where it was killed or never ran.

    left_s: seconds until the end of the time for all steps, or for the present one where that comes first.
    """

    def __init__(self, folder: Path, bundle: Path | None, within_s: float) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.bundle = None if bundle is None else bundle.resolve()
        self.environment: dict[str, str] = {}
        self.code: int | None = None
        self._began = time.monotonic()
        self._within_s = within_s
        self._step_ends = math.inf
        self._memory: subprocess.Popen[bytes] | None = None

    @property
    def left_s(self) -> float:
        now = time.monotonic()
        return min(self._within_s - (now - self._began), self._step_ends - now)

    def __enter__(self) -> Recorder:
        query = "--query-gpu=timestamp,memory.used,utilization.gpu,power.draw,clocks.sm"
        with contextlib.suppress(OSError), (self.folder / "gpu.csv").open("ab") as output:
            self._memory = subprocess.Popen(
                ["nvidia-smi", query, "--format=csv,noheader,nounits", f"--loop-ms={MEMORY_EVERY_MS}"],
                stdout=output,
                stderr=subprocess.DEVNULL,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._memory is not None:
            self._memory.terminate()
            self._memory.wait()
        self.pack()

    def say(self, text: str) -> None:
        line = f"[{time.monotonic() - self._began:7.1f}] {text}"
        print(line, flush=True)
        with (self.folder / "session.log").open("a", encoding="utf-8") as file:
            file.write(f"{time.time():.2f} {line}\n")

    def line(self, name: str, data: Any) -> None:
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"at": round(time.time(), 2), **data}) + "\n")

    def copy(self, source: Path, name: str) -> None:
        with contextlib.suppress(OSError):
            shutil.copyfile(source, self.folder / name)

    def step(self, name: str, act: Callable[[], None], most_s: float = math.inf) -> None:
        """Whatever goes wrong in it is kept and ends no other step.

        most_s: what its commands have together.
        """
        began = time.monotonic()
        self._step_ends = began + most_s
        self.say(f"-- {name}")
        try:
            act()
        except (Exception, SystemExit):
            self.say(f"-- {name} failed: {traceback.format_exc()[-1500:]}")
        self._step_ends = math.inf
        self.say(f"-- {name} took {time.monotonic() - began:.1f} s")
        self.pack()

    def command(self, name: str, words: Sequence[str], limit_s: float, *, quiet: bool = False) -> str:
        """What it printed on stdout; that and stderr go to NAME.out and NAME.err. Past its limit it is killed."""
        began = time.monotonic()
        self.code = None
        out, err = self.folder / f"{name}.out", self.folder / f"{name}.err"
        limit_s = min(limit_s, max(self.left_s, 5.0))
        with out.open("wb") as stdout, err.open("wb") as stderr:
            try:
                child = subprocess.Popen(
                    list(words),
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    env={**os.environ, **self.environment},
                    start_new_session=True,
                )
            except OSError as error:
                self.say(f"{name}: {error}")
                return ""
            try:
                self.code = child.wait(limit_s)
                ended = f"exit {self.code}"
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                ended = f"killed after {limit_s:.0f} s"
        if not quiet:
            last = err.read_text(errors="replace").strip().rsplit("\n", 1)[-1][-160:]
            self.say(f"{name}: {ended}, {time.monotonic() - began:.1f} s{' · ' + last if last else ''}")
        return out.read_text(errors="replace")

    def pack(self) -> None:
        """Everything but what the server's key is in, whole or not at all."""
        if self.bundle is None:
            return
        self.bundle.parent.mkdir(parents=True, exist_ok=True)
        half = self.folder.parent / f"{self.bundle.name}.half"
        with tarfile.open(half, "w:gz", compresslevel=3) as archive:
            for path in sorted(self.folder.iterdir()):
                if path.name != "home" and not re.fullmatch(r"endpoint\.(out|err)", path.name):
                    archive.add(path, path.name)
        shutil.move(half, self.bundle)
