"""The sweep under way. It belongs to no screen: it goes on, and is kept, when its screen is left."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol, cast, runtime_checkable

from textual import on
from textual.message import Message
from textual.widgets import Static

from labtui.run_progress import ESTIMATED_FROM, usual_seconds
from labtui.screens.home import HomeScreen
from labtui.sweep_progress import SweepMoment, SweepOrder, SweepOutcome, SweepTeller
from labtui.sweeping import rest_of, sweep_and_keep, sweep_points

if TYPE_CHECKING:
    from exercises.sweep import Sweep
    from labtui.app import LabApp

LEAVE_S = 3.0


@runtime_checkable
class SweepWatcher(Protocol):
    """A screen that is told when the sweep under way has moved or ended."""

    def sweep_moved(self) -> None: ...


class SweepDesk(Static):
    """Holds the sweep under way for as long as the app lives. It sits on the home screen and says what goes on."""

    DEFAULT_CSS = """
    SweepDesk { dock: bottom; height: auto; color: $accent; display: none; padding: 0 2; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    class Moved(Message):
        """A newer moment replaces one that still waits."""

        def __init__(self, moment: SweepMoment) -> None:
            super().__init__()
            self.moment = moment

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, SweepDesk.Moved)

    class Ended(Message):
        def __init__(self, outcome: SweepOutcome) -> None:
            super().__init__()
            self.outcome = outcome

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.moment: SweepMoment | None = None
        self.outcome: SweepOutcome | None = None
        self._cancel = threading.Event()
        self._finished = threading.Event()
        self._finished.set()

    @property
    def lab(self) -> LabApp:
        return cast("LabApp", self.app)

    @property
    def busy(self) -> bool:
        return self.moment is not None

    def take_outcome(self) -> SweepOutcome | None:
        """How the last sweep ended, once: whoever takes it shows it."""
        outcome, self.outcome = self.outcome, None
        return outcome

    def begin(self, order: SweepOrder) -> None:
        """Run it in a worker; one at a time."""
        if self.moment is not None:
            return
        self.moment, self.outcome = SweepMoment(order), None
        self._cancel, self._finished = threading.Event(), threading.Event()
        work = partial(self._work, order, self._cancel, self._finished)
        self.run_worker(work, group="sweep", thread=True, exit_on_error=False)
        self._tell()

    def stop(self) -> None:
        """End it within a moment; what was finished is kept."""
        if self.moment is not None:
            self._cancel.set()
            self.moment = replace(self.moment, stopping=True)
            self._tell()

    def _work(self, order: SweepOrder, cancel: threading.Event, finished: threading.Event) -> None:
        teller = SweepTeller(order, self.lab.now, lambda moment: self.post_message(self.Moved(moment)))
        sweep: Sweep | None = None
        error: Exception | None = None
        try:
            sweep = self._sweep(order, teller, cancel)
            error = sweep.error
        except Exception as fault:
            error = fault
        finally:
            finished.set()
            self.post_message(self.Ended(SweepOutcome(teller.moment, sweep, error)))

    def _sweep(self, order: SweepOrder, teller: SweepTeller, cancel: threading.Event) -> Sweep:
        endpoint = self.lab.supervisor.endpoint()
        points = (
            sweep_points(order.axis, endpoint, order.task_id, order.wanted)
            if order.earlier is None
            else rest_of(order.earlier, endpoint)
        )
        books = self.lab.books
        earlier = books.submit(
            lambda store: store.runs.list(checkpoint=endpoint.checkpoint, limit=ESTIMATED_FROM)
        ).result()
        teller.known(endpoint.checkpoint, endpoint.practice)
        return sweep_and_keep(
            order.axis,
            points,
            endpoint,
            lambda run: books.submit(lambda store: store.runs.add(run)).result(),
            lambda document: books.submit(lambda store: store.sweeps.save(document)).result(),
            rounds=order.rounds,
            warmup=order.warmup,
            usual_s=usual_seconds(earlier),
            on_event=teller.tell,
            cancel=cancel,
            earlier=order.earlier,
        )

    @on(Moved)
    def _moved(self, event: Moved) -> None:
        event.stop()
        if self.moment is not None and self.moment.order is event.moment.order:
            self.moment = replace(event.moment, stopping=self.moment.stopping)
            self._tell()

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        event.stop()
        self.moment, self.outcome = None, event.outcome
        self._tell()
        for screen in self.app.screen_stack:
            if isinstance(screen, HomeScreen):
                screen.refresh_picture()

    def _tell(self) -> None:
        self.show_words()
        for screen in self.app.screen_stack:
            if isinstance(screen, SweepWatcher) and screen.is_mounted:
                screen.sweep_moved()

    def show_words(self) -> None:
        moment = self.moment
        self.display = moment is not None
        if moment is not None:
            self.update(f"◐ {moment.words(self.lab.now())}")

    async def on_unmount(self) -> None:
        """The app is being left: the sweep ends, and is kept, before the store closes."""
        self._cancel.set()
        await asyncio.to_thread(self._finished.wait, LEAVE_S)


def sweep_desk_of(app: LabApp) -> SweepDesk:
    """The one desk for sweeps of the app; it is put on the home screen with the first question."""
    home = next((screen for screen in app.screen_stack if isinstance(screen, HomeScreen)), app.screen_stack[0])
    for desk in home.query(SweepDesk):
        return desk
    desk = SweepDesk()
    places = home.query("#body")
    (places.first() if places else home).mount(desk)
    return desk
