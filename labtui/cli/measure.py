from __future__ import annotations

from pathlib import Path

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session


@click.command(cls=LabCommand)
@click.argument("trace", type=click.Path(path_type=Path))
@json_option
@pass_session
def measure(session: Session, trace: Path, as_json: bool) -> None:
    """Speed from a recorded stream.

    TRACE holds lines such as "[  0.514] data: {...}", the seconds since the request, or is the JSON of a run
    (labtui show RUN --json). Nothing is stored; no server and no store is needed.
    """
    from exercises.run_json import run_to_json
    from exercises.trace import read_trace

    run = read_trace(trace)
    if as_json:
        session.emit(run_to_json(run))
        return
    from labtui.cli.run_text import run_lines

    for line in run_lines(run):
        click.echo(line)
