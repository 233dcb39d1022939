"""stdout and stderr that cannot take what is written: the reader went away, the disk is full, or there is none."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

import click

from labtui.errors import FAILED

BROKEN_PIPE = 141
"""What a shell gives for a command that SIGPIPE ended, as in `labtui runs | head -1`."""


class OutputLost(Exception):
    """Not an OSError, so that nothing on the way takes it for a fault of a file or of a connection."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class _Output:
    """stdout, whose faults are told from all others. Everything but writing is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._faults():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._faults():
            self._stream.flush()

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputLost(error) from error


class _Narration(_Output):
    """stderr: words that cannot be shown stop nothing."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OutputLost):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OutputLost):
            super().flush()


@contextlib.contextmanager
def guarded_output() -> Iterator[None]:
    """While it lasts, a fault of stdout is OutputLost and a fault of stderr is none."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast("TextIO", _Output(sys.stdout)), cast("TextIO", _Narration(sys.stderr))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def end_without_output(lost: OutputLost) -> int:
    """Says on stderr why stdout was lost, unless its reader went away, and returns the exit code."""
    if isinstance(lost.error, BrokenPipeError):
        return BROKEN_PIPE
    click.echo(f"The output could not be written: {lost.error.strerror or lost.error}.", err=True)
    return FAILED


def leave_quietly() -> None:
    """Python flushes stdout and stderr once more at exit; where that cannot work it must not print a traceback."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def open_what_is_closed() -> bool:
    """Puts /dev/null where stdin, stdout or stderr were closed, so that no file of ours gets their numbers.

    Returns whether stdout was there.
    """
    has_output = sys.stdout is not None
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor != number:
            os.dup2(descriptor, number)
            os.close(descriptor)
        setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    return has_output
