"""lessons, lesson check, lesson new, lesson import; what belongs to the prompt is in answers.py."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from labtui.cli.answers import answers, ask, check_answer_command, prompt
from labtui.cli.gates import gates
from labtui.cli.given_files import GivenPath
from labtui.cli.lazy_group import LabCommand, LabGroup
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED

if TYPE_CHECKING:
    from lessons.importing.importer import Imported
    from lessons.model import Lesson


@click.command("lessons", cls=LabCommand)
@json_option
@pass_session
def lessons_command(session: Session, as_json: bool) -> None:
    """What lessons there are and how far you are."""
    from labtui.standing import standing_of
    from lessons.walk import steps

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
                    "changed": [step.id for step in steps(one.lesson) if step.id in one.changed],
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
        if one.changed:
            parts.append(f"{len(one.changed)} changed since you read {'it' if len(one.changed) == 1 else 'them'}")
        click.echo(f"  {' · '.join(parts) if one.started else 'not started'}")


@click.group(cls=LabGroup)
def lesson() -> None:
    """Lessons of your own: a scaffold, an import, and a check that names file, line and the nearest key.

    And of any lesson: its gates with your evidence, and its grounded prompt: print it, ask a model, check an answer.
    """


for command in (gates, prompt, ask, check_answer_command, answers):
    lesson.add_command(command)


@lesson.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
@pass_session
def check(session: Session, paths: tuple[Path, ...], as_json: bool) -> int:
    """Every fault of each lesson as file:line: message. Exit 1 if there is one."""
    from labtui.predicting import exercise_faults
    from lessons.checking import check_lesson
    from lessons.open_parts import open_parts_of_file

    faults = [fault for path in paths for fault in (*check_lesson(path), *exercise_faults(path))]
    notes = [note for path in paths for note in open_parts_of_file(path)]
    if as_json:
        faults_and_notes = {"faults": faults, "notes": notes}
        session.emit(
            {
                name: [{"path": str(one.path), "line": one.line, "message": one.message} for one in found]
                for name, found in faults_and_notes.items()
            }
        )
    for note in [] if as_json else notes:
        session.say(f"note: {note}")
    for fault in [] if as_json else faults:
        click.echo(str(fault))
    if not faults:
        session.say(f"{len(paths)} lesson{'s' if len(paths) > 1 else ''} checked, no fault found")
    return FAILED if faults else DONE


@lesson.command()
@click.argument("directory", metavar="DIR", type=GivenPath(path_type=Path, file_okay=False))
@pass_session
def new(session: Session, directory: Path) -> None:
    """A commented lesson in DIR that passes the check. Nothing that exists is overwritten."""
    from lessons.scaffold import write_scaffold

    written = write_scaffold(directory)
    click.echo(str(written))
    session.say(f"Write it, then: labtui lesson check {shlex.quote(str(directory))}")


@lesson.command("import")
@click.argument("page", metavar="PAGE", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--to",
    metavar="DIR",
    type=GivenPath(path_type=Path),
    help="The lesson's folder, whose name becomes its id. Without it: a new folder among your lessons.",
)
@click.option(
    "--captions", metavar="FILE", type=click.Path(path_type=Path), help="WebVTT or SRT, to check the quotations by."
)
@click.option("--lang", metavar="TAG", help="The page's language, such as de or pt-BR.")
@json_option
@pass_session
def import_lesson(
    session: Session, page: Path, to: Path | None, captions: Path | None, lang: str | None, as_json: bool
) -> None:
    """A lesson from the text of a learning page. PAGE: a text file, or - for what you paste, up to Ctrl-D.

    Lines that have no place in a lesson are named with their number. What the page does not give, such as the answers
    to its recall questions, is left open and listed. Nothing that exists is overwritten.
    """
    from lessons.importing.importer import import_page, to_json
    from lessons.importing.page_text import SIZE_LIMIT_BYTES, read_bytes

    content = sys.stdin.buffer.read(SIZE_LIMIT_BYTES + 1) if str(page) == "-" else read_bytes(page)
    imported = import_page(content, "stdin" if str(page) == "-" else str(page), to, captions, lang)
    if as_json:
        session.emit(to_json(imported))
    else:
        _show_import(imported)
    _say_where_it_is(session, imported)


def _show_import(imported: Imported) -> None:
    from labtui.terminal_text import visible_line
    from lessons.times import clock

    found = imported.found
    click.echo(f"{visible_line(str(imported.path))}: {visible_line(imported.title)}")
    names = {
        "anchor": "anchor",
        "misconception": "misconception",
        "gate": "gate",
        "recall": "recall question",
        "practice": "practice piece",
        "card": "card",
        "deep_point": "deep point",
        "example": "example",
        "pitfall": "pitfall",
    }
    parts = [f"{found[table]} {name}{'' if found[table] == 1 else 's'}" for table, name in names.items()]
    click.echo(f"  {', '.join(parts)}")
    if not imported.unplaced:
        click.echo("  Every line of the page has its place.")
    for unplaced in imported.unplaced:
        click.echo(f"  Not placed, line {unplaced.line}: {visible_line(unplaced.text)}")
        click.echo(f"    {unplaced.reason}")
    for part in imported.open:
        click.echo(f"  Open, line {part.line}: {part.step}: {part.text}")
    if imported.captions is not None:
        click.echo(f"  Checked against {len(imported.captions.words)} words in {imported.captions.cues} captions.")
    for one in imported.standings:
        words = "" if one.share in (0.0, 1.0) else f" ({one.share:.0%} of its words)"
        if one.stands:
            click.echo(f"  {clock(one.at_s)} {one.anchor}: stands there{words}")
        elif one.found_s is None or one.distance_s is None:
            click.echo(f"  {clock(one.at_s)} {one.anchor}: stands nowhere in the captions")
        else:
            side = "later" if one.distance_s > 0 else "earlier"
            click.echo(
                f"  {clock(one.at_s)} {one.anchor}: stands at {clock(one.found_s)}, "
                f"{abs(one.distance_s):g} s {side}{words}"
            )


def _say_where_it_is(session: Session, imported: Imported) -> None:
    from lessons.finding import lesson_shelf, user_lessons_path

    same_id: list[Lesson] = [
        one
        for one in lesson_shelf(session.configuration.lessons).lessons
        if one.id == imported.lesson_id and one.path.absolute() != imported.path.absolute()
    ]
    if same_id:
        session.say(
            f"There is a lesson with the id {imported.lesson_id} already: {same_id[0].path}. Change one of them."
        )
    elif imported.path.absolute().is_relative_to(user_lessons_path().absolute()):
        session.say(f"Study it: labtui study {imported.lesson_id}")
    else:
        session.say(
            f"labtui finds it once its folder is in {user_lessons_path()}, or its path is in your configuration."
        )
