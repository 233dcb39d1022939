"""run: a task on the served model, measured and kept."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.interrupting import ctrl_c_sets
from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import Working, working
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, Explained, LabError

if TYPE_CHECKING:
    from exercises.sweep import Axis
    from exercises.trial import Trial
    from labtui.running import LabEvent
    from labtui.serving.supervisor import Supervisor

SWEEP_ROUNDS = 3


@click.command(cls=LabCommand)
@click.argument("task_id", metavar="TASK", required=False)
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Measured runs.")
@click.option(
    "--warmup",
    type=click.IntRange(min=0),
    metavar="N",
    help="Runs before them that do not count; without it 1 on a launch that has answered no task yet, else 0. "
    "From 2 on the last one repeats the first prompt, so that its prefix cache is warm too.",
)
@click.option("--seed", type=int, metavar="N", help="Repeat the prompts and pictures of an earlier seed.")
@click.option(
    "--run-code", is_flag=True, help="Allow a task to run the code that the model writes, in a limited child."
)
@click.option(
    "--sweep",
    type=click.Choice(["kinds", "concurrency", "steps"]),
    help="Vary one thing: kinds of prompts (needs no TASK), requests at once, or the cap on denoising steps. "
    "--runs are then rounds at each point, 3 without it.",
)
@click.option("--points", metavar="A,B,...", default="", help="Only these points of the sweep, such as 1,2,4.")
@json_option
@click.pass_context
@pass_session
def run(
    session: Session,
    context: click.Context,
    task_id: str | None,
    runs: int,
    warmup: int | None,
    seed: int | None,
    run_code: bool,
    sweep: Axis | None,
    points: str,
    as_json: bool,
) -> int:
    """Run TASK (coding, vision, ...) on the served model: tokens per second, and whether the answer is right.

    The tasks belong to the checkpoint that is served. Every run is kept as soon as it is finished. Exit 1 where an
    answer fails its check or a run is not valid. Ctrl-C stops and keeps what is finished.
    """
    from labtui.claims import claims_beside_trial, claims_to_json
    from labtui.cli.claims_text import claim_lines, known_claims
    from labtui.cli.faults import INTERRUPTED
    from labtui.run_progress import ESTIMATED_FROM, usual_seconds
    from labtui.running import refuse_unallowed_code, refuse_unknown_task, run_and_keep, task_for, warmups_needed

    if task_id is not None:
        refuse_unknown_task(task_id)
    if sweep is not None:
        from labtui.cli.sweep import run_the_sweep

        given = context.get_parameter_source("runs") != click.core.ParameterSource.DEFAULT
        return run_the_sweep(
            session,
            sweep,
            task_id,
            wanted=[part.strip() for part in points.split(",") if part.strip()],
            rounds=runs if given else SWEEP_ROUNDS,
            warmup=1 if warmup is None else warmup,
            seed=seed,
            run_code=run_code,
            usual_s=usual_seconds(session.store.runs.list(limit=ESTIMATED_FROM)),
            as_json=as_json,
        )
    if task_id is None:
        raise click.UsageError("Missing argument 'TASK'.", context)
    store = session.store
    supervisor = session.supervisor()
    endpoint = supervisor.endpoint()
    task = task_for(endpoint, task_id)
    refuse_unallowed_code(task, run_code)
    earlier = store.runs.list(checkpoint=endpoint.checkpoint, limit=50)
    if warmup is None:
        warmup = warmups_needed(endpoint, earlier)
        if warmup:
            session.say("One warm-up first: this launch has answered no task yet, and a first answer may be slow.")
    estimate = usual_seconds([one for one in earlier if one.task == task.id])
    cancel = threading.Event()
    with (
        log_named(supervisor),
        working(session, f"{task.id} on {endpoint.checkpoint}") as narrator,
        ctrl_c_sets(cancel),
    ):
        trial = run_and_keep(
            task,
            endpoint,
            store.runs.add,
            runs=runs,
            warmup=warmup,
            seed=seed,
            run_code=run_code,
            on_event=_narrating(narrator, estimate),
            cancel=cancel,
        )
    measured = [one for one in trial.runs if not one.warmup]
    beside = claims_beside_trial(trial, known_claims(session))
    if as_json:
        session.emit({**_as_data(trial, single=runs == 1), "claims": claims_to_json(beside)})
    else:
        for line in (*_lines(trial), *claim_lines(beside)):
            click.echo(line)
    if trial.error is not None:
        from labtui.cli.faults import show

        show(with_log(trial.error, supervisor), Session(quiet=session.quiet))
        return trial.error.exit_code
    if trial.cancelled:
        session.say("Stopped. What was finished is kept.")
        return INTERRUPTED
    return DONE if all(one.valid and one.check.passed for one in measured) else FAILED


@contextmanager
def log_named(supervisor: Supervisor) -> Iterator[None]:
    """What fails because the server is gone says where its log is."""
    from exercises.errors import ExerciseError

    try:
        yield
    except ExerciseError as error:
        raise with_log(error, supervisor) from error


def with_log(error: Explained, supervisor: Supervisor) -> Any:
    """The error, or one that names the log and the command for it where our server did not outlive the request."""
    status = supervisor.status()
    if status.usable or status.log_path is None:
        return error
    log = shlex.quote(str(status.log_path))
    cause = f"{error.cause}. The server is {status.state} now; its log is {status.log_path}"
    return LabError(error.title, cause, f"labtui diagnose {log} names the cause.", error.exit_code)


def _narrating(narrator: Working, estimate: float | None) -> Callable[[LabEvent], None]:
    from exercises.running import ChunkArrived, RunStarted, ServerBusy
    from labtui.cli.run_text import end_to_end
    from labtui.running import RunKept

    usual = f", usually {estimate:.1f} s" if estimate is not None else ""
    doing = ""

    def tell(event: LabEvent) -> None:
        nonlocal doing
        match event:
            case RunStarted():
                doing = f"{'warm-up' if event.warmup else 'run'} {event.number} of {event.of}{usual}"
                narrator.now(doing)
            case ServerBusy():
                narrator.now(f"{doing} · waiting for other requests", f": {event.requests}")
            case ChunkArrived():
                tokens = "" if event.completion_tokens is None else f", {event.completion_tokens} tokens"
                narrator.now(doing, f" · canvas {event.canvas}{tokens}")
            case RunKept():
                kept = event.run
                state = "not valid" if not kept.valid else "right" if kept.check.passed else "answer fails its check"
                name = "warm-up" if kept.warmup else "run"
                label = " · practice" if kept.practice else ""
                narrator.say(f"{name} {kept.id}: {end_to_end(kept)} end to end{label} · {state}")

    return tell


def _as_data(trial: Trial, *, single: bool) -> dict[str, Any]:
    from exercises.run_json import run_to_json
    from exercises.trial import summary_to_json

    measured = [one for one in trial.runs if not one.warmup]
    if single and measured:
        return run_to_json(measured[0])
    return {
        "trial": trial.id,
        "asked": trial.asked,
        "cancelled": trial.cancelled,
        "runs": [run_to_json(one) for one in trial.runs],
        "summary": summary_to_json(trial.summary),
    }


def _lines(trial: Trial) -> Iterator[str]:
    from labtui.cli.run_text import run_lines, trial_lines

    measured = [one for one in trial.runs if not one.warmup]
    if trial.asked == 1 and measured:
        yield from run_lines(measured[0])
    else:
        yield from trial_lines(trial)
