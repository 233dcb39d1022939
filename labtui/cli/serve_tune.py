"""serve tune: the settings that matter on this card, tried one by one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.interrupting import ctrl_c_sets
from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import working
from labtui.cli.serve_plan import make_chosen_plan, plan_options
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE
from labtui.terminal_text import visible_line
from lessons.times import clock

if TYPE_CHECKING:
    from labtui.serving.asked import Asked
    from labtui.serving.tuner import Step
    from labtui.serving.tuning import Table


@click.command(cls=LabCommand)
@plan_options
@click.option(
    "--requests",
    type=click.IntRange(1, 8),
    default=1,
    show_default=True,
    metavar="N",
    help="Requests at once to be good at.",
)
@click.option("--again", is_flag=True, help="Forget what was measured before and begin anew.")
@click.option("--show", is_flag=True, help="Only show what was measured so far.")
@json_option
@pass_session
def tune(session: Session, /, requests: int, again: bool, show: bool, as_json: bool, **choices: Any) -> int:
    """Try the settings that matter on this card, one launch each, and propose the best plan.

    Nothing is changed by it: it prints the line that starts the best plan. Ctrl-C stops it cleanly; the same command
    goes on where it was. A launch takes as long as a start does, so this takes minutes to hours.
    """
    from labtui.cli.faults import INTERRUPTED
    from labtui.serving.machine import read_machine
    from labtui.serving.tuner import Tuner
    from labtui.serving.tuning import proposal, start_line, table_to_json

    plan = make_chosen_plan(session, **choices)
    assert plan.asked is not None
    tuner = Tuner(session.supervisor(), plan, read_machine(), requests=requests)
    if again:
        tuner.file.remove()
    table, finished = tuner.table(), show
    cancel = threading.Event()
    if not show:
        with working(session, "looking at this machine") as narrator, ctrl_c_sets(cancel):
            tuned = tuner.run(lambda step: narrator.now(step_line(step)), cancel)
        table, finished = tuned.table, tuned.finished
    best = proposal(table, requests)
    if as_json:
        line = None if best is None else start_line(plan.asked, best.variation)
        session.emit(table_to_json(table) | {"finished": finished, "requests": requests, "proposal": line})
    else:
        for line in table_lines(table, plan.asked, requests):
            click.echo(line)
    if cancel.is_set():
        session.say("Stopped. What was measured is kept; the same command goes on.")
        return INTERRUPTED
    return DONE


def step_line(step: Step) -> str:
    left = f", about {clock(step.left_s)} left" if step.left_s is not None else ""
    return visible_line(f"launch {step.number} of {step.of} · {step.variation.id} · {step.doing}{left}")


def table_lines(table: Table, asked: Asked, requests: int) -> Iterator[str]:
    from labtui.serving.tuning import BASE, gain, is_noise, proposal, start_line

    if not table.rows:
        yield "Nothing was measured yet."
        return
    label = ", practice numbers: they say nothing about DiffusionGemma" if table.practice else ""
    counts = sorted({count for row in table.rows for count in row.rates})
    yield visible_line(f"{table.checkpoint} on {'; '.join(table.hardware)}, vLLM {table.vllm_version}{label}")
    yield "tokens per second, median of the rounds (slowest to fastest)"
    for row in table.rows:
        yield ""
        yield visible_line(f"{row.variation.id}  {row.variation.words}")
        if row.failed is not None:
            yield visible_line(f"    did not serve: {row.failed}")
        for count in counts:
            rate = row.rates.get(count)
            if rate is None:
                continue
            more = gain(table, row, count)
            change = "" if row.variation.id == BASE or more is None else f"  {more:+.0%}"
            change += ", within the noise" if change and is_noise(table, row, count) else ""
            at_once = "1 request" if count == 1 else f"{count} at once"
            yield f"    {at_once:<10}{rate.median:>8,.0f}  ({rate.lowest:,.0f} to {rate.highest:,.0f}){change}"
    best = proposal(table, requests)
    yield ""
    if best is None:
        yield "The plan as it is was not measured yet, so nothing can be said."
    elif len(table.rows) == 1:
        yield "Nothing but the plan as it is was measured yet."
    elif best.variation.id == BASE:
        yield "Nothing is clearly faster than the plan as it is."
    else:
        yield visible_line(f"best for {requests} at once: {best.variation.words}")
        if best.variation.changes_answers:
            yield "  it computes in another precision, so answers differ: look at them before you keep it"
        yield visible_line(f"  {start_line(asked, best.variation)}")
