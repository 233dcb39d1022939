"""The run under way. It belongs to no screen: a run goes on, and is kept, when the lab is left."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol, cast, runtime_checkable

from textual import on
from textual.message import Message
from textual.widgets import Static

from labtui.run_progress import Order, Outcome, Progress, Teller, progress_words, usual_seconds
from labtui.running import run_and_keep, task_for, warmups_needed
from labtui.screens.home import HomeScreen

if TYPE_CHECKING:
    from exercises.trial import Trial
    from labtui.app import LabApp

LOOKED_BACK = 50
LEAVE_S = 3.0


@runtime_checkable
class RunWatcher(Protocol):
    """A screen that is told when the run under way has moved or ended."""

    def run_moved(self) -> None: ...


class RunDesk(Static):
    """Holds the run under way for as long as the app lives. It sits on the home screen and says there what goes on."""

    DEFAULT_CSS = """
    RunDesk { dock: bottom; height: auto; color: $accent; display: none; padding: 0 2; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    class Moved(Message):
        """A newer moment replaces one that still waits: a flood of chunks cannot queue up."""

        def __init__(self, progress: Progress) -> None:
            super().__init__()
            self.progress = progress

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RunDesk.Moved)

    class Ended(Message):
        def __init__(self, outcome: Outcome) -> None:
            super().__init__()
            self.outcome = outcome

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.progress: Progress | None = None
        self.outcome: Outcome | None = None
        self.code_allowed = False
        self.launched: set[str] = set()
        self._cancel = threading.Event()
        self._finished = threading.Event()
        self._finished.set()

    @property
    def lab(self) -> LabApp:
        return cast("LabApp", self.app)

    @property
    def busy(self) -> bool:
        return self.progress is not None

    def take_outcome(self) -> Outcome | None:
        """How the last run ended, once: whoever takes it shows it."""
        outcome, self.outcome = self.outcome, None
        return outcome

    def begin(self, order: Order) -> None:
        """Run it in a worker; one at a time."""
        if self.progress is not None:
            return
        self.progress, self.outcome = Progress(order), None
        self._cancel, self._finished = threading.Event(), threading.Event()
        work = partial(self._work, order, self._cancel, self._finished)
        self.run_worker(work, group="run", thread=True, exit_on_error=False)
        self._tell()

    def stop(self) -> None:
        """End it within a moment; what was finished is kept."""
        if self.progress is not None:
            self._cancel.set()
            self.progress = replace(self.progress, stopping=True)
            self._tell()

    def _work(self, order: Order, cancel: threading.Event, finished: threading.Event) -> None:
        teller = Teller(order, self.lab.now, lambda progress: self.post_message(self.Moved(progress)))
        trial: Trial | None = None
        error: Exception | None = None
        try:
            trial = self._run(order, teller, cancel)
            error = trial.error
        except Exception as fault:
            error = fault
        finally:
            finished.set()
            self.post_message(self.Ended(Outcome(teller.progress, trial, error)))

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

    @on(Moved)
    def _moved(self, event: Moved) -> None:
        event.stop()
        if self.progress is not None and self.progress.order is event.progress.order:
            self.progress = replace(event.progress, stopping=self.progress.stopping)
            self._tell()

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        event.stop()
        self.progress, self.outcome = None, event.outcome
        self._tell()
        for screen in self.app.screen_stack:
            if isinstance(screen, HomeScreen):
                screen.refresh_picture()

    def _tell(self) -> None:
        self.show_words()
        for screen in self.app.screen_stack:
            if isinstance(screen, RunWatcher) and screen.is_mounted:
                screen.run_moved()

    def show_words(self) -> None:
        progress = self.progress
        self.display = progress is not None
        if progress is not None:
            self.update(f"◐ {progress_words(progress, self.lab.now())} · s opens the lab")

    async def on_unmount(self) -> None:
        """The app is being left: the run ends, and is kept, before the store closes."""
        self._cancel.set()
        await asyncio.to_thread(self._finished.wait, LEAVE_S)


def desk_of(app: LabApp) -> RunDesk:
    """The one desk of the app; it is put on the home screen with the first question."""
    home = next((screen for screen in app.screen_stack if isinstance(screen, HomeScreen)), app.screen_stack[0])
    for desk in home.query(RunDesk):
        return desk
    desk = RunDesk()
    places = home.query("#body")
    (places.first() if places else home).mount(desk)
    return desk
