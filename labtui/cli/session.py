"""What one command line shares: its store, its configuration, and where data and narration go."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from labtui.configuration import Configuration
    from labtui.serving.supervisor import Supervisor
    from lessons.model import Lesson
    from store.errors import StoreError
    from store.opening import Store


@dataclass
class Session:
    """stdout is data, stderr is narration. The store opens when it is first asked for, and closes with the command."""

    as_json: bool = False
    quiet: bool = False
    store_path: Path | None = None
    _store: Store | None = field(default=None, repr=False)
    _store_fault: StoreError | None = field(default=None, repr=False)

    @cached_property
    def configuration(self) -> Configuration:
        from labtui.configuration import read_configuration

        return read_configuration()

    @property
    def store(self) -> Store:
        """Raises StoreError (exit 4)."""
        if self._store is None:
            from store.opening import Store

            self._store = Store.open(self.wanted_store_path, reading_will_do=True)
            for notice in self._store.notices:
                self.say(notice)
        return self._store

    def store_if_usable(self) -> Store | None:
        """For what also works without a store; says once why there is none."""
        from store.errors import StoreError

        if self._store_fault is not None:
            return None
        try:
            return self.store
        except StoreError as error:
            self._store_fault = error
            self.say(f"Nothing is kept, since the store cannot be used. {error.title}: {error.cause}")
            return None

    def supervisor(self) -> Supervisor:
        """The owner of the server's state, with the estimates that the store has."""
        from labtui.serving.supervisor import Supervisor

        store = self.store_if_usable()
        return Supervisor(ready_estimate=None if store is None else store.launches.ready_estimate)

    @property
    def wanted_store_path(self) -> Path | None:
        """--store, then LABTUI_STORE, then the configuration; None for the default place."""
        if self.store_path is not None or os.environ.get("LABTUI_STORE", "").strip():
            return self.store_path
        return self.configuration.store

    def lessons(self) -> list[Lesson]:
        """All that can be used; the others are named on stderr. The one in which the person was last comes first."""
        from lessons.finding import lesson_shelf

        shelf = lesson_shelf(self.configuration.lessons)
        for broken in shelf.broken:
            path = shlex.quote(str(broken.path))
            self.say(f"Left out, since it has faults: {broken.path} (labtui lesson check {path} names them)")
        last = self.store.progress.last_lesson()
        return sorted(shelf.lessons, key=lambda lesson: lesson.id != last)

    def lesson(self, lesson_id: str | None) -> Lesson:
        """The named lesson, or where none is named the one in which the person was last.

        Raises LessonError (exit 2).
        """
        from lessons.finding import find_lesson

        if lesson_id is not None:
            return find_lesson(lesson_id, self.configuration.lessons)
        return self.lessons()[0]

    def close(self) -> None:
        if self._store is not None:
            for run_id in sorted(self._store.runs.unreadable):
                self.say(f"Left out, since it is damaged: run {run_id}. labtui store check says more.")
            self._store.close()
            self._store = None

    def say(self, text: str = "") -> None:
        """Narration. text: trusted, or made visible by the caller."""
        if not self.quiet:
            from labtui.program import as_typed

            click.echo(as_typed(text), err=True)

    def emit(self, data: Any) -> None:
        """Data for a program, on stdout."""
        from labtui.terminal_text import json_text

        click.echo(json_text(data))


pass_session = click.make_pass_decorator(Session)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys on stdout.")
