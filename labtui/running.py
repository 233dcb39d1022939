"""Running a task on the served model and keeping what comes out: the one path of the commands and the screens."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.records import Run
from exercises.run_json import run_to_json
from exercises.running import Event, RunFinished, run_trial
from exercises.tasks import Task, find_task, prompt_kinds_for
from exercises.trial import Trial
from labtui.errors import NO_STORE, USAGE, LabError, is_explained
from labtui.task_shelf import own_shelf, tasks_for


@dataclass(frozen=True, slots=True)
class RunKept:
    """The run is in the store: from now on it survives everything that happens to this process."""

    run: Run


LabEvent = Event | RunKept
Keep = Callable[[Run], Run]


def task_for(endpoint: Endpoint, task_id: str) -> Task:
    """The task of that name among those for the served checkpoint, or the prompt kind of that name.

    Raises ExerciseError (exit 2).
    """
    kinds = prompt_kinds_for(endpoint.checkpoint, endpoint.practice)
    if any(task.id == task_id for task in kinds.tasks):
        return find_task(task_id, kinds)
    _refuse_task_of_others(task_id, endpoint)
    return find_task(task_id, tasks_for(endpoint.checkpoint, endpoint.practice))


def _refuse_task_of_others(task_id: str, endpoint: Endpoint) -> None:
    """Raises LabError (exit 2) for a task of one's own that is not for such a checkpoint."""
    for own in own_shelf().sets:
        if own.practice != endpoint.practice and any(task.id == task_id for task in own.tasks):
            served = "every model but the practice checkpoint" if endpoint.practice else "the practice checkpoint alone"
            raise LabError(
                f"The task {task_id} is not for {endpoint.checkpoint}",
                f"its set {own.id!r} is for {served}",
                f"Where that is not meant, write practice = {str(endpoint.practice).lower()} into its file.",
                USAGE,
            )


def refuse_unknown_task(task_id: str) -> None:
    """Raises ExerciseError (exit 2) with the nearest name where no set has that task: known without a server."""
    sets = [tasks_for("practice", True), tasks_for("", False)]
    kinds = [prompt_kinds_for("practice", True), prompt_kinds_for("", False)]
    if not any(task.id == task_id for one in (*sets, *kinds) for task in one.tasks):
        try:
            find_task(task_id, max(sets, key=lambda one: len(one.tasks)))
        except ExerciseError as unknown:
            if own_shelf().broken:
                unknown.fix += " A task set of yours is left out: labtui tasks says why."
            raise


def refuse_unallowed_code(task: Task, run_code: bool) -> None:
    """Raises LabError (exit 2) where checking the task would run code that nobody allowed."""
    if task.runs_code and not run_code:
        raise LabError(
            f"The task {task.id} runs code that the model writes",
            "its answer is checked by running it in a limited child process: no network, no files, little time",
            "If you want that, say so: --run-code",
            USAGE,
        )


def warmups_needed(endpoint: Endpoint, kept: Sequence[Run]) -> int:
    """1 until this launch has answered a task, since its first answers may be slow; then 0.

    kept: runs of the store. A server that was attached to has no launch and counts as never warmed up.
    """
    launch = endpoint.evidence.get("launch")
    answered = launch is not None and any(run.valid and run.evidence.get("launch") == launch for run in kept)
    return 0 if answered else 1


def run_and_keep(
    task: Task,
    endpoint: Endpoint,
    keep: Keep,
    *,
    runs: int = 1,
    warmup: int = 0,
    seed: int | None = None,
    run_code: bool = False,
    on_event: Callable[[LabEvent], None] | None = None,
    cancel: threading.Event | None = None,
) -> Trial:
    """Warm-ups, then measured runs; each is kept as soon as it is finished, and RunKept says so.

    Blocks: call it in a worker thread. Events come in that thread. keep: puts a run into the store, as store.runs.add.
    run_code: the person said that code in an answer may run, in a limited child process (Task.runs_code).

    Raises ExerciseError where nothing was answered; LabError (exit 2) for a task that runs code nobody allowed;
    LabError (exit 4) where a run could not be kept: it is then in a file that the error names.
    """
    refuse_unallowed_code(task, run_code)
    tell = on_event or (lambda event: None)

    def kept_at_once(event: Event) -> None:
        tell(event)
        if isinstance(event, RunFinished):
            tell(RunKept(keep_or_rescue(event.run, keep)))

    return run_trial(
        task,
        endpoint,
        runs=runs,
        warmup=warmup,
        seed=seed,
        on_event=kept_at_once,
        cancel=cancel,
        run_code=run_code,
    )


def keep_or_rescue(run: Run, keep: Keep) -> Run:
    """Raises LabError (exit 4) where the run could not be kept: it is then in a file that the error names."""
    try:
        return keep(run)
    except Exception as error:
        place = _rescue(run)
        where = f"The run is in {place}: labtui measure shows it. " if place else ""
        title, cause, fix = (
            (error.title, error.cause, error.fix) if is_explained(error) else ("a fault", str(error), "")
        )
        raise LabError(f"The run was not kept: {title}", cause, f"{where}{fix}", NO_STORE) from error


def _rescue(run: Run) -> Path | None:
    import platformdirs

    path = Path(platformdirs.user_state_path("labtui")) / "not-kept" / f"run-{run.id}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(run_to_json(run)), encoding="utf-8")
    except OSError:
        return None
    return path
