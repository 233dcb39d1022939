"""run --sweep and sweeps: one thing varied, and what it does to the speed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from exercises.sweep_panels import TITLES
from labtui.cli.given_files import GivenPath
from labtui.cli.interrupting import ctrl_c_sets
from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import Working, working
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED

if TYPE_CHECKING:
    from exercises.endpoint import Endpoint
    from exercises.sweep import Axis, SweepEvent
    from exercises.sweep_points import Point
    from labtui.running import RunKept

PLOT_WIDTH = 96


def run_the_sweep(
    session: Session,
    axis: Axis,
    task_id: str | None,
    *,
    wanted: Sequence[str],
    rounds: int,
    warmup: int,
    seed: int | None,
    run_code: bool,
    usual_s: float | None,
    as_json: bool,
) -> int:
    from labtui.sweeping import sweep_points

    endpoint = session.supervisor().endpoint()
    points = sweep_points(axis, endpoint, task_id, wanted)
    asked = _Asked(rounds, warmup, seed, run_code, usual_s)
    return _run(session, axis, points, endpoint, asked, None, as_json)


def continue_the_sweep(session: Session, sweep_id: str, run_code: bool, as_json: bool) -> int:
    """Runs the points that a kept sweep still misses, with its own rounds, warm-ups and seed."""
    from labtui.run_progress import ESTIMATED_FROM, usual_seconds
    from labtui.sweeping import rest_of

    document = session.store.sweeps.get(sweep_id).document
    endpoint = session.supervisor().endpoint()
    points = rest_of(document, endpoint)
    usual = usual_seconds(session.store.runs.list(checkpoint=endpoint.checkpoint, limit=ESTIMATED_FROM))
    asked = _Asked(document["rounds"], document["warmup"], document["seed"], run_code, usual)
    return _run(session, document["axis"], points, endpoint, asked, document, as_json)


@dataclass(frozen=True, slots=True)
class _Asked:
    rounds: int
    warmup: int
    seed: int | None
    run_code: bool
    usual_s: float | None


def _run(
    session: Session,
    axis: Axis,
    points: Sequence[Point],
    endpoint: Endpoint,
    asked: _Asked,
    earlier: Mapping[str, Any] | None,
    as_json: bool,
) -> int:
    from exercises.sweep import sweep_to_json
    from exercises.sweep_points import requests_of
    from labtui.cli.faults import INTERRUPTED, show
    from labtui.sweeping import sweep_and_keep

    store = session.store
    total = requests_of(points, asked.rounds, asked.warmup)
    estimate = None if asked.usual_s is None else asked.usual_s * total
    about = "" if estimate is None or estimate <= 90 else f", about {estimate / 60:.0f} min"
    session.say(f"{len(points)} points, {total} requests in all{about}. Ctrl-C stops and keeps what is finished.")
    cancel = threading.Event()
    with working(session, f"sweep by {TITLES[axis]} on {endpoint.checkpoint}") as narrator, ctrl_c_sets(cancel):
        sweep = sweep_and_keep(
            axis,
            points,
            endpoint,
            store.runs.add,
            store.sweeps.save,
            rounds=asked.rounds,
            warmup=asked.warmup,
            seed=asked.seed,
            usual_s=asked.usual_s,
            run_code=asked.run_code,
            on_event=_narrating(narrator),
            cancel=cancel,
            earlier=earlier,
        )
    document = store.sweeps.get(sweep.id).document if sweep.points else earlier or sweep_to_json(sweep)
    if as_json:
        session.emit(document)
    else:
        for line in sweep_lines(document):
            click.echo(line)
    if sweep.error is not None:
        show(sweep.error, Session(quiet=session.quiet))
        return sweep.error.exit_code
    if sweep.cancelled:
        rest = f" The rest: labtui sweeps {sweep.id} --continue" if document["points"] else ""
        session.say(f"Stopped. What was finished is kept.{rest}")
        return INTERRUPTED
    measured = [run for result in sweep.points for run in result.runs if not run.warmup]
    return DONE if all(run.valid for run in measured) else FAILED


@click.command("sweeps", cls=LabCommand)
@click.argument("sweep_id", metavar="SWEEP", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@click.option(
    "--svg",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw the points of SWEEP into FILE.",
)
@click.option("--continue", "go_on", is_flag=True, help="Run the points that SWEEP still misses; same checkpoint.")
@click.option("--run-code", is_flag=True, help="With --continue: allow code that the model writes, as in run.")
@json_option
@pass_session
def sweeps_command(
    session: Session,
    sweep_id: str | None,
    limit: int,
    svg: Path | None,
    go_on: bool,
    run_code: bool,
    as_json: bool,
) -> int:
    """The sweeps that were kept, newest first, or one of them with its points. A new one: labtui run --sweep kinds."""
    from labtui.cli.run_text import columns, local_time

    if go_on:
        if sweep_id is None or svg is not None:
            raise click.UsageError("--continue goes on with one SWEEP, and draws nothing. labtui sweeps lists them.")
        return continue_the_sweep(session, sweep_id, run_code, as_json)
    if sweep_id is not None:
        document = session.store.sweeps.get(sweep_id).document
        if svg is not None:
            from exercises.sweep_plot import sweep_svg
            from labtui.new_file import write_new

            session.say(f"The plot of sweep {sweep_id}: {write_new(svg, sweep_svg(document), 'The plot')}")
        if as_json:
            session.emit(document)
            return DONE
        for line in sweep_lines(document):
            click.echo(line)
        return DONE
    if svg is not None:
        raise click.UsageError("Missing argument 'SWEEP': --svg draws one sweep. labtui sweeps lists them.")
    found = session.store.sweeps.list(limit)
    if as_json:
        session.emit([one.document for one in found])
        return DONE
    if not found:
        session.say("No sweeps yet. The first: labtui run --sweep kinds")
        return DONE
    rows = [("SWEEP", "WHEN", "BY", "CHECKPOINT", "POINTS")]
    for one in found:
        points = f"{len(one.document['points'])} of {one.document['asked']}"
        when = local_time(one.started_at.isoformat())
        rows.append((one.id, when, TITLES.get(one.axis, one.axis), one.checkpoint, points))
    for line in columns(rows):
        click.echo(line)
    return DONE


def sweep_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The points of a sweep as a table and as bars; every number with its definition below."""
    from exercises.speed import TRIAL_DEFINITIONS
    from exercises.sweep_bars import plot_lines
    from exercises.sweep_panels import panels_of, remarks_of, sweep_facts, sweep_title, table_of
    from labtui.cli.run_text import PRACTICE_LABEL, columns, local_time
    from labtui.terminal_text import visible_line

    title = f"{sweep_title(document)} · {sweep_facts(document)} · {local_time(document['started_at'])}"
    yield visible_line(title)
    if document["practice"]:
        yield f"  {PRACTICE_LABEL}"
    for remark in remarks_of(document):
        yield f"  {visible_line(remark)}"
    header, rows = table_of(document)
    rows.insert(0, tuple(name.upper() for name in header))
    for line in columns(rows):
        yield f"  {visible_line(line)}"
    for line in plot_lines(document, PLOT_WIDTH) if document["points"] else ():
        yield f"  {visible_line(line)}".rstrip()
    for panel in panels_of(document):
        yield f"  {panel.title.capitalize()}: {panel.definition}"
    yield f"  Interval: {TRIAL_DEFINITIONS['interval']}"


def _narrating(narrator: Working) -> Callable[[SweepEvent | RunKept], None]:
    from exercises.sweep import PointStarted, SweepProgress
    from labtui.cli.run_text import end_to_end
    from labtui.running import RunKept
    from lessons.times import clock

    doing = ""

    def tell(event: SweepEvent | RunKept) -> None:
        nonlocal doing
        match event:
            case PointStarted():
                doing = f"{event.point.label} ({event.number} of {event.of})"
                narrator.now(doing)
            case SweepProgress():
                left = "" if event.left_s is None else f", about {clock(event.left_s)} left"
                narrator.now(doing, f" · {event.done} of {event.of} requests{left}")
            case RunKept():
                kept = event.run
                name = "warm-up" if kept.warmup else "run"
                narrator.say(f"{doing}: {name} {kept.id}: {end_to_end(kept)} end to end")

    return tell
