from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.records import Check, Chunk, Run, Timeline
from exercises.speed import speed_of
from labtui.cli.main import labtui
from labtui.next_step import next_step
from labtui.standing import READ_KINDS, Standing
from lessons.finding import find_lesson
from lessons.walk import steps

LESSON = find_lesson("diffusiongemma")
STEPS = steps(LESSON)
ALL = frozenset(step.id for step in STEPS)
READ = frozenset(step.id for step in STEPS if step.kind in READ_KINDS)
TASKS = [task.task for task in LESSON.lab_tasks]
LAB = frozenset(f"lab/{task.id}" for task in LESSON.lab_tasks)

TIMELINE = Timeline((Chunk(0.5, 64, 200),), 10, 64)
RUN = Run(
    "r-1", "coding", "practice", "practice", True, "2026-11-30T21:15:30+00:00", True, None,
    TIMELINE, speed_of(TIMELINE), Check(True, ()), "<svg/>",
)  # fmt: skip


def standing(done: frozenset[str] = frozenset(), **changes: object) -> Standing:
    return Standing(LESSON, done, **changes)  # type: ignore[arg-type]


def test_a_new_lesson_begins_with_its_first_step() -> None:
    step = next_step([standing()], "stopped")
    assert (step.kind, step.step) == ("read", "frame")
    assert step.title.startswith("Begin: ")


def test_reading_goes_on_after_the_place_where_the_person_is() -> None:
    step = next_step([standing(frozenset({"frame"}), position="deep/" + LESSON.deep_points[0].id)], "stopped")
    assert step.step == "deep/" + LESSON.deep_points[0].id


def test_what_was_skipped_comes_when_the_rest_is_read() -> None:
    step = next_step([standing(READ - {"frame"}, position="practice/" + LESSON.practice[-1].id)], "stopped")
    assert step.step == "frame"


@pytest.mark.parametrize(
    ("server", "kind", "command"),
    [
        ("stopped", "serve", "labtui serve start --wait"),
        ("starting", "wait", "labtui serve status"),
        ("warming", "wait", "labtui serve status"),
        ("ready", "run", f"labtui run {TASKS[0]}"),
    ],
)
def test_the_lab_needs_a_server_first(server: str, kind: str, command: str) -> None:
    step = next_step([standing(READ)], server)
    assert (step.kind, step.command) == (kind, command)


def test_a_lab_that_was_begun_goes_before_unread_cards() -> None:
    begun = standing(frozenset({f"lab/{LESSON.lab_tasks[0].id}"}), runs={TASKS[0]: RUN})
    assert next_step([begun], "ready").command == f"labtui run {TASKS[1]}"


def test_after_both_runs_comes_the_verdict_then_recall_then_gates_then_rest() -> None:
    seen = []
    done = READ | LAB
    while done != ALL:
        step = next_step([standing(done)], "ready")
        assert step.step is not None
        seen.append(step.kind)
        done |= {step.step}
    assert seen == ["verdict", *["recall"] * len(LESSON.recall), *["gate"] * len(LESSON.gates)]
    assert next_step([standing(ALL)], "stopped").kind == "rest"


def test_a_lesson_that_shares_the_tasks_of_a_finished_one_begins_with_its_first_step() -> None:
    other = find_lesson("kv-cache-line")
    runs = {task.task: RUN for task in other.lab_tasks}
    unread = Standing(other, frozenset(f"lab/{task.id}" for task in other.lab_tasks), runs=runs)
    step = next_step([standing(ALL), unread], "ready")
    assert (step.kind, step.lesson, step.step) == ("read", "kv-cache-line", "frame")


def test_what_is_due_goes_before_everything() -> None:
    due = tuple(item.id for item in LESSON.recall[:2])
    step = next_step([standing(ALL, due=due)], "stopped")
    assert step.title.startswith("Answer 2 recall questions")
    assert step.command == "labtui recall diffusiongemma"


def test_without_lessons_it_names_how_to_write_one() -> None:
    assert next_step([], "stopped").command.startswith("labtui lesson new")


@given(
    done=st.sets(st.sampled_from(sorted(ALL))),
    position=st.none() | st.sampled_from([*sorted(ALL), "card/of-an-older-version"]),
    server=st.sampled_from(["stopped", "starting", "warming", "ready", "dying", "foreign"]),
    due=st.sets(st.sampled_from([item.id for item in LESSON.recall])),
)
def test_there_is_always_one_next_thing_and_its_command_exists(
    done: set[str], position: str | None, server: str, due: set[str]
) -> None:
    step = next_step([standing(frozenset(done), position=position, due=tuple(sorted(due)))], server)
    program, command, *_ = step.command.split()
    assert program == "labtui"
    with click.Context(labtui) as context:
        assert command in labtui.list_commands(context)
    assert step.title
    assert step.why
    assert step.step is None or step.step in ALL
    if not due and step.step is not None:
        assert step.step not in done
