"""tasks: what can be run, and task sets of one's own: new, check, show, try."""

from __future__ import annotations

import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.given_files import GivenPath, read_given
from labtui.cli.lazy_group import LabGroup
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, USAGE

if TYPE_CHECKING:
    from exercises.tasks import PreparedTask, Task, TaskSet

LARGEST_ANSWER = 4_000_000
"""Bytes."""

set_option = click.option(
    "--set",
    "set_path",
    type=GivenPath(path_type=Path),
    metavar="PATH",
    help="A tasks.toml or its folder; without it all tasks that labtui knows.",
)
seed_option = click.option("--seed", type=int, metavar="N", help="Which variant and picture; without it one by chance.")


@click.group(cls=LabGroup, invoke_without_command=True)
@json_option
@click.pass_context
@pass_session
def tasks(session: Session, context: click.Context, as_json: bool) -> int:
    """Every task that can be run; sets of your own: new, check, show, try."""
    if context.invoked_subcommand is not None:
        return DONE
    from exercises.tasks import task_set_for
    from labtui.task_shelf import own_shelf

    shelf = own_shelf()
    sets = [task_set_for("practice", True), task_set_for("", False), *shelf.sets]
    if as_json:
        session.emit([_task_data(task) for one in sets for task in one.tasks])
    else:
        from labtui.cli.run_text import columns
        from labtui.terminal_text import visible_line

        for one in sets:
            click.echo(visible_line(f"{one.title} ({one.id}): {served_words(one)}"))
            for row in columns([(task.id, task.kind, task.title) for task in one.tasks]):
                click.echo(f"  {visible_line(row)}")
    for path, fault in shelf.broken:
        session.say(f"Left out: {fault.cause}. labtui tasks check {shlex.quote(str(path))} says more.")
    return DONE


def served_words(one: TaskSet) -> str:
    return "on the practice checkpoint" if one.practice else "on every model but the practice checkpoint"


@tasks.command()
@click.argument("directory", metavar="DIR", type=GivenPath(path_type=Path, file_okay=False))
@pass_session
def new(session: Session, directory: Path) -> None:
    """A commented task set in DIR that passes the check. Nothing that exists is overwritten."""
    from labtui.cli.task_scaffold import write_task_set

    file = write_task_set(directory)
    click.echo(str(file))
    folder = shlex.quote(str(directory))
    session.say(f"Write it, then: labtui tasks check {folder}; and try an answer: labtui tasks try --set {folder}")


@tasks.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
@pass_session
def check(session: Session, paths: tuple[Path, ...], as_json: bool) -> int:
    """The first fault of each task set, with its place. Exit 1 if there is one."""
    from exercises.errors import ExerciseError
    from exercises.finding import built_in_ids, refuse_taken
    from exercises.tasks import load_task_set

    faults: list[dict[str, str]] = []
    for path in paths:
        try:
            refuse_taken(path, load_task_set(path), built_in_ids())
        except ExerciseError as fault:
            faults.append({"path": str(path), "message": fault.cause, "fix": fault.fix})
    if as_json:
        session.emit({"faults": faults})
    else:
        from labtui.terminal_text import visible_line

        for one in faults:
            click.echo(visible_line(f"{one['message']}. {one['fix']}"))
    if not faults:
        session.say(f"{len(paths)} task set{'s' if len(paths) > 1 else ''} checked, no fault found")
    return FAILED if faults else DONE


@tasks.command()
@click.argument("task_id", metavar="TASK")
@set_option
@seed_option
@click.option("--to", metavar="DIR", type=GivenPath(path_type=Path), help="Write the pictures of the prompt there.")
@json_option
@pass_session
def show(
    session: Session, task_id: str, set_path: Path | None, seed: int | None, to: Path | None, as_json: bool
) -> int:
    """What a run of TASK sends, and how its answer is checked. Nothing is sent."""
    task, prepared = _prepared(task_id, set_path, seed)
    pictures = [] if to is None else _write_pictures(task, prepared, to)
    if as_json:
        session.emit(
            {
                **_task_data(task),
                "seed": prepared.seed,
                "prompt": prepared.prompt_text,
                "prepared": dict(prepared.facts),
                "pictures": len(prepared.images),
                "written": [str(path) for path in pictures],
            }
        )
        return DONE
    from labtui.terminal_text import visible, visible_line

    click.echo(visible_line(f"{task.title} ({task.set_id}/{task.id}) · seed {prepared.seed}"))
    click.echo(visible(prepared.prompt_text.strip()))
    click.echo("")
    for name, value in prepared.facts.items():
        click.echo(visible_line(f"  {name}: {value}"))
    click.echo(f"  pictures: {len(prepared.images)}")
    click.echo(f"  checker: {task.checker_type}{', runs the code of the answer' if task.runs_code else ''}")
    for path in pictures:
        click.echo(str(path))
    return DONE


