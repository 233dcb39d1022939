"""The run under way. It belongs to no screen: a run goes on, and is kept, when the lab is left."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from labtui.run_progress import Order, Outcome, Progress, Teller, progress_words, usual_seconds
from labtui.running import run_and_keep, task_for, warmups_needed
from labtui.screens.desk import Desk, the_desk

if TYPE_CHECKING:
    from exercises.trial import Trial
    from labtui.app import LabApp

LOOKED_BACK = 50


class RunDesk(Desk[Order, Progress, Outcome]):
    def __init__(self) -> None:
        super().__init__()
        self.code_allowed = False
        self.launched: set[str] = set()

    def first_moment(self, order: Order) -> Progress:
        return Progress(order)

    def words(self, progress: Progress) -> str:
        return f"{progress_words(progress, self.lab.now())} · s opens the lab"

    def carry_out(self, order: Order, cancel: threading.Event) -> Outcome:
        teller = Teller(order, self.lab.now, self.post_moment)
        try:
            trial = self._run(order, teller, cancel)
        except Exception as fault:
            return Outcome(teller.progress, None, fault)
        return Outcome(teller.progress, trial, trial.error)

    def _run(self, order: Order, teller: Teller, cancel: threading.Event) -> Trial:
        endpoint = self.lab.supervisor.endpoint()
        task = task_for(endpoint, order.task_id)
        books = self.lab.books
        earlier = books.submit(
            lambda store: store.runs.list(checkpoint=endpoint.checkpoint, limit=LOOKED_BACK)
        ).result()
        warmups = order.repeats.warmups
        if warmups is None:
            warmups = warmups_needed(endpoint, earlier)
        usual = usual_seconds([run for run in earlier if run.task == task.id])
        teller.known(task, endpoint.checkpoint, endpoint.practice, usual, warmups)
        return run_and_keep(
            task,
            endpoint,
            lambda run: books.submit(lambda store: store.runs.add(run)).result(),
            runs=order.repeats.runs,
            warmup=warmups,
            seed=order.seed,
            run_code=order.run_code,
            on_event=teller.tell,
            cancel=cancel,
        )


def desk_of(app: LabApp) -> RunDesk:
    return the_desk(app, RunDesk)
