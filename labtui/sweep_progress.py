"""A sweep while it runs: what was asked for, where it stands, and how it ended. Immutable moments for the screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

from exercises.running import RunStarted
from exercises.sweep import Axis, PointFinished, PointStarted, SweepEvent, SweepProgress, sweep_to_json
from exercises.sweep_panels import TITLES
from labtui.errors import Explained
from labtui.running import RunKept
from labtui.sweeping import together
from labtui.terminal_text import visible_line
from lessons.times import clock

if TYPE_CHECKING:
    from exercises.sweep import Sweep

BAR_CELLS = 24


@dataclass(frozen=True, slots=True)
class SweepOrder:
    """task_id: None for a sweep by kind. wanted: labels of the points, all usual ones where it is empty.

    earlier: the kept sweep that it goes on with.
    """

    axis: Axis
    task_id: str | None
    wanted: tuple[str, ...] = ()
    rounds: int = 3
    warmup: int = 1
    earlier: Mapping[str, Any] | None = None

    @property
    def words(self) -> str:
        return f"sweep by {TITLES[self.axis]}" + (f" · {self.task_id}" if self.task_id else "")


@dataclass(frozen=True, slots=True)
class Possible:
    """What the chosen sweep would be on this server. fault: why it cannot be; then it has no points.

    tasks: those that a sweep may keep. usual_s: what a request took lately.
    """

    order: SweepOrder
    tasks: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    requests: int = 0
    usual_s: float | None = None
    fault: Explained | None = None


def choice_lines(order: SweepOrder, possible: Possible | None) -> Iterator[str]:
    """What is chosen, with the keys that change it; possible: None while it is looked up."""
    names = [f"[{TITLES[axis]}]" if axis == order.axis else f" {TITLES[axis]} " for axis in get_args(Axis)]
    points = "" if possible is None else visible_line(", ".join(possible.labels))
    rounds = f"{order.rounds} round{'' if order.rounds == 1 else 's'}, " + (
        "no warm-up" if order.warmup == 0 else f"after {order.warmup} warm-up{'' if order.warmup == 1 else 's'}"
    )
    about = ""
    if possible is not None and possible.requests:
        about = f" · {possible.requests} requests"
        if possible.usual_s is not None:
            about += f" · about {clock(possible.usual_s * possible.requests)}"
    rows = (
        ("k  vary", "  ".join(names)),
        ("t  task", "each kind is one" if order.task_id is None else order.task_id),
        ("p  points", points or ("…" if possible is None else "–")),
        ("r  rounds", f"{rounds}{about}"),
    )
    yield from (f"{name:<11}{value}" for name, value in rows)


@dataclass(frozen=True, slots=True)
class SweepMoment:
    """point, number and of: the point under way. round, rounds, warmup: its round. done and requests: of the whole.

    left_s: what is left as far as it can be told, at the moment told_at. so_far: the document of what is finished.
    """

    order: SweepOrder
    checkpoint: str = ""
    practice: bool = False
    point: str = ""
    number: int = 0
    of: int = 0
    round: int = 0
    rounds: int = 0
    warmup: bool = False
    done: int = 0
    requests: int = 0
    left_s: float | None = None
    told_at: datetime | None = None
    kept: int = 0
    so_far: Mapping[str, Any] | None = None
    stopping: bool = False

    def left_words(self, now: datetime) -> str:
        if self.left_s is None or self.told_at is None:
            return ""
        left = self.left_s - (now - self.told_at).total_seconds()
        return f"about {clock(left)} left" if left >= 1 else "nearly done"

    def lines(self, now: datetime) -> tuple[str, str]:
        """How far the whole is, and what goes on: "code (3 of 4) · round 2 of 3"."""
        filled = round(BAR_CELLS * self.done / self.requests) if self.requests else 0
        bar = "■" * filled + "□" * (BAR_CELLS - filled)
        of = f"{self.done} of {self.requests} requests" if self.requests else "asking the server"
        first = " · ".join(part for part in (f"{bar}  {of}", self.left_words(now)) if part)
        doing = f"{self.point} ({self.number} of {self.of})" if self.number else ""
        which = f"{'warm-up' if self.warmup else 'round'} {self.round} of {self.rounds}" if self.round else ""
        parts = ("stopping: what is finished is kept" if self.stopping else "", doing, which)
        return first, " · ".join(part for part in parts if part)

    def words(self, now: datetime) -> str:
        """In one line, for where the sweep is not what is looked at."""
        practice = " · practice" if self.practice else ""
        left = self.left_words(now)
        return f"{self.order.words}{practice} · {self.done} of {self.requests} requests" + (
            f" · {left}" if left else ""
        )


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """How it ended. sweep is None where nothing was answered, or a run could not be kept: error says why."""

    moment: SweepMoment
    sweep: Sweep | None = None
    error: Exception | None = None


class SweepTeller:
    """Turns the events of a sweep into moments. Lives in the sweep's own thread."""

    def __init__(self, order: SweepOrder, now: Callable[[], datetime], post: Callable[[SweepMoment], object]) -> None:
        self.moment = SweepMoment(order)
        self._now = now
        self._post = post

    def known(self, checkpoint: str, practice: bool) -> None:
        self._change(checkpoint=checkpoint, practice=practice)

    def tell(self, event: SweepEvent | RunKept) -> None:
        match event:
            case PointStarted():
                self._change(point=event.point.label, number=event.number, of=event.of, round=0)
            case SweepProgress():
                self._change(done=event.done, requests=event.of, left_s=event.left_s, told_at=self._now())
            case RunStarted():
                self._change(round=event.number, rounds=event.of, warmup=event.warmup)
            case RunKept():
                self._change(kept=self.moment.kept + 1)
            case PointFinished():
                earlier, so_far = self.moment.order.earlier, sweep_to_json(event.so_far)
                self._change(so_far=so_far if earlier is None else together(earlier, so_far))

    def _change(self, **changes: object) -> None:
        self.moment = replace(self.moment, **changes)  # type: ignore[arg-type]
        self._post(self.moment)
