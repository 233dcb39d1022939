"""progress: everything that was done, from one machine to another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from labtui.cli.given_files import GivenPath
from labtui.cli.lazy_group import LabGroup
from labtui.cli.session import Session, json_option, pass_session

NAMES = {
    "runs": "run",
    "sweeps": "sweep",
    "pairs": "blind pair",
    "judgements": "judgement",
    "verdicts": "verdict",
    "guesses": "guess",
    "gates": "piece of evidence",
    "notes": "note",
    "recall": "recall answer",
    "steps": "mark",
    "positions": "place in a lesson",
    "drafts": "draft",
}
PLURALS = {"piece of evidence": "pieces of evidence", "place in a lesson": "places in lessons", "guess": "guesses"}


@click.group(cls=LabGroup)
def progress() -> None:
    """Move everything that you have done between machines: runs, verdicts, recall, marks, notes, drafts."""


@progress.command("export")
@click.argument("file", type=GivenPath(path_type=Path))
@json_option
@pass_session
def export_command(session: Session, file: Path, as_json: bool) -> None:
    """Write everything to FILE; as a ZIP archive where its name ends in .zip.

    It holds what you have written and what was measured, so it is readable by you alone. No API key is in it. An
    earlier progress file of that name is replaced.
    """
    from labtui.version import version

    counts = session.store.export_progress(file, f"labtui {version()}")
    if as_json:
        session.emit({"file": str(file), "entries": counts})
        return
    session.say(f"{_listed(counts) or 'Nothing yet'}.")
    click.echo(str(file))


@progress.command("import")
@click.argument("file", type=GivenPath(path_type=Path))
@json_option
@pass_session
def import_command(session: Session, file: Path, as_json: bool) -> None:
    """Merge FILE into what is here. Nothing that is here is lost; the same file again changes nothing.

    What is newer counts, on whichever side it is; a grade that was taken back stays so. A file that is not sound
    changes nothing at all.
    """
    merged = session.store.import_progress(file)
    if as_json:
        parts = {"added": merged.added, "changed": merged.changed, "already": merged.already}
        session.emit(
            {"file": str(file)} | {part: {name: found.get(name, 0) for name in NAMES} for part, found in parts.items()}
        )
        return
    added, changed = _listed(merged.added), _listed(merged.changed)
    if added:
        click.echo(f"Added: {added}.")
    if changed:
        click.echo(f"Brought up to date: {changed}.")
    if not added and not changed:
        click.echo("Nothing is new in it.")
    here = sum(merged.already.values())
    if here:
        session.say(f"{here} {'entry was' if here == 1 else 'entries were'} here already.")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(_counted(counts[name], noun) for name, noun in NAMES.items() if counts.get(name))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else PLURALS.get(noun, f'{noun}s')}"
