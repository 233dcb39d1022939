"""Progress on stderr: a line that renews itself on a terminal, plain lines where stderr is a file or a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

from labtui.cli.session import Session
from lessons.times import clock

QUIET_BEAT_S = 15.0


class Working(Protocol):
    def now(self, step: str, detail: str = "") -> None:
        """What is being done at this moment; elapsed time is added. detail: what changes often, for terminals only."""

    def say(self, text: str) -> None:
        """A line that stays."""


class _Silent:
    def now(self, step: str, detail: str = "") -> None: ...

    def say(self, text: str) -> None: ...


class _Lines:
    """A line for each new step; for a step that goes on, one every QUIET_BEAT_S seconds."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.last = ""
        self.last_at = self.began

    def now(self, step: str, detail: str = "") -> None:
        at = time.monotonic()
        if step != self.last or at - self.last_at >= QUIET_BEAT_S:
            click.echo(f"{step}{detail} ({clock(at - self.began)})", err=True)
            self.last, self.last_at = step, at

    def say(self, text: str) -> None:
        click.echo(text, err=True)


class _Live:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self.progress = progress
        self.task = task

    def now(self, step: str, detail: str = "") -> None:
        from rich.text import Text

        self.progress.update(self.task, description=Text(step + detail).markup)

    def say(self, text: str) -> None:
        self.progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def working(session: Session, text: str) -> Iterator[Working]:
    """Shows that something is going on, with the time since it began. Nothing with --quiet."""
    if session.quiet:
        yield _Silent()
        return
    if not sys.stderr.isatty():
        lines = _Lines()
        lines.now(text)
        yield lines
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        live = _Live(progress, progress.add_task("", total=None))
        live.now(text)
        yield live
