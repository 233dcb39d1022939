"""The ways from the lab to its other screens: a result, an answer, all runs, sweeps, the plan, the log, the verdict."""

from __future__ import annotations

from dataclasses import replace

from exercises.records import Run
from labtui.latest_runs import latest_of
from labtui.screens.lab_tasks import TaskWork
from labtui.widgets.choices import Choices
from labtui.widgets.run_panel import RunPanel


class LabWays(TaskWork):
    """A page with tasks, the panel of a run, and the latest runs."""

    def __init__(self, lesson_id: str) -> None:
        super().__init__(lesson_id)
        self._runs: tuple[Run, ...] = ()

    @property
    def panel(self) -> RunPanel:
        return self.query_one(RunPanel)

    def action_answer(self) -> None:
        from labtui.screens.lab_answer import AnswerScreen

        if self.panel.run_shown is not None:
            self.app.push_screen(AnswerScreen(self.panel.run_shown))

    def action_result(self) -> None:
        """Of the run that is shown or chosen, else of the latest one of the chosen task."""
        from labtui.screens.result import ResultScreen

        latest, task = self.query_one("#latest", Choices), self.chosen_task
        chosen = latest.chosen_id if latest.has_focus else None
        run = self.panel.run_shown or next((one for one in self._runs if one.id == chosen), None)
        if run is not None:
            self.app.push_screen(ResultScreen(run))
        elif task is not None:
            self.read_store(lambda store: latest_of(store, task.id), self._open_latest)

    def _open_latest(self, run: Run | None) -> None:
        from labtui.screens.result import ResultScreen

        if run is None:
            self.say("No run of this task yet: enter runs it.", fault=True)
        else:
            self.app.push_screen(ResultScreen(run))

    def action_runs(self) -> None:
        from labtui.screens.runs import RunsScreen

        self.app.push_screen(RunsScreen())

    def action_blind(self) -> None:
        from labtui.screens.blind import BlindScreen

        task = self.chosen_task
        self.app.push_screen(BlindScreen(None if task is None else task.id))

    def action_sweeps(self) -> None:
        from labtui.screens.sweeps import SweepScreen

        self.app.push_screen(SweepScreen(self.lesson_id))

    def action_plan(self) -> None:
        from labtui.screens.lab_plan import PlanScreen

        self.app.push_screen(PlanScreen(), lambda changed: self._plan_changed())

    def _plan_changed(self) -> None:
        self.show_server(replace(self._moment, plan=None, findings=(), fault=None))
        self.refresh_plan()

    def action_log(self) -> None:
        from labtui.screens.lab_log import LogScreen

        status = self.lab.server_status
        told = status is not None and status.died and bool(status.causes)
        self.app.push_screen(LogScreen(status.causes[0].text if status is not None and told else ""))

    def action_verdict(self) -> None:
        self.lab.open_verdict(self.lesson_id)
