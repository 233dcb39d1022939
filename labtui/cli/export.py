from __future__ import annotations

from pathlib import Path

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import USAGE, LabError

FORMATS = ("md", "json")


def _formats(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(part.strip().casefold() for part in value.split(",") if part.strip()))
    unknown = [one for one in wanted if one not in FORMATS]
    if unknown or not wanted:
        raise LabError(
            "This format cannot be exported",
            f"{', '.join(unknown) or 'no format'} was asked for; there are {', '.join(FORMATS)}",
            f"Name one or more with commas between: --format {','.join(FORMATS)}",
            USAGE,
        )
    return wanted


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="LESSON", required=False)
@click.option(
    "--format",
    "formats",
    default="md",
    show_default=True,
    callback=_formats,
    metavar="FORMATS",
    help=f"One or more of {', '.join(FORMATS)}, with commas between.",
)
@click.option(
    "--to", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="The folder for it."
)
@json_option
@pass_session
def export(session: Session, lesson_id: str | None, formats: tuple[str, ...], to: Path, as_json: bool) -> None:
    """Write the artifact of a lesson as files: runs, verdict, recall answers and evidence. Prints their paths."""
    from labtui.artifacts.writing import export_lesson

    lesson = session.lesson(lesson_id)
    written = export_lesson(lesson, session.store, formats, to)
    if as_json:
        session.emit({"lesson": lesson.id, "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(str(path))
