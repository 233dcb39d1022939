"""Work under way that belongs to no screen: it goes on, and is kept, when the screen that asked for it is left."""

from __future__ import annotations

import asyncio
import threading
from abc import abstractmethod
from dataclasses import Field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast, runtime_checkable

from textual import on
from textual.message import Message
from textual.widgets import Static

from labtui.screens.home import HomeScreen

if TYPE_CHECKING:
    from labtui.app import LabApp

LEAVE_S = 3.0


class UnderWay(Protocol):
    """A moment of the work: a dataclass that knows its order and whether it was asked to stop."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def order(self) -> object: ...
    @property
    def stopping(self) -> bool: ...


@runtime_checkable
class DeskWatcher(Protocol):
    """A screen that is told when the work of its desk has moved or ended."""

    @property
    def desk(self) -> Desk[Any, Any, Any] | None: ...

    def desk_moved(self) -> None: ...


OrderT = TypeVar("OrderT")
MomentT = TypeVar("MomentT", bound=UnderWay)
OutcomeT = TypeVar("OutcomeT")
DeskT = TypeVar("DeskT", bound="Desk[Any, Any, Any]")


class Desk(Static, Generic[OrderT, MomentT, OutcomeT]):
    """Holds one piece of work for as long as the app lives. It sits on the home screen and says there what goes on."""

    DEFAULT_CSS = """
    Desk { dock: bottom; height: auto; color: $accent; display: none; padding: 0 2; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    class Moved(Message):
        """A newer moment replaces one that still waits: a flood of chunks cannot queue up."""

        def __init__(self, progress: Any) -> None:
            super().__init__()
            self.progress = progress

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, Desk.Moved)

    class Ended(Message):
        def __init__(self, outcome: Any) -> None:
            super().__init__()
            self.outcome = outcome

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.progress: MomentT | None = None
        self.outcome: OutcomeT | None = None
        self._cancel = threading.Event()
        self._finished = threading.Event()
        self._finished.set()

    @abstractmethod
    def first_moment(self, order: OrderT) -> MomentT: ...

    @abstractmethod
    def carry_out(self, order: OrderT, cancel: threading.Event) -> OutcomeT:
        """The work itself, in a thread of its own. Calls `post_moment` as it goes; a fault is part of the outcome."""

    @abstractmethod
    def words(self, progress: MomentT) -> str: ...

    @property
    def lab(self) -> LabApp:
        return cast("LabApp", self.app)

    @property
    def busy(self) -> bool:
        return self.progress is not None

    def take_outcome(self) -> OutcomeT | None:
        """How the last work ended, once: whoever takes it shows it."""
        outcome, self.outcome = self.outcome, None
        return outcome

    def begin(self, order: OrderT) -> None:
        """Do it in a worker; one at a time."""
        if self.progress is not None:
            return
        self.progress, self.outcome = self.first_moment(order), None
        cancel = self._cancel = threading.Event()
        finished = self._finished = threading.Event()
        self.run_worker(
            lambda: self._work(order, cancel, finished), group=type(self).__name__, thread=True, exit_on_error=False
        )
        self._tell()

    def stop(self) -> None:
        """End it within a moment; what was finished is kept."""
        if self.progress is not None:
            self._cancel.set()
            self.progress = replace(self.progress, stopping=True)
            self._tell()

    def post_moment(self, progress: MomentT) -> None:
        self.post_message(self.Moved(progress))

    def _work(self, order: OrderT, cancel: threading.Event, finished: threading.Event) -> None:
        try:
            outcome = self.carry_out(order, cancel)
        finally:
            finished.set()
        self.post_message(self.Ended(outcome))

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
            if isinstance(screen, DeskWatcher) and screen.is_mounted and screen.desk is self:
                screen.desk_moved()

    def show_words(self) -> None:
        self.display = self.progress is not None
        if self.progress is not None:
            self.update(f"◐ {self.words(self.progress)}")

    async def on_unmount(self) -> None:
        """The app is being left: the work ends, and is kept, before the store closes."""
        self._cancel.set()
        await asyncio.to_thread(self._finished.wait, LEAVE_S)


def the_desk(app: LabApp, kind: type[DeskT]) -> DeskT:
    """The app's one desk of this kind; it is put on the home screen with the first question."""
    home = next((screen for screen in app.screen_stack if isinstance(screen, HomeScreen)), app.screen_stack[0])
    for desk in home.query(kind):
        return desk
    desk = kind()
    places = home.query("#body")
    (places.first() if places else home).mount(desk)
    return desk
