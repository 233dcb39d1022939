"""Running a sweep on the served model and keeping what comes out: the one path of the commands and the screens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exercises.endpoint import Endpoint
from exercises.running import RunFinished
from exercises.sweep import Axis, PointFinished, Sweep, SweepEvent, run_sweep, sweep_to_json
from exercises.sweep_points import Point, missing_points, points_by_concurrency, points_by_kind, points_by_steps
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
    earlier: Mapping[str, Any] | None = None,
) -> Sweep:
    """Each run is kept as soon as it is finished, and the sweep after each of its points.

    earlier: the kept sweep that these points go on with. It keeps its id, and what it has is kept with them; its
    rounds, warm-ups and seed count.

    Blocks: call it in a worker thread. Events come in that thread. keep and keep_sweep: as store.runs.add and
    store.sweeps.save. Raises as run_and_keep does.
    """
    for point in points:
        refuse_unallowed_code(point.task, run_code)
    tell = on_event or (lambda event: None)
    if earlier is not None:
        rounds, warmup, seed = earlier["rounds"], earlier["warmup"], earlier["seed"]

    def document_of(sweep: Sweep) -> dict[str, Any]:
        return sweep_to_json(sweep) if earlier is None else together(earlier, sweep_to_json(sweep))

    def kept_at_once(event: SweepEvent) -> None:
        tell(event)
        if isinstance(event, RunFinished):
            tell(RunKept(keep_or_rescue(event.run, keep)))
        elif isinstance(event, PointFinished):
            keep_sweep(document_of(event.so_far))

    sweep = run_sweep(
        axis,
        points,
        endpoint,
        rounds=rounds,
        warmup=warmup,
        seed=seed,
        sweep_id=None if earlier is None else earlier["id"],
        usual_s=usual_s,
        on_event=kept_at_once,
        cancel=cancel,
        run_code=run_code,
    )
    if sweep.points:
        keep_sweep(document_of(sweep))
    return sweep


def together(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """The kept sweep with the points that were run for it later; a point that both have is the later one."""
    points = {str(point["label"]): point for document in (earlier, later) for point in document["points"]}
    return {
        **earlier,
        "points": [points[label] for label in earlier["labels"] if label in points],
        "runs_together": later["runs_together"],
        "cancelled": later["cancelled"],
        "error": later["error"],
        "continued": [*earlier.get("continued", ()), later["started_at"]],
    }


def rest_of(document: Mapping[str, Any], endpoint: Endpoint) -> tuple[Point, ...]:
    """The points of a kept sweep that have not all their rounds.

    Raises LabError (exit 2) where nothing is missing, or another checkpoint is served than the sweep is of.
    """
    missing = missing_points(document)
    if not missing:
        known = "labels" in document
        raise LabError(
            f"Sweep {document['id']} misses nothing" if known else f"Sweep {document['id']} cannot go on",
            "every point has all its rounds" if known else "it was kept by a labtui that did not write its points down",
            f"A new one: labtui run --sweep {document['axis']}",
            USAGE,
        )
    if (document["checkpoint"], document["practice"]) != (endpoint.checkpoint, endpoint.practice):
        raise LabError(
            f"Sweep {document['id']} is of another checkpoint",
            f"it is of {document['checkpoint']}, and {endpoint.checkpoint} is served",
            f"Serve it: labtui serve start --checkpoint {document['checkpoint']}",
            USAGE,
        )
    task = None if document["axis"] == "kinds" else str(document["points"][0]["task"])
    return sweep_points(document["axis"], endpoint, task, missing)
