from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

PATIENCE_S = 30


class Terminal:
    """labtui in a real pseudo-terminal of 80 by 24, and the screen that it paints there."""

    def __init__(self, child: pexpect.spawn, width: int = 80, height: int = 24) -> None:
        self.child = child
        self.screen = pyte.Screen(width, height)
        self.received = b""
        self._stream = pyte.ByteStream(self.screen)

    def read(self) -> str:
        try:
            while True:
                data = self.child.read_nonblocking(65536, timeout=0.1)
                self.received += data
                self._stream.feed(data)
        except (pexpect.TIMEOUT, pexpect.EOF):
            pass
        return self.text

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def wait_for(self, *words: str) -> str:
        give_up_at = time.monotonic() + PATIENCE_S
        while not all(word in self.read() for word in words):
            if time.monotonic() > give_up_at or not self.child.isalive():
                pytest.fail(f"{words} did not appear; the screen says\n{self.text}")
        return self.text

    def press(self, keys: str | bytes) -> None:
        self.child.send(keys)

    def wait_for_end(self) -> int:
        """The exit code, negative for a signal."""
        give_up_at = time.monotonic() + PATIENCE_S
        while self.child.isalive():
            self.read()
            if time.monotonic() > give_up_at:
                pytest.fail(f"it did not end; the screen says\n{self.text}")
        self.child.close()
        return -self.child.signalstatus if self.child.signalstatus else int(self.child.exitstatus or 0)


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    names = ("DATA", "STATE", "CONFIG", "CACHE")
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        **{f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in names},
        "HOME": str(tmp_path),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture
def start(surroundings: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    children: list[pexpect.spawn] = []

    def run(shell: str = "exec {python} -m labtui", **changes: str) -> Terminal:
        command = ["-c", shell.format(python=sys.executable)]
        environment = {**surroundings, **changes}
        child = pexpect.spawn("/bin/sh", command, env=environment, dimensions=(24, 80), timeout=PATIENCE_S)
        child.delaybeforesend = None
        children.append(child)
        return Terminal(child)

    yield run
    for child in children:
        if child.isalive():
            child.kill(signal.SIGKILL)
        if child.child_fd >= 0:
            child.close(force=True)
