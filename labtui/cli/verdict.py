"""verdict: write it, or read what was written."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.given_files import read_given, read_stdin
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, USAGE, LabError

if TYPE_CHECKING:
    from labtui.judging import BlindCount
    from lessons.model import Lesson
    from store.opening import Store
    from store.verdicts import Verdict

LARGEST_VERDICT = 100_000
"""Bytes."""

SCISSORS = "------ everything from this line on is left out ------"


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="LESSON", required=False)
@click.argument("words", metavar="[TEXT]", required=False)
@click.option("--text", help="The verdict, as one argument.")
@click.option("--file", type=click.Path(path_type=Path, allow_dash=True), help="A file with the verdict; - for stdin.")
@click.option("--edit", is_flag=True, help="Write it in $EDITOR, beginning with the last verdict.")
@click.option("--run", "run_ids", metavar="RUN", multiple=True, help="A run that it rests on; may be repeated.")
@click.option("--blind", is_flag=True, help="Add what was judged blind, in a sentence for each task.")
@json_option
@pass_session
def verdict(
    session: Session,
    lesson_id: str | None,
    words: str | None,
    text: str | None,
    file: Path | None,
    edit: bool,
    run_ids: tuple[str, ...],
    blind: bool,
    as_json: bool,
) -> int:
    """Write the verdict on a lesson's question, or read the last one.

    With TEXT, --text, --file or --edit it is saved; every earlier verdict is kept too. Without them it is read; on a
    terminal where there is none yet, $EDITOR opens. Without --run it cites the newest valid run of each lab task.
    """
    lesson = session.lesson(lesson_id)
    store = session.store
    last = store.verdicts.latest(lesson.id)
    given = [one for one in (words, text, file) if one is not None]
    if len(given) + edit > 1:
        raise LabError(
            "There is more than one verdict here",
            "the text was given in more than one way",
            "Use one of TEXT, --text, --file and --edit.",
            USAGE,
        )
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if not given and not edit and (run_ids or blind or last is not None or not on_terminal):
        if run_ids or blind:
            raise LabError("There is no text", "--run and --blind go into a verdict", "Give TEXT as well.", USAGE)
        return _read(session, lesson, last)
    if edit or not given:
        written = _from_editor(lesson, last)
    else:
        written = _from_file(file) if file is not None else str(given[0])
    if blind:
        told = [count.sentence for count in _blind_counts(lesson, store) if count.sentence not in written]
        written = "\n".join([written.rstrip(), *told])
    _refuse_too_long(written)
    saved = store.verdicts.save(lesson.id, written, run_ids or _newest_runs(lesson, store))
    if as_json:
        session.emit(_as_data(lesson, saved, store))
    else:
        session.say(f"Saved, citing {_listed(saved.runs)}." if saved.runs else "Saved. It cites no run.")
    return DONE


def _refuse_too_long(text: str) -> None:
    if (size := len(text.encode("utf-8", "surrogatepass"))) > LARGEST_VERDICT:
        raise LabError(
            "The verdict is too long",
            f"it has {size // 1000} kB; {LARGEST_VERDICT // 1000} kB is the most that is kept",
            "Keep what answers the question; cite runs with --run instead of pasting them.",
            USAGE,
        )


def _read(session: Session, lesson: Lesson, last: Verdict | None) -> int:
    if session.as_json:
        session.emit(_as_data(lesson, last, session.store))
    elif last is not None:
        for line in _lines(lesson, last, session.store):
            click.echo(line)
    if last is None:
        session.say(f"There is no verdict on {lesson.id} yet. Write it: labtui verdict {lesson.id} --edit")
        return FAILED
    return DONE


def _as_data(lesson: Lesson, kept: Verdict | None, store: Store) -> dict[str, Any]:
    from labtui.judging import tally_to_json

    return {
        "lesson": lesson.id,
        "question": lesson.frame.lab_question,
        "id": kept.id if kept else None,
        "text": kept.text if kept else None,
        "runs": list(kept.runs) if kept else [],
        "saved_at": kept.saved_at.isoformat(timespec="seconds") if kept else None,
        "blind": [{"task": one.task, **tally_to_json(one.tally)} for one in _blind_counts(lesson, store)],
    }


def _blind_counts(lesson: Lesson, store: Store) -> tuple[BlindCount, ...]:
    from labtui.judging import blind_counts

    return blind_counts(store, (task.task for task in lesson.lab_tasks))


def _lines(lesson: Lesson, kept: Verdict, store: Store) -> Iterator[str]:
    from labtui.cli.conversation import body_lines
    from labtui.cli.run_text import PRACTICE_LABEL, end_to_end, label_of
    from labtui.terminal_text import visible, visible_line

    yield f"{lesson.title} · verdict of {kept.saved_at.astimezone():%Y-%m-%d %H:%M}"
    yield from body_lines(lesson.frame.lab_question)
    yield from (f"  {line}".rstrip() for line in visible(kept.text).splitlines())
    yield ""
    cited = store.runs.readable(kept.runs)
    for run in cited:
        yield f"  {run.id}  {run.task} · {label_of(run)}  {end_to_end(run)} end to end"
    if any(run.practice for run in cited):
        yield f"  {PRACTICE_LABEL}"
    for count in _blind_counts(lesson, store):
        yield f"  {visible_line(count.sentence)}"


def _newest_runs(lesson: Lesson, store: Store) -> Sequence[str]:
    from labtui.standing import standing_of

    return [run.id for run in standing_of(lesson, store).runs.values()]


def _listed(run_ids: Sequence[str]) -> str:
    return f"run{'s' if len(run_ids) > 1 else ''} {', '.join(run_ids)}"


def _from_file(file: Path) -> str:
    title, fix = "The verdict could not be read", "Give a text file in UTF-8, or - for stdin."
    content = (
        read_stdin(LARGEST_VERDICT, title, fix) if str(file) == "-" else read_given(file, LARGEST_VERDICT, title, fix)
    )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LabError(title, f"{file} is not UTF-8 (byte {error.start})", fix, USAGE) from error


def _from_editor(lesson: Lesson, last: Verdict | None) -> str:
    from labtui.plain_markdown import plain_text

    start = f"{last.text if last else ''}\n\n{SCISSORS}\n{plain_text(lesson.frame.lab_question)}\n"
    edited = click.edit(start, extension=".md", require_save=True)
    if edited is None:
        raise LabError(
            "Nothing was saved",
            "the editor was closed without saving, or nothing was changed",
            f"Try again, or: labtui verdict {lesson.id} --file FILE",
        )
    return edited.split(SCISSORS)[0].strip()
