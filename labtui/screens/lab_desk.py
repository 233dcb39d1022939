"""The run under way. It belongs to no screen: a run goes on, and is kept, when the lab is left."""

from __future__ import annotations

import asyncio
import statistics
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol, cast, runtime_checkable

from textual import on
from textual.message import Message
from textual.widgets import Static

from exercises.records import Run
from exercises.running import ChunkArrived, RunStarted, ServerBusy
from exercises.tasks import PreparedTask, Task
from labtui.running import LabEvent, RunKept, run_and_keep, task_for, warmups_needed
from labtui.screens.home import HomeScreen
from labtui.screens.lab_boxes import Repeats
from labtui.widgets.dates import span

if TYPE_CHECKING:
    from exercises.trial import Trial
    from labtui.app import LabApp

LIVE_TEXT = 6000
"""Characters of a growing answer that the screen is given; the run itself keeps all of them."""

LOOKED_BACK = 50
ESTIMATED_FROM = 5
LEAVE_S = 3.0


@dataclass(frozen=True, slots=True)
class Order:
    """What to run. seed: of the first measured run, so that its prompt is the one that was shown before."""

    task_id: str
    repeats: Repeats
    seed: int
    run_code: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """One moment of a trial. canvases, tokens, text, began: of the run that is under way.

    busy: requests of others that it waits for. usual_s: what such a run took before. kept: runs that are in the store.
    """

    order: Order
    task: Task | None = None
    checkpoint: str = ""
    practice: bool = False
    prepared: PreparedTask | None = None
    number: int = 1
    of: int = 1
    warmup: bool = False
    began: datetime | None = None
    canvases: int = 0
    tokens: int | None = 0
    text: str = ""
    busy: int = 0
    usual_s: float | None = None
    kept: tuple[Run, ...] = ()
    stopping: bool = False

    def words(self, now: datetime) -> str:
        """ "coding: run 2 of 3 · canvas 4 · 0:12" """
        what = "warm-up" if self.warmup else "run"
        of = f" {self.number} of {self.of}" if self.of > 1 else ""
        since = f" · {span((now - self.began).total_seconds())}" if self.began else ""
        practice = " · practice" if self.practice else ""
        return f"{self.order.task_id}: {what}{of}{practice} · canvas {self.canvases}{since}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. trial is None where nothing was answered, or a run could not be kept: error says why."""

    progress: Progress
    trial: Trial | None = None
    error: Exception | None = None

    @property
    def shown(self) -> Run | None:
        """The run to show: the last measured one, else the last one at all."""
        kept = self.progress.kept
        return next((run for run in reversed(kept) if not run.warmup), kept[-1] if kept else None)


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
        teller = _Teller(order, self.lab.now, lambda progress: self.post_message(self.Moved(progress)))
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

    def _run(self, order: Order, teller: _Teller, cancel: threading.Event) -> Trial:
        endpoint = self.lab.supervisor.endpoint()
        task = task_for(endpoint, order.task_id)
        books = self.lab.books
        earlier = books.submit(
            lambda store: store.runs.list(checkpoint=endpoint.checkpoint, limit=LOOKED_BACK)
        ).result()
        warmups = order.repeats.warmups
        usual = usual_seconds([run for run in earlier if run.task == task.id])
        teller.known(task, endpoint.checkpoint, endpoint.practice, usual)
        return run_and_keep(
            task,
            endpoint,
            lambda run: books.submit(lambda store: store.runs.add(run)).result(),
            runs=order.repeats.runs,
            warmup=warmups_needed(endpoint, earlier) if warmups is None else warmups,
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
            self.update(f"◐ {progress.words(self.lab.now())} · s opens the lab")

    async def on_unmount(self) -> None:
        """The app is being left: the run ends, and is kept, before the store closes."""
        self._cancel.set()
        await asyncio.to_thread(self._finished.wait, LEAVE_S)


class _Teller:
    """Turns the events of a run into moments. Lives in the run's own thread."""

    def __init__(self, order: Order, now: Callable[[], datetime], post: Callable[[Progress], object]) -> None:
        self.progress = Progress(order)
        self._now = now
        self._post = post

    def known(self, task: Task, checkpoint: str, practice: bool, usual_s: float | None) -> None:
        self._change(task=task, checkpoint=checkpoint, practice=practice, usual_s=usual_s)

    def tell(self, event: LabEvent) -> None:
        match event:
            case RunStarted():
                self._change(
                    prepared=event.prepared,
                    number=event.number,
                    of=event.of,
                    warmup=event.warmup,
                    began=self._now(),
                    canvases=0,
                    tokens=0,
                    text="",
                    busy=0,
                )
            case ServerBusy():
                self._change(busy=event.requests)
            case ChunkArrived():
                text = (self.progress.text + event.text)[-LIVE_TEXT:]
                self._change(canvases=event.canvas, tokens=event.completion_tokens, text=text, busy=0)
            case RunKept():
                self._change(kept=(*self.progress.kept, event.run))

    def _change(self, **changes: object) -> None:
        self.progress = replace(self.progress, **changes)  # type: ignore[arg-type]
        self._post(self.progress)


def usual_seconds(earlier: Sequence[Run]) -> float | None:
    """What such a run takes: the median of the newest valid ones, None where there is none."""
    walls = [run.speed.wall_s for run in earlier if run.valid and isinstance(run.speed.wall_s, float)]
    return statistics.median(walls[:ESTIMATED_FROM]) if walls else None


def desk_of(app: LabApp) -> RunDesk:
    """The one desk of the app; it is put on the home screen with the first question."""
    home = next((screen for screen in app.screen_stack if isinstance(screen, HomeScreen)), app.screen_stack[0])
    for desk in home.query(RunDesk):
        return desk
    desk = RunDesk()
    places = home.query("#body")
    (places.first() if places else home).mount(desk)
    return desk
