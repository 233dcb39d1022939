from __future__ import annotations

from pathlib import Path

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED


@click.command(cls=LabCommand)
@click.argument("trace", type=click.Path(path_type=Path))
@json_option
@pass_session
def measure(session: Session, trace: Path, as_json: bool) -> int:
    """Speed from a recorded stream.

    TRACE holds lines such as "[  0.514] data: {...}", the seconds since the request, or is JSON with runs or
    timelines (labtui show RUN --json, labtui export). Nothing is stored; no server and no store is needed. Several
    runs in one file give {"runs": [...]} with --json. Exit 1 where a run is not valid.
    """
    from exercises.run_json import run_to_json
    from exercises.trace import read_traces

    runs = read_traces(trace)
    if as_json:
        documents = [run_to_json(run) for run in runs]
        session.emit(documents[0] if len(documents) == 1 else {"runs": documents})
    else:
        from labtui.cli.run_text import run_lines

        for run in runs:
            for line in run_lines(run):
                click.echo(line)
    return DONE if all(run.valid for run in runs) else FAILED
