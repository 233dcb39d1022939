"""Running a sweep on the served model and keeping what comes out: the one path of the commands and the screens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exercises.endpoint import Endpoint
from exercises.running import RunFinished
from exercises.sweep import Axis, PointFinished, Sweep, SweepEvent, run_sweep, sweep_to_json
from exercises.sweep_points import Point, points_by_concurrency, points_by_kind, points_by_steps
from exercises.tasks import Task, prompt_kinds_for, task_set_for
from labtui.errors import USAGE, LabError
from labtui.running import Keep, RunKept, keep_or_rescue, refuse_unallowed_code, task_for

KeepSweep = Callable[[Mapping[str, Any]], object]


def sweep_points(axis: Axis, endpoint: Endpoint, task_id: str | None, wanted: Sequence[str] = ()) -> tuple[Point, ...]:
    """The points of a sweep on this server. wanted: labels of the points, all usual ones without it.

    Raises ExerciseError or LabError (exit 2) where the axis, the task or a point is not possible here.
    """
    if axis == "kinds":
        kinds = prompt_kinds_for(endpoint.checkpoint, endpoint.practice)
        return points_by_kind(kinds, (*([task_id] if task_id else []), *wanted))
    if task_id is None:
        raise LabError("This sweep needs a task", f"it varies {axis} and keeps the task", "Name one: coding.", USAGE)
    task: Task = task_for(endpoint, task_id)
    try:
        numbers = [int(text) for text in wanted]
    except ValueError:
        raise LabError(
            "The points of this sweep are numbers", f"not {', '.join(wanted)}", "Give them like 1,2,4,8.", USAGE
        ) from None
    if axis == "concurrency":
        return points_by_concurrency(task, numbers)
    return points_by_steps(task, endpoint, numbers)


def sweep_tasks(endpoint: Endpoint) -> tuple[str, ...]:
    """The tasks that a sweep may keep: none that runs code, which has to be allowed first."""
    sets = (
        task_set_for(endpoint.checkpoint, endpoint.practice),
        prompt_kinds_for(endpoint.checkpoint, endpoint.practice),
    )
    return tuple(dict.fromkeys(task.id for one in sets for task in one.tasks if not task.runs_code))


def sweep_and_keep(
    axis: Axis,
    points: Sequence[Point],
    endpoint: Endpoint,
    keep: Keep,
    keep_sweep: KeepSweep,
    *,
    rounds: int = 3,
    warmup: int = 1,
    seed: int | None = None,
    usual_s: float | None = None,
    run_code: bool = False,
    on_event: Callable[[SweepEvent | RunKept], None] | None = None,
    cancel: threading.Event | None = None,
) -> Sweep:
    """Each run is kept as soon as it is finished, and the sweep after each of its points.

    Blocks: call it in a worker thread. Events come in that thread. keep and keep_sweep: as store.runs.add and
    store.sweeps.save. Raises as run_and_keep does.
    """
    for point in points:
        refuse_unallowed_code(point.task, run_code)
    tell = on_event or (lambda event: None)

    def kept_at_once(event: SweepEvent) -> None:
        tell(event)
        if isinstance(event, RunFinished):
            tell(RunKept(keep_or_rescue(event.run, keep)))
        elif isinstance(event, PointFinished):
            keep_sweep(sweep_to_json(event.so_far))

    sweep = run_sweep(
        axis,
        points,
        endpoint,
        rounds=rounds,
        warmup=warmup,
        seed=seed,
        usual_s=usual_s,
        on_event=kept_at_once,
        cancel=cancel,
        run_code=run_code,
    )
    if sweep.points:
        keep_sweep(sweep_to_json(sweep))
    return sweep