@tasks.command("try")
@click.argument("task_id", metavar="TASK")
@click.argument("answer", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))
@set_option
@seed_option
@click.option("--run-code", is_flag=True, help="Allow the checker to run the code of the answer, in a limited child.")
@json_option
@pass_session
def try_answer(
    session: Session,
    task_id: str,
    answer: Path,
    set_path: Path | None,
    seed: int | None,
    run_code: bool,
    as_json: bool,
) -> int:
    """Check an answer of your own, without a server: the facts that a run would get. FILE: a text, - for stdin.

    Exit 1 where the answer fails. Where the task has variants or draws a picture, name the --seed that you answer.
    """
    from labtui.cli.given_files import read_stdin
    from labtui.running import refuse_unallowed_code

    task, prepared = _prepared(task_id, set_path, seed, run_code)
    refuse_unallowed_code(task, run_code)
    title, fix = "The answer could not be read", "Give a text file, or - for stdin."
    content = (
        read_stdin(LARGEST_ANSWER, title, fix) if str(answer) == "-" else read_given(answer, LARGEST_ANSWER, title, fix)
    )
    found = prepared.check(content.decode("utf-8", errors="replace"))
    facts = [{"name": fact.name, "passed": fact.passed, "detail": fact.detail} for fact in found.facts]
    if as_json:
        session.emit({"task": task.id, "seed": prepared.seed, "passed": found.passed, "facts": facts})
        return DONE if found.passed else FAILED
    from labtui.terminal_text import visible_line

    click.echo(f"{'passed' if found.passed else 'FAILED'} · seed {prepared.seed}")
    for fact in found.facts:
        detail = f": {visible_line(fact.detail)}" if fact.detail else ""
        click.echo(f"  {'✓' if fact.passed else '✗'} {visible_line(fact.name)}{detail}")
    return DONE if found.passed else FAILED


def _prepared(
    task_id: str, set_path: Path | None, seed: int | None, run_code: bool = False
) -> tuple[Task, PreparedTask]:
    """Raises ExerciseError (exit 2)."""
    from dataclasses import replace

    from exercises.tasks import find_task, load_task_set
    from labtui.task_shelf import tasks_for

    if set_path is not None:
        known = load_task_set(set_path)
    else:
        practice, others = tasks_for("practice", True), tasks_for("", False)
        ids = {task.id for task in others.tasks}
        known = replace(others, tasks=(*others.tasks, *(task for task in practice.tasks if task.id not in ids)))
    task = find_task(task_id, known)
    return task, task.prepare(secrets.randbelow(10_000) if seed is None else seed, run_code=run_code)


def _write_pictures(task: Task, prepared: PreparedTask, to: Path) -> list[Path]:
    """Raises LabError (exit 2)."""
    from labtui.errors import LabError

    paths = [to / f"{task.id}-{prepared.seed}-{number}.png" for number in range(1, len(prepared.images) + 1)]
    try:
        to.mkdir(parents=True, exist_ok=True)
        for path, png in zip(paths, prepared.images, strict=True):
            path.write_bytes(png)
    except OSError as fault:
        raise LabError(
            "The pictures were not written", f"{to}: {fault.strerror or fault}", "Choose another folder.", USAGE
        ) from fault
    return paths


def _task_data(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "set": task.set_id,
        "kind": task.kind,
        "title": task.title,
        "practice": task.practice,
        "max_tokens": task.max_tokens,
        "checker": task.checker_type,
        "runs_code": task.runs_code,
        "variants": len(task.variants),
    }
