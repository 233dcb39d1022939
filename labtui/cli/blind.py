"""blind: two answers in hidden order, judged before anybody says whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, USAGE, LabError

if TYPE_CHECKING:
    from exercises.records import Run
    from store.judgements import Pair, Revealed, Tally

CHOICE_OF = {"a": "left", "b": "right", "equal": "equal", "neither": "neither"}
LETTER = {"left": "A", "right": "B", "equal": "equal", "neither": "neither"}


@click.command(cls=LabCommand)
@click.argument("task_id", metavar="TASK", required=False)
@click.option("--between", nargs=2, metavar="RUN|TRIAL RUN|TRIAL", help="Only answers of these two runs or trials.")
@click.option("--tally", is_flag=True, help="How often each checkpoint was preferred, of all blind judgements.")
@json_option
@pass_session
def blind(session: Session, task_id: str | None, between: tuple[str, str] | None, tally: bool, as_json: bool) -> int:
    """Judge two kept answers to the same prompt of TASK without knowing whose they are.

    They come from kept runs of two checkpoints. The judgement is kept before the names are shown; a pair that was left
    without one comes back first.
    """
    store = session.store
    if tally:
        counted = store.judgements.tally(task_id)
        if as_json:
            session.emit([_tally_data(one) for one in counted])
        else:
            for one in counted:
                click.echo(_tally_line(one))
            if not counted:
                session.say("No blind judgement yet. The first: labtui blind coding")
        return DONE
    if task_id is None:
        raise click.UsageError("Missing argument 'TASK'.")
    pair = _pair(session, task_id, between)
    _show(pair, store.judgements.prompt(pair.id), err=as_json)
    choice = click.prompt(
        "Which is better", type=click.Choice(list(CHOICE_OF), case_sensitive=False), err=as_json, show_choices=True
    )
    why = click.prompt("Why (enter leaves it out)", default="", show_default=False, err=as_json)
    store.judgements.judge(pair.id, CHOICE_OF[choice.lower()], why)
    revealed = store.judgements.reveal(pair.id)
    if as_json:
        session.emit(_revealed_data(revealed))
    else:
        _show_names(revealed)
    return DONE


def _pair(session: Session, task_id: str, between: tuple[str, str] | None) -> Pair:
    judgements = session.store.judgements
    if between is None and (left_open := judgements.open_pairs(task_id)):
        return left_open[0]
    runs = session.store.runs
    if between is None:
        kept = [run for run in runs.list(task=task_id) if not run.warmup]
        candidates = [(one, other) for at, one in enumerate(kept) for other in kept[at + 1 :]]
    else:
        first, second = (_runs_of(session, name) for name in between)
        candidates = [(one, other) for one in first for other in second]
    found = _fair(candidates, judgements.judged_runs())
    if found is None:
        raise LabError(
            f"There is no new pair of answers to {task_id}",
            "a pair needs valid runs of two checkpoints, of the same prompt, that were not judged together yet",
            f"Run it on both with the same seed: labtui run {task_id} --seed 1; or see labtui blind --tally.",
            USAGE,
        )
    return judgements.make_pair(found[0].id, found[1].id)


def _runs_of(session: Session, name: str) -> list[Run]:
    trial = [run for run in session.store.runs.list(trial=name) if not run.warmup]
    return trial or [session.store.runs.get(name)]


def _fair(candidates: Sequence[tuple[Run, Run]], judged: set[frozenset[str]]) -> tuple[Run, Run] | None:
    from store.judgements import why_no_pair

    return next(
        (pair for pair in candidates if frozenset(run.id for run in pair) not in judged and not why_no_pair(*pair)),
        None,
    )


def _show(pair: Pair, prompt: str, err: bool) -> None:
    from labtui.terminal_text import visible

    click.echo(f"{pair.task}: two answers to the same prompt, in an order that is drawn and hidden", err=err)
    click.echo(visible(prompt), err=err)
    for letter, answer in (("A", pair.left), ("B", pair.right)):
        click.echo(f"\n=== {letter} ===", err=err)
        click.echo(visible(answer), err=err)
    click.echo("", err=err)


def _show_names(revealed: Revealed) -> None:
    from labtui.cli.run_text import PRACTICE_LABEL, label_of

    click.echo(f"Kept: {LETTER[revealed.judgement.choice]}.")
    for letter, run in (("A", revealed.left), ("B", revealed.right)):
        click.echo(f"  {letter} is {label_of(run)} · run {run.id}")
    if revealed.left.practice:
        click.echo(PRACTICE_LABEL)


def _revealed_data(revealed: Revealed) -> dict[str, Any]:
    judgement, preferred = revealed.judgement, revealed.preferred
    return {
        "pair": revealed.pair.id,
        "task": revealed.pair.task,
        "choice": LETTER[judgement.choice],
        "why": judgement.why,
        "blind": judgement.blind,
        "a": {"run": revealed.left.id, "checkpoint": revealed.left.checkpoint, "practice": revealed.left.practice},
        "b": {"run": revealed.right.id, "checkpoint": revealed.right.checkpoint, "practice": revealed.right.practice},
        "preferred": None if preferred is None else preferred.checkpoint,
    }


def _tally_data(one: Tally) -> dict[str, Any]:
    return {
        "first": one.first,
        "second": one.second,
        "first_preferred": one.first_preferred,
        "second_preferred": one.second_preferred,
        "equal": one.equal,
        "neither": one.neither,
        "judged": one.judged,
    }


def _tally_line(one: Tally) -> str:
    return (
        f"{one.first} {one.first_preferred} : {one.second_preferred} {one.second} · {one.equal} equal · "
        f"{one.neither} neither · {one.judged} judged blind"
    )
