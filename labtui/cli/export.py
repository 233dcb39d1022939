from __future__ import annotations

from pathlib import Path

import click

from labtui.cli.given_files import GivenPath
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="LESSON", required=False)
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=["md"],
    show_default=True,
    metavar="FORMATS",
    help="One or more of md, html, json, toml and anki, with commas between; may be given more than once.",
)
@click.option(
    "--to", required=True, type=GivenPath(path_type=Path, file_okay=False), metavar="DIR", help="The folder for it."
)
@json_option
@pass_session
def export(session: Session, lesson_id: str | None, formats: tuple[str, ...], to: Path, as_json: bool) -> None:
    """Write the artifact of a lesson as files: runs, verdict, recall answers and evidence. Prints their paths.

    md to paste, html to read and print (one page, nothing outside it), json and toml for programs (the schema is
    docs/artifact.schema.json), anki for its recall questions and misconceptions: a package, and text to import.
    """
    from labtui.artifacts.writing import checked_formats, export_lesson

    wanted = checked_formats(",".join(formats).split(","))
    lesson = session.lesson(lesson_id)
    written = export_lesson(lesson, session.store, wanted, to)
    if as_json:
        session.emit({"lesson": lesson.id, "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(str(path))
