"""The one thing to do next, and the command for it. Pure: the home screen and `labtui next` show the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labtui.plain_markdown import plain_text
from labtui.standing import READ_KINDS, Standing
from lessons.model import LabTask, Lesson
from lessons.walk import Step, steps


@dataclass(frozen=True, slots=True)
class NextStep:
    """kind: "recall", "read", "predict", "serve", "wait", "run", "verdict", "gate" or "rest".

    step: the step of the lesson that it belongs to, where there is one. command: what to type for it.
    """

    kind: str
    title: str
    why: str
    command: str
    lesson: str | None = None
    step: str | None = None


def next_step(standings: Sequence[Standing], server: str) -> NextStep:
    """server: its state as in `labtui serve status`."""
    for standing in standings:
        if standing.due:
            return _recall(standing)
    unfinished = [standing for standing in standings if standing.undone]
    for standing in sorted(unfinished, key=lambda one: not one.started):
        return _in_lesson(standing, server, begun=standing.started or not any(one.started for one in standings))
    if not standings:
        return NextStep("rest", "Write a lesson", "There is no lesson here yet.", "labtui lesson new my-lesson")
    return NextStep(
        "rest",
        "Nothing is due",
        "Every step of every lesson is done. Questions come back when they are due.",
        "labtui due",
    )


def _recall(standing: Standing) -> NextStep:
    lesson, count = standing.lesson, len(standing.due)
    return NextStep(
        "recall",
        f"Answer {count} recall question{'s' if count > 1 else ''} of {lesson.title}",
        f"{'They are' if count > 1 else 'It is'} due: answering now is what keeps it.",
        f"labtui recall {lesson.id}",
        lesson.id,
        f"recall/{standing.due[0]}",
    )


def _in_lesson(standing: Standing, server: str, begun: bool) -> NextStep:
    """begun: whether runs that are there were made for this lesson, so that its lab goes on before its cards."""
    lesson = standing.lesson
    missing = [task for task in lesson.lab_tasks if f"lab/{task.id}" not in standing.done]
    if begun and standing.runs and missing:
        return _lab(standing, missing, server)
    if begun and lesson.lab_tasks and not missing and "verdict" not in standing.done:
        return _verdict(standing)
    step = _first_undone_from_position(standing)
    if step.kind == "lab":
        return _lab(standing, missing, server)
    if step.kind == "verdict":
        return _verdict(standing)
    if step.kind == "recall":
        return NextStep(
            "recall",
            "Answer the recall questions",
            "Answer first, then reveal: without watching or reading again.",
            f"labtui recall {lesson.id}",
            lesson.id,
            step.id,
        )
    if step.kind == "predict":
        return NextStep(
            "predict",
            f"Predict: {step.title}",
            "Write the number down first; then your server's log says what is true.",
            f"labtui predict {lesson.id} {step.id.removeprefix('predict/')}",
            lesson.id,
            step.id,
        )
    if step.kind == "gate":
        lacks = standing.gates.get(step.id.removeprefix("gate/"), ())
        return NextStep(
            "gate",
            f"Meet the gate: {step.title}",
            f"{standing.gates_met} of {len(lesson.gates)} gates are met. "
            + (lacks[0] if lacks else "Write down the evidence for this one."),
            f"{_study(lesson)} --from {step.id}",
            lesson.id,
            step.id,
        )
    return _read(standing, step)


def _first_undone_from_position(standing: Standing) -> Step:
    """What is read goes on where the person is; what was skipped before comes when the rest is done."""
    walk = steps(standing.lesson)
    at = next((index for index, step in enumerate(walk) if step.id == standing.position), 0)
    ahead = [step for step in walk[at:] if step.kind in READ_KINDS and step.id not in standing.done]
    return (*ahead, *standing.undone)[0]


def _read(standing: Standing, step: Step) -> NextStep:
    lesson = standing.lesson
    if standing.cards_done or standing.position is not None:
        why = f"{standing.cards_done} of {standing.cards} cards done."
        return NextStep("read", f"Go on: {plain_text(step.title)}", why, _study(lesson), lesson.id, step.id)
    return NextStep("read", f"Begin: {lesson.title}", plain_text(lesson.summary), _study(lesson), lesson.id, step.id)


def _lab(standing: Standing, missing: Sequence[LabTask], server: str) -> NextStep:
    lesson, task = standing.lesson, missing[0]
    left = f"{len(missing)} of {len(lesson.lab_tasks)} lab tasks to go, then the verdict."
    step = f"lab/{task.id}"
    if server == "ready":
        return NextStep("run", f"Run the {task.task} task", left, f"labtui run {task.task}", lesson.id, step)
    if server in ("starting", "warming"):
        return NextStep(
            "wait", "The server is starting", f"Then: run the {task.task} task.", "labtui serve status", lesson.id, step
        )
    return NextStep(
        "serve",
        "Start the server",
        f"The {task.task} task needs it. {left}",
        "labtui serve start --wait",
        lesson.id,
        step,
    )


def _verdict(standing: Standing) -> NextStep:
    lesson = standing.lesson
    return NextStep(
        "verdict",
        "Write your verdict",
        plain_text(lesson.frame.lab_question),
        f"labtui verdict {lesson.id}",
        lesson.id,
        "verdict",
    )


def _study(lesson: Lesson) -> str:
    return f"labtui study {lesson.id} --plain"
