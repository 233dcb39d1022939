"""lesson prompt, ask, check-answer, answers: the grounded prompt, and what an assistant makes of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.given_files import read_given, read_stdin
from labtui.cli.interrupting import ctrl_c_sets
from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import working
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, USAGE, LabError

if TYPE_CHECKING:
    from labtui.kept_answers import KeptAnswer
    from lessons.grounded_answer import AnswerFault
    from lessons.model import Lesson

LARGEST_ANSWER = 1_000_000
"""Bytes."""

NOT_READ = "The answer could not be read"
GIVE_TEXT = "Name a text file in UTF-8."


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="[LESSON]", required=False)
@pass_session
def prompt(session: Session, lesson_id: str | None) -> None:
    """Print the grounded prompt of a lesson.

    Give it to an assistant of your choice; check-answer checks what comes back. Without LESSON: of the lesson in which
    you were last.
    """
    from labtui.terminal_text import visible
    from lessons.prompt import grounded_prompt

    click.echo(visible(grounded_prompt(session.lesson(lesson_id))), nl=False)


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="[LESSON]", required=False)
@click.option("--url", metavar="URL", help="Any OpenAI-compatible server; without it the lab's server.")
@click.option("--model", metavar="NAME", help="Which model, where the server has several.")
@click.option(
    "--key-from",
    metavar="VARIABLE",
    help="The environment variable with the API key for URL, instead of LABTUI_API_KEY.",
)
@click.option(
    "--max-tokens", type=click.IntRange(min=16), metavar="N", help="How long the answer may be; 4096 where that fits."
)
@json_option
@pass_session
def ask(
    session: Session,
    lesson_id: str | None,
    url: str | None,
    model: str | None,
    key_from: str | None,
    max_tokens: int | None,
    as_json: bool,
) -> int:
    """Send the grounded prompt to a model, check its answer.

    Without LESSON: of the lesson in which you were last. The answer is kept as a draft while it comes, and shown with
    its faults below their lines; Ctrl-C stops it and keeps what is there. Exit 1 where it has a fault or was cut off.
    The API key is read from the environment and kept nowhere.
    """
    from labtui.asking import ask_and_keep, place_to_ask
    from labtui.cli.faults import INTERRUPTED
    from labtui.terminal_text import visible_line

    lesson = session.lesson(lesson_id)
    place = place_to_ask(session.supervisor(), url, model, key_from)
    keep = session.store.progress.save_draft
    cancel = threading.Event()
    asked = f"Asking {visible_line(place.words)}"
    with ctrl_c_sets(cancel), working(session, asked) as progress:

        def told(text: str, seconds: float) -> None:
            words = text.split()
            progress.now(asked, f" · {len(words):,} word{'' if len(words) == 1 else 's'}")

        answer = ask_and_keep(lesson, place, keep, max_tokens=max_tokens, on_text=told, cancel=cancel)
    code = _show(session, lesson, answer)
    if answer.about.ended == "cancelled":
        return INTERRUPTED
    return FAILED if answer.remark else code


@click.command("check-answer", cls=LabCommand)
@click.argument("lesson_id", metavar="LESSON")
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--answer", "answer_id", metavar="ID", help="One that is kept, instead of FILE.")
@json_option
@pass_session
def check_answer_command(
    session: Session, lesson_id: str, file: Path | None, answer_id: str | None, as_json: bool
) -> int:
    """Check an assistant's answer to the prompt.

    FILE: a text file, or - for stdin. Without it the newest answer that is kept. Faults stand below their lines: a
    citation or quotation that does not exist, a section that is missing, a claim or a row of a table without an
    anchor. Exit 1 if there is one.
    """
    from labtui.kept_answers import kept_answer

    lesson = session.lesson(lesson_id)
    if file is not None and answer_id is not None:
        raise LabError("There are two answers here", "FILE and --answer were both given", "Give one of them.", USAGE)
    if file is None:
        return _show(session, lesson, kept_answer(lesson.id, answer_id, session.store))
    return _show_text(session, lesson, _from_file(file), None)


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="[LESSON]", required=False)
@click.option("--show", metavar="ID", help="Print one as it came, without its faults.")
@click.option("--discard", metavar="ID", help="Take one off the list. --restore brings it back.")
@click.option("--restore", metavar="ID", help="Bring a discarded one back.")
@click.option("--discarded", is_flag=True, help="List those that were discarded.")
@json_option
@pass_session
def answers(
    session: Session,
    lesson_id: str | None,
    show: str | None,
    discard: str | None,
    restore: str | None,
    discarded: bool,
    as_json: bool,
) -> int:
    """The answers to the prompt that are kept.

    Newest first, with their faults counted; labtui lesson check-answer LESSON --answer ID shows the faults of one.
    """
    from labtui import kept_answers
    from labtui.terminal_text import visible

    lesson, store = session.lesson(lesson_id), session.store
    if sum(one is not None for one in (show, discard, restore)) + discarded > 1:
        raise LabError(
            "That is more than one thing to do",
            "--show, --discard, --restore and --discarded stand alone",
            "Give one of them.",
            USAGE,
        )
    if discard is not None:
        kept_as = kept_answers.discard(lesson.id, discard, store)
        session.say(f"Discarded. Bring it back: labtui lesson answers {lesson.id} --restore {kept_as}")
    if restore is not None:
        kept_answers.restore(lesson.id, restore, store)
        session.say("It is back.")
    if show is not None:
        answer = kept_answers.kept_answer(lesson.id, show, store)
        if as_json:
            session.emit(_as_data(lesson, answer.text, answer, None))
        else:
            click.echo(visible(answer.text))
        return DONE
    found = kept_answers.kept_answers(lesson.id, store, discarded=discarded)
    if as_json:
        session.emit([_as_data(lesson, one.text, one, _faults(lesson, one.text)) for one in found])
        return DONE
    for one in found:
        for line in _listed(lesson, one):
            click.echo(line)
    if not found:
        kind = "discarded answer" if discarded else "answer"
        session.say(f"There is no {kind} to the prompt of {lesson.id}. Ask for one: labtui lesson ask {lesson.id}")
    return DONE


def marked_lines(text: str, faults: Sequence[AnswerFault]) -> Iterator[str]:
    """The answer with each fault below its line; what is absent from all of it stands first."""
    from labtui.terminal_text import visible_line

    at: dict[int, list[str]] = {}
    for fault in faults:
        at.setdefault(fault.line, []).append(fault.message)
    for message in at.get(0, ()):
        yield f"↳ {visible_line(message)}"
    for number, row in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n"), 1):
        yield f"{'✗' if number in at else ' '} {visible_line(row)}".rstrip()
        yield from (f"  ↳ {visible_line(message)}" for message in at.get(number, ()))


def _show(session: Session, lesson: Lesson, answer: KeptAnswer) -> int:
    return _show_text(session, lesson, answer.text, answer)


def _show_text(session: Session, lesson: Lesson, text: str, answer: KeptAnswer | None) -> int:
    from labtui.terminal_text import visible_line

    faults = _faults(lesson, text)
    if session.as_json:
        session.emit(_as_data(lesson, text, answer, faults))
    else:
        for line in marked_lines(text, faults):
            click.echo(line)
    if answer is not None:
        session.say(f"\n{answer.id} · {visible_line(answer.about.whence)}")
        if answer.remark:
            session.say(f"{answer.remark[:1].upper()}{visible_line(answer.remark[1:])}.")
    session.say(_verdict(len(faults)))
    return FAILED if faults else DONE


def _verdict(count: int) -> str:
    if not count:
        return "No fault by these rules. Whether it is right, you judge."
    return f"{count} fault{'' if count == 1 else 's'}; each stands below its line."


def _listed(lesson: Lesson, answer: KeptAnswer) -> Iterator[str]:
    from labtui.terminal_text import visible_line

    count = len(_faults(lesson, answer.text))
    found = "no fault" if not count else f"{count} fault{'' if count == 1 else 's'}"
    about = f"{len(answer.text.split()):,} words · {found}"
    yield f"{answer.id}  {answer.changed_at.astimezone():%Y-%m-%d %H:%M}  {visible_line(answer.about.whence)}"
    yield f"  {about}{f' · {visible_line(answer.remark)}' if answer.remark else ''}"


def _faults(lesson: Lesson, text: str) -> list[AnswerFault]:
    from lessons.grounded_answer import check_answer

    return check_answer(lesson, text)


def _as_data(
    lesson: Lesson, text: str, answer: KeptAnswer | None, faults: Sequence[AnswerFault] | None
) -> dict[str, Any]:
    about = answer.about if answer is not None else None
    data: dict[str, Any] = {
        "lesson": lesson.id,
        "answer": answer.id if answer is not None else None,
        "model": about.model or None if about is not None else None,
        "server": about.server or None if about is not None else None,
        "kept_at": answer.changed_at.isoformat(timespec="seconds") if answer is not None else None,
        "ended": about.ended or None if about is not None else None,
        "error": about.error or None if about is not None else None,
        "text": text,
    }
    if faults is not None:
        data["faults"] = [
            {"line": one.line, "rule": one.rule, "message": one.message, "text": one.text} for one in faults
        ]
    return data


def read_answer(path: Path) -> str:
    """Raises LabError (exit 2)."""
    return _decoded(read_given(path, LARGEST_ANSWER, NOT_READ, GIVE_TEXT), str(path))


def _from_file(file: Path) -> str:
    if str(file) == "-":
        return _decoded(read_stdin(LARGEST_ANSWER, NOT_READ, GIVE_TEXT), "stdin")
    return read_answer(file)


def _decoded(content: bytes, name: str) -> str:
    from labtui.terminal_text import visible_line

    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LabError(NOT_READ, f"{visible_line(name)} is not UTF-8 (byte {error.start})", GIVE_TEXT, USAGE) from error
