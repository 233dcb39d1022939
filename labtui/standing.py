"""How far a person is with a lesson: collected from the store, and the same on every screen and in every command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from labtui.made import in_studio, made_so_far, missing_at_gates
from labtui.marking import changed_since_read
from lessons.evidence import missing_for_practice
from lessons.model import Lesson
from lessons.walk import Step, steps

if TYPE_CHECKING:
    from exercises.records import Run
    from store.opening import Store

READ_KINDS = frozenset({"frame", "card", "deep", "anchor", "example", "pitfall", "misconception", "practice"})
"""Kinds of steps that are counted as cards: what is read and marked. The others are done by doing them."""

RUNS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Standing:
    """done: ids of the steps that are done, whether marked or because what they ask for exists in the store.

    runs: the newest valid run of each task of the lesson's lab, by the task's name.
    due: ids of the recall items that are due now.
    gates: what is still missing at each gate, by its id; a mark does not open a gate.
    pieces: what is still missing in each practice piece of the studio, by its id.
    changed: steps that were read and reworded since, each with when it was marked. They stay done.
    """

    lesson: Lesson
    done: frozenset[str] = frozenset()
    position: str | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    due: tuple[str, ...] = ()
    has_verdict: bool = False
    gates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pieces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changed: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def undone(self) -> tuple[Step, ...]:
        return tuple(step for step in steps(self.lesson) if step.id not in self.done)

    @property
    def cards(self) -> int:
        return sum(step.kind in READ_KINDS for step in steps(self.lesson))

    @property
    def cards_done(self) -> int:
        return sum(step.kind in READ_KINDS and step.id in self.done for step in steps(self.lesson))

    @property
    def gates_met(self) -> int:
        return sum(f"gate/{gate.id}" in self.done for gate in self.lesson.gates)

    @property
    def started(self) -> bool:
        """Whether the person was in this lesson. Runs alone do not say so: lessons share the tasks of the lab."""
        return self.position is not None or any(not step.startswith("lab/") for step in self.done)


def standing_of(lesson: Lesson, store: Store) -> Standing:
    """Raises StoreError."""
    runs = {task.task: run for task in lesson.lab_tasks if (run := _newest_valid_run(store, task.task)) is not None}
    has_verdict = store.verdicts.latest(lesson.id) is not None
    answered = store.recall.latest(lesson.id)
    due = {one.item for one in store.recall.due(lesson_id=lesson.id)}
    made = made_so_far(lesson, store)
    gates = missing_at_gates(lesson, store, made)
    pieces = {one.id: tuple(missing_for_practice(lesson, one, made)) for one in lesson.practice if in_studio(one)}
    marked = {step for step in store.progress.done(lesson.id) if not step.startswith("gate/")}
    doing = {
        *(f"lab/{task.id}" for task in lesson.lab_tasks if task.task in runs),
        *(f"predict/{one}" for one in made.predicted),
        *(f"recall/{item.id}" for item in lesson.recall if item.id in answered),
        *(f"gate/{gate}" for gate, missing in gates.items() if not missing),
        *(f"practice/{piece}" for piece, missing in pieces.items() if not missing),
        *(["verdict"] if has_verdict else []),
    }
    return Standing(
        lesson=lesson,
        done=frozenset(marked | doing),
        position=store.progress.position(lesson.id),
        runs=runs,
        due=tuple(item.id for item in lesson.recall if item.id in due),
        has_verdict=has_verdict,
        gates=gates,
        pieces=pieces,
        changed={
            step: at for step, at in changed_since_read(lesson, store).items() if step.partition("/")[0] in READ_KINDS
        },
    )


def _newest_valid_run(store: Store, task: str) -> Run | None:
    kept = store.runs.list(task=task, limit=RUNS_LOOKED_AT)
    return next((run for run in kept if run.valid and not run.warmup), None)
