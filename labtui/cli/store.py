from __future__ import annotations

from pathlib import Path

import click

from labtui.cli.given_files import GivenPath
from labtui.cli.lazy_group import LabGroup
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, NO_STORE


@click.group(cls=LabGroup)
def store() -> None:
    """Where everything is kept: find it, check it, copy it."""


@store.command()
@pass_session
def path(session: Session) -> None:
    """Print where the database is."""
    from store.location import default_path

    click.echo(str(session.wanted_store_path or default_path()))


@store.command()
@json_option
@pass_session
def check(session: Session, as_json: bool) -> int:
    """Look for damage. Exit 4 if there is any."""
    faults = session.store.check()
    if as_json:
        session.emit({"path": str(session.store.path), "faults": faults})
    elif faults:
        for fault in faults:
            click.echo(fault)
        session.say("Copy what can still be read with: labtui store backup FILE")
    else:
        click.echo(f"{session.store.path}: no damage found")
    return NO_STORE if faults else DONE


@store.command()
@click.argument("file", type=GivenPath(path_type=Path, dir_okay=False))
@pass_session
def backup(session: Session, file: Path) -> None:
    """Copy the database to FILE while it may be in use. A file that exists is not overwritten."""
    session.store.backup(file)
    click.echo(str(file))
