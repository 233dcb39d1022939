"""blind: two answers in hidden order, judged before anybody says whose they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.given_files import GivenPath
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, USAGE, LabError

if TYPE_CHECKING:
    from labtui.judging import ToJudge
    from store.judgements import Revealed

CHOICE_OF = {"a": "left", "b": "right", "equal": "equal", "neither": "neither"}
LETTER = {"left": "A", "right": "B", "equal": "equal", "neither": "neither"}


@click.command(cls=LabCommand)
@click.argument("task_id", metavar="TASK", required=False)
@click.option("--between", nargs=2, metavar="RUN|TRIAL RUN|TRIAL", help="Only answers of these two runs or trials.")
@click.option("--tally", is_flag=True, help="How often each was preferred, of all blind judgements.")
@click.option("--to", metavar="DIR", type=GivenPath(path_type=Path), help="Write both answers there as files A and B.")
@click.option("--undo", is_flag=True, help="Take the last judgement back: it is not counted, its pair not shown again.")
@json_option
@pass_session
def blind(
    session: Session,
    task_id: str | None,
    between: tuple[str, str] | None,
    tally: bool,
    to: Path | None,
    undo: bool,
    as_json: bool,
) -> int:
    """Judge two kept answers to the same prompt of TASK without knowing whose they are.

    They come from kept runs of two checkpoints, or of two settings of one. The judgement is kept before the names are
    shown; a pair that was left without one comes back first. Without TASK it is any task.
    """
    from labtui.judging import to_judge, to_judge_between

    if tally:
        return _tell_tally(session, task_id)
    if undo:
        return _take_back(session)
    store = session.store
    shown = to_judge(store, task_id) if between is None else to_judge_between(store, task_id, *between)
    _show(shown, err=as_json)
    if to is not None:
        _write(session, shown, to)
    choice = click.prompt(
        "Which is better", type=click.Choice(list(CHOICE_OF), case_sensitive=False), err=as_json, show_choices=True
    )
    why = click.prompt("Why (enter leaves it out)", default="", show_default=False, err=as_json)
    store.judgements.judge(shown.pair.id, CHOICE_OF[choice.lower()], why)
    revealed = store.judgements.reveal(shown.pair.id)
    if as_json:
        session.emit(_revealed_data(revealed))
    else:
        _show_names(revealed)
    return DONE


def _write(session: Session, shown: ToJudge, to: Path) -> None:
    """Raises LabError (exit 2)."""
    from labtui.judging import pictures_of, save_pair

    try:
        for path in save_pair(shown, to, pictures_of(shown)):
            session.say(path)
    except OSError as error:
        raise LabError(
            "The answers were not written", f"{to}: {error.strerror or error}", "Choose another folder.", USAGE
        ) from error


def _tell_tally(session: Session, task_id: str | None) -> int:
    from labtui.judging import PRACTICE_JUDGED, tally_line, tally_to_json
    from labtui.terminal_text import visible_line

    counted = session.store.judgements.tally(task_id)
    if session.as_json:
        session.emit([tally_to_json(one) for one in counted])
        return DONE
    for one in counted:
        click.echo(visible_line(tally_line(one)))
    if any(one.practice for one in counted):
        click.echo(PRACTICE_JUDGED)
    if not counted:
        session.say("No blind judgement yet. The first: labtui blind")
    return DONE


def _take_back(session: Session) -> int:
    judgements = session.store.judgements
    last = judgements.last_judged()
    if last is None:
        session.say("There is no judgement to take back.")
        return FAILED
    revealed = judgements.withdraw(last.pair.id)
    if session.as_json:
        session.emit(_revealed_data(revealed))
    else:
        session.say(
            f"Taken back: {LETTER[revealed.judgement.choice]} of pair {revealed.pair.id}. It is not counted. You know "
            "whose the answers are, so the pair is not shown again."
        )
    return DONE


def _show(shown: ToJudge, err: bool) -> None:
    from labtui.judging import PRACTICE_JUDGED
    from labtui.terminal_text import visible

    pair = shown.pair
    click.echo(f"{visible(pair.task)}: two answers to the same prompt, in an order that is drawn and hidden", err=err)
    if pair.practice:
        click.echo(PRACTICE_JUDGED, err=err)
    click.echo(visible(shown.prompt), err=err)
    for letter, answer in (("A", pair.left), ("B", pair.right)):
        click.echo(f"\n=== {letter} ===", err=err)
        click.echo(visible(answer), err=err)
    click.echo("", err=err)


def _show_names(revealed: Revealed) -> None:
    from labtui.judging import revealed_lines

    click.echo(f"Kept: {LETTER[revealed.judgement.choice]}.")
    for line in revealed_lines(revealed):
        click.echo(line)


def _revealed_data(revealed: Revealed) -> dict[str, Any]:
    judgement, preferred = revealed.judgement, revealed.preferred
    return {
        "pair": revealed.pair.id,
        "task": revealed.pair.task,
        "practice": revealed.pair.practice,
        "choice": LETTER[judgement.choice],
        "why": judgement.why,
        "blind": judgement.blind,
        "withdrawn": revealed.withdrawn,
        "a": _side_data(revealed, "left"),
        "b": _side_data(revealed, "right"),
        "preferred": None if preferred is None else preferred.checkpoint,
        "preferred_run": None if preferred is None else preferred.id,
    }


def _side_data(revealed: Revealed, side: str) -> dict[str, Any]:
    from store.judgements import side_of

    run = revealed.left if side == "left" else revealed.right
    return {
        "run": run.id,
        "checkpoint": run.checkpoint,
        "settings": side_of(run),
        "practice": run.practice,
        "check": {
            "passed": run.check.passed,
            "facts": [{"name": fact.name, "passed": fact.passed, "detail": fact.detail} for fact in run.check.facts],
        },
    }
