"""How every fault of a command reaches the person: title, cause, fix and an exit code, never a traceback."""

from __future__ import annotations

from typing import Any

import click

from labtui.cli.session import Session
from labtui.errors import USAGE, Explained, is_explained

INTERRUPTED = 130


def exit_code_of(error: BaseException, session: Session) -> int:
    """Prints what the person needs to know about the error and returns the exit code of design's table."""
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        click.echo("Stopped. What was finished is kept.", err=True)
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        if session.as_json:
            session.emit(
                _as_data("The command line was not understood", error.format_message(), f"{_path(error)} --help", USAGE)
            )
        error.show()
        return error.exit_code
    if not is_explained(error):
        from labtui.bug_report import command_words, reported

        error = reported(error, command_words())
    show(error, session)
    return error.exit_code


def _path(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return context.command_path if context else "labtui"


def show(error: Explained, session: Session) -> None:
    from labtui.program import as_typed
    from labtui.terminal_text import visible

    if session.as_json:
        session.emit(_as_data(error.title, error.cause, as_typed(error.fix), error.exit_code))
    text = f"{visible(error.title)}\n  {visible(error.cause)}\n  → {visible(error.fix)}"
    click.echo(as_typed(text), err=True)


def _as_data(title: str, cause: str, fix: str, exit_code: int) -> dict[str, Any]:
    return {"error": {"title": title, "cause": cause, "fix": fix, "exit_code": exit_code}}
