"""The tasks of the lab: those of the served checkpoint, each prepared so that its prompt is seen before it is sent."""

from __future__ import annotations

import secrets
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from exercises.tasks import PreparedTask, Task
from labtui.screens.lab_server import ServerWork
from labtui.task_shelf import tasks_for
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice, Choices
from lessons.model import Lesson


class TaskList(Choices):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "run", tooltip="Run the chosen task")]


class TaskWork(ServerWork):
    """A page with a ServerPanel and a TaskList.

    upcoming: by the id of a task, what its next run asks.
    """

    class TasksReady(Message):
        """The tasks of a checkpoint, each prepared for its next run."""

        def __init__(self, tasks: tuple[Task, ...], upcoming: dict[str, PreparedTask]) -> None:
            super().__init__()
            self.tasks, self.upcoming = tasks, upcoming

    class NextPrepared(Message):
        def __init__(self, task: Task, prepared: PreparedTask) -> None:
            super().__init__()
            self.task, self.prepared = task, prepared

    class NoTasks(Message):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self.tasks: tuple[Task, ...] = ()
        self.upcoming: dict[str, PreparedTask] = {}
        self._fitted_to: tuple[str, bool] | None = None

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    def tasks_changed(self) -> None:
        """Other tasks, or another prompt of one."""

    def fit_tasks(self) -> None:
        """The tasks belong to the checkpoint that is served, or that the plan would serve."""
        status = self.lab.server_status
        if status is not None and status.checkpoint and status.state != "stopped":
            wanted = (status.checkpoint, status.practice)
        elif self.planned is not None and self.planned.plan is not None:
            checkpoint = self.planned.plan.checkpoint
            wanted = (checkpoint.id, checkpoint.practice)
        else:
            return
        if wanted != self._fitted_to:
            self._fitted_to = wanted
            self.run_worker(
                partial(self._lay_out, *wanted), group="tasks", exclusive=True, thread=True, exit_on_error=False
            )

    def _lay_out(self, checkpoint: str, practice: bool) -> None:
        try:
            found = tasks_for(checkpoint, practice).tasks
            upcoming = {task.id: task.prepare(secrets.randbelow(2**31)) for task in found}
        except Exception as fault:
            self.post_message(self.NoTasks(fault))
        else:
            named = [task.task for task in self.lesson.lab_tasks]
            own = [task for name in named for task in found if task.id == name]
            extras = [task for task in found if task.id not in named]
            self.post_message(self.TasksReady((*own, *extras), upcoming))

    @on(NoTasks)
    def _no_tasks(self, event: NoTasks) -> None:
        self.show_fault(event.error)

    @on(TasksReady)
    def _tasks_ready(self, event: TasksReady) -> None:
        self.tasks, self.upcoming = event.tasks, event.upcoming
        titles = {task.task: task.title for task in self.lesson.lab_tasks}
        rows = [
            Choice(task.id, f"{number}  {task.id:<14} {visible_line(titles.get(task.id, f'an extra: {task.title}'))}")
            for number, task in enumerate(event.tasks, 1)
        ]
        self.query_one("#tasks", Choices).show(rows)
        self.tasks_changed()

    def prepare_next(self, task_id: str) -> None:
        """The next run of a task gets another prompt, another picture."""
        task = next((one for one in self.tasks if one.id == task_id), None)
        if task is not None:
            self.run_worker(partial(self._prepare, task), group="prepare", thread=True, exit_on_error=False)

    def _prepare(self, task: Task) -> None:
        self.post_message(self.NextPrepared(task, task.prepare(secrets.randbelow(2**31))))

    @on(NextPrepared)
    def _next_prepared(self, event: NextPrepared) -> None:
        if event.task in self.tasks:
            self.upcoming[event.task.id] = event.prepared
            self.tasks_changed()

    @property
    def chosen_task(self) -> Task | None:
        chosen = self.query_one("#tasks", Choices).chosen_id
        return next((task for task in self.tasks if task.id == chosen), None)
