from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session

if TYPE_CHECKING:
    from labtui.next_step import NextStep


def _as_typed(found: NextStep) -> NextStep:
    from labtui.program import as_typed

    return replace(found, why=as_typed(found.why), command=as_typed(found.command))


@click.command("next", cls=LabCommand)
@json_option
@pass_session
def next_command(session: Session, as_json: bool) -> None:
    """The one thing to do next, and the command for it."""
    from labtui.next_step import next_step
    from labtui.standing import standing_of

    standings = [standing_of(lesson, session.store) for lesson in session.lessons()]
    server = session.supervisor().status()
    found = _as_typed(next_step(standings, "ready" if server.usable else server.state))
    if as_json:
        session.emit(asdict(found))
        return
    click.echo(found.title)
    click.echo(f"  {found.why}")
    click.echo(f"  $ {found.command}")
