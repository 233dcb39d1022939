"""lessons, lesson check, lesson new."""

from __future__ import annotations

from pathlib import Path

import click

from labtui.cli.lazy_group import LabCommand, LabGroup
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED


@click.command("lessons", cls=LabCommand)
@json_option
@pass_session
def lessons_command(session: Session, as_json: bool) -> None:
    """What lessons there are and how far you are."""
    from labtui.standing import standing_of

    standings = [standing_of(lesson, session.store) for lesson in session.lessons()]
    if as_json:
        session.emit(
            [
                {
                    "id": one.lesson.id,
                    "title": one.lesson.title,
                    "position": one.position,
                    "cards_done": one.cards_done,
                    "cards": one.cards,
                    "gates_met": one.gates_met,
                    "gates": len(one.lesson.gates),
                    "due": len(one.due),
                }
                for one in standings
            ]
        )
        return
    for one in standings:
        click.echo(f"{one.lesson.id}  {one.lesson.title}")
        parts = [f"cards {one.cards_done}/{one.cards}", f"gates {one.gates_met}/{len(one.lesson.gates)}"]
        if one.due:
            parts.append(f"recall {len(one.due)} due")
        click.echo(f"  {' · '.join(parts) if one.started else 'not started'}")


@click.group(cls=LabGroup)
def lesson() -> None:
    """Write lessons of your own: a scaffold, and a check that names file, line and the nearest key."""


@lesson.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
@pass_session
def check(session: Session, paths: tuple[Path, ...], as_json: bool) -> int:
    """Every fault of each lesson as file:line: message. Exit 1 if there is one."""
    from lessons.checking import check_lesson

    faults = [fault for path in paths for fault in check_lesson(path)]
    if as_json:
        session.emit({"faults": [{"path": str(one.path), "line": one.line, "message": one.message} for one in faults]})
    for fault in [] if as_json else faults:
        click.echo(str(fault))
    if not faults:
        session.say(f"{len(paths)} lesson{'s' if len(paths) > 1 else ''} checked, no fault found")
    return FAILED if faults else DONE


@lesson.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@pass_session
def new(session: Session, directory: Path) -> None:
    """A commented lesson in DIR that passes the check. Nothing that exists is overwritten."""
    from lessons.scaffold import write_scaffold

    written = write_scaffold(directory)
    click.echo(str(written))
    session.say(f"Write it, then: labtui lesson check {directory}")
