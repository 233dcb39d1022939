"""doctor and diagnose: what would stop a server here, and what stopped one."""

from __future__ import annotations

import json
from pathlib import Path

import click

from labtui.cli.given_files import read_given
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED
from labtui.program import as_typed
from labtui.terminal_text import visible, visible_line

LARGEST_LOG = 64 * 1024 * 1024


@click.command(cls=LabCommand)
@json_option
@pass_session
def doctor(session: Session, as_json: bool) -> int:
    """What this machine can run and what would stop it. Pasteable: there is no secret in it.

    Exit 1 where something would stop a launch.
    """
    from labtui.serving.doctor import findings, to_json, to_text

    found = findings()
    if as_json:
        session.emit(json.loads(as_typed(to_json(found))))
    else:
        click.echo(as_typed(visible(to_text(found))))
    return FAILED if any(one.blocking for one in found) else DONE


@click.command(cls=LabCommand)
@click.argument("log", type=click.Path(path_type=Path))
@json_option
@pass_session
def diagnose(session: Session, log: Path, as_json: bool) -> None:
    """The named cause in a vLLM log, and the fix; best first."""
    from labtui.serving.diagnosis import diagnose as causes_in

    content = read_given(log, LARGEST_LOG, "The log cannot be read", "labtui serve logs names the newest one.")
    causes = causes_in(content.decode(errors="replace"))
    if as_json:
        session.emit({"causes": [cause.to_json() for cause in causes]})
    else:
        for cause in causes:
            click.echo(f"{visible_line(cause.title)} (line {cause.line})")
            click.echo(f"  {visible(cause.cause)}")
            click.echo(f"  → {as_typed(visible(cause.fix))}")
    if not causes:
        session.say("No known cause is in this log.")
