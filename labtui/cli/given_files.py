"""Files that are named on the command line: read whole, but never more than has a sense, and never from a device."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import click

from labtui.errors import USAGE, LabError
from labtui.terminal_text import visible_line


class GivenPath(click.Path):
    """A path that was not left empty: an empty one, as of an unset variable, would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("the path is empty.", param, ctx)
        return super().convert(value, param, ctx)


def read_given(path: Path, limit: int, title: str, fix: str) -> bytes:
    """limit: bytes. Raises LabError (exit 2) with the title, the reason and the fix; it never waits for a writer."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
            raise LabError(title, f"{visible_line(str(path))} is {_kind(path)}, not a file", fix, USAGE)
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LabError(title, f"{visible_line(str(path))}: {reason}", fix, USAGE) from error
    return _refuse_too_large(content, limit, str(path), title, fix)


def read_stdin(limit: int, title: str, fix: str) -> bytes:
    """Raises LabError (exit 2) where more than limit bytes come."""
    return _refuse_too_large(sys.stdin.buffer.read(limit + 1), limit, "stdin", title, fix)


def _refuse_too_large(content: bytes, limit: int, name: str, title: str, fix: str) -> bytes:
    if len(content) > limit:
        most = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit // 1000} kB"
        raise LabError(title, f"{visible_line(name)} is larger than {most}", fix, USAGE)
    return content


def _kind(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    return "a pipe" if path.is_fifo() else "a device" if path.is_char_device() or path.is_block_device() else "a socket"
