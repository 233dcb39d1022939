"""runs, show, compare: what was measured before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.given_files import GivenPath
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED

if TYPE_CHECKING:
    from exercises.records import Run

SHOWN = 20


@click.command("runs", cls=LabCommand)
@click.option("--task", help="Only the runs of this task.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The newest N; 20 without it.")
@click.option("--all", "everything", is_flag=True, help="All of them, as --json gives without --limit.")
@json_option
@pass_session
def runs_command(session: Session, task: str | None, limit: int | None, everything: bool, as_json: bool) -> None:
    """The runs that were kept, newest first."""
    if limit is None and not everything and not as_json:
        limit = SHOWN
    found = session.store.runs.list(task=task, limit=limit)
    if as_json:
        from exercises.run_json import run_to_json, without_raw

        session.emit([without_raw(run_to_json(run)) for run in found])
        return
    if not found:
        session.say("No runs yet. The first: labtui serve start --wait, then labtui run coding.")
        return
    from labtui.cli.run_text import columns

    rows = [("RUN", "WHEN", "TASK", "CHECKPOINT", "END TO END", "CHECK"), *(_row(run) for run in found)]
    for line in columns(rows):
        click.echo(line)
    there_are = session.store.runs.count(task)
    if limit is not None and there_are > limit:
        session.say(f"{limit} of {there_are}; --all or --limit N shows more.")


def _row(run: Run) -> tuple[str, ...]:
    from labtui.cli.run_text import label_of, local_time, marked_rate

    state = "not valid" if not run.valid else "passed" if run.check.passed else "failed"
    task = f"{run.task} (warm-up)" if run.warmup else run.task
    return run.id, local_time(run.started_at), task, label_of(run), marked_rate(run), state


@click.command(cls=LabCommand)
@click.argument("run_id", metavar="RUN")
@click.option("--recompute", is_flag=True, help="Compute every number again from the stored chunk timeline.")
@click.option(
    "--number", is_flag=True, help="Only its headline, or its trial's, with all that it needs to stand alone."
)
@click.option(
    "--bundle",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the run with its raw stream to FILE; labtui measure FILE reads it back.",
)
@json_option
@pass_session
def show(session: Session, run_id: str, recompute: bool, number: bool, bundle: Path | None, as_json: bool) -> int:
    """One run with every number and its definition. RUN is an id or the beginning of one.

    With --recompute: exit 1 if a number comes out different from the stored one.
    """
    from exercises.run_json import run_to_json

    run = session.store.runs.get(run_id)
    if bundle is not None:
        from labtui.artifacts.bundle import write_bundle

        session.say(f"The evidence bundle of run {run.id}: {write_bundle(run, bundle)}")
    if number and not (recompute or as_json):
        from labtui.result_text import Measured, number_text
        from labtui.terminal_text import visible

        trial = session.store.runs.list(trial=run.trial)[::-1] if run.trial else []
        click.echo(visible(number_text(Measured(run, tuple(trial), alone=run.warmup))))
        return DONE
    if not recompute:
        from labtui.claims import claims_beside_run, claims_to_json
        from labtui.cli.claims_text import claim_lines, known_claims

        beside = claims_beside_run(run, known_claims(session))
        if as_json:
            session.emit({**run_to_json(run), "claims": claims_to_json(beside)})
        else:
            from labtui.cli.run_text import run_lines

            for line in (*run_lines(run), *claim_lines(beside)):
                click.echo(line)
        return DONE
    differences = recompute_differences(run)
    if as_json:
        session.emit({**run_to_json(run), "recomputed": {"same": not differences, "differences": differences}})
    else:
        for line in recompute_lines(run, differences):
            click.echo(line)
    return FAILED if differences else DONE


def recompute_differences(run: Run) -> list[dict[str, Any]]:
    from exercises.run_json import recompute
    from exercises.speed import speed_to_json

    stored, again = speed_to_json(run.speed), speed_to_json(recompute(run).speed)
    return [
        {"key": key, "stored": stored.get(key), "computed": again.get(key)}
        for key in {**stored, **again}
        if stored.get(key) != again.get(key)
    ]


def recompute_lines(run: Run, differences: list[dict[str, Any]]) -> Iterator[str]:
    chunks = len(run.timeline.chunks)
    if not differences:
        yield f"run {run.id}: every number is the same when computed again from its {chunks} stored chunks"
    for one in differences:
        yield f"run {run.id}: {one['key']} is stored as {one['stored']} but its chunks give {one['computed']}"


@click.command(cls=LabCommand)
@click.argument("first", metavar="RUN|TRIAL")
@click.argument("second", metavar="[RUN]", required=False)
@json_option
@pass_session
def compare(session: Session, first: str, second: str | None, as_json: bool) -> None:
    """Two runs side by side, with the ratio of the second to the first where it means something.

    Two trials: their medians and the ratio of these with its interval. One trial of a real model: beside it what others
    published of the baseline, Gemma 4, where you cannot run that.
    """
    trials = [session.store.runs.list(trial=name)[::-1] for name in (first, second) if name is not None]
    if all(trials):
        from labtui.cli.compare_trials import show_published, show_two

        if second is None:
            show_published(session, trials[0], as_json)
        else:
            show_two(session, trials[0], trials[1], as_json)
        return
    if second is None:
        raise click.UsageError("Missing argument 'RUN': a run is compared with another one. Alone it must be a trial.")
    one, two = session.store.runs.get(first), session.store.runs.get(second)
    reason = not_comparable(one, two)
    if as_json:
        from exercises.run_json import run_to_json
        from labtui.claims import claims_beside_run, claims_to_json
        from labtui.cli.claims_text import known_claims

        claims = known_claims(session)
        ratios = None if reason else {key: ratio(one, two, key) for key in COMPARED}
        session.emit(
            {
                "runs": [run_to_json(one), run_to_json(two)],
                "comparable": reason is None,
                "comparable_reason": reason,
                "ratios": ratios,
                "same_prompt": same_prompt(one, two),
                "claims": [claims_to_json(claims_beside_run(run, claims)) for run in (one, two)],
            }
        )
        return
    for line in compare_lines(one, two, reason):
        click.echo(line)
    if not (one.practice or two.practice):
        from labtui.claims import claims_beside_run
        from labtui.cli.claims_text import claim_lines, known_claims

        claims = known_claims(session)
        for run in (one, two):
            click.echo(run.id)
            for line in claim_lines(claims_beside_run(run, claims)):
                click.echo(line)


COMPARED = ("end_to_end_tps", "first_canvas_s", "after_first_canvas_tps", "steps_per_canvas", "canvas_fill", "wall_s")


def not_comparable(one: Run, two: Run) -> str | None:
    """Why a ratio of these two would be a false claim; None where it would not."""
    if one.practice != two.practice:
        return "one is from the practice checkpoint, whose numbers say nothing about the other model"
    if one.task != two.task:
        return f"they are different tasks: {one.task} and {two.task}"
    for run in (one, two):
        if not run.valid:
            return f"run {run.id} is not valid: {run.invalid_reason}"
        if run.warmup:
            return f"run {run.id} is a warm-up, which does not count"
    return None


def same_prompt(one: Run, two: Run) -> bool:
    """A task has several prompts and pictures; a seed chooses one."""
    return all(one.evidence.get(key) == two.evidence.get(key) for key in ("prompt", "images"))


def ratio(one: Run, two: Run, key: str) -> float | None:
    """Second ÷ first; None where either cannot be measured or the first is 0."""
    before, after = getattr(one.speed, key), getattr(two.speed, key)
    if not isinstance(before, int | float) or not isinstance(after, int | float) or not before:
        return None
    return float(after / before)


def compare_lines(one: Run, two: Run, reason: str | None) -> Iterator[str]:
    import textwrap

    from exercises.speed import DEFINITIONS
    from labtui.cli.run_text import PRACTICE_LABEL, columns, label_of, values
    from labtui.terminal_text import visible_line

    rows = [
        ("", one.id, two.id, "" if reason else "second ÷ first"),
        ("task", *(f"{run.task} (warm-up)" if run.warmup else run.task for run in (one, two)), ""),
        ("checkpoint", label_of(one), label_of(two), ""),
        ("check", *("passed" if run.check.passed else "failed" for run in (one, two)), ""),
    ]
    of_one, of_two = values(one), values(two)
    for key, line in of_one.items():
        factor = None if reason or key not in COMPARED else ratio(one, two, key)
        shown = "" if factor is None else f"× {factor:.2f}"
        rows.append((line.label, visible_line(line.value), visible_line(of_two[key].value), shown))
    yield from columns(rows)
    for key, line in of_one.items():
        yield from textwrap.wrap(f"{line.label}: {DEFINITIONS[key]}", 78, subsequent_indent="    ")
    if one.practice or two.practice:
        yield PRACTICE_LABEL
    if one.task == two.task and not same_prompt(one, two):
        yield "Their prompts or pictures differ: run both with the same --seed to compare like with like."
    if reason:
        yield f"No ratio is shown: {visible_line(reason)}."
