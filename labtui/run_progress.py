"""A trial while it runs: what was asked for, where it stands, and how it ended. Immutable moments for the screens."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from exercises.records import Chunk, Run, Speed, Timeline
from exercises.running import ChunkArrived, RunFinished, RunStarted, ServerBusy
from exercises.speed import speed_of
from exercises.tasks import PreparedTask, Task
from labtui.running import LabEvent, RunKept
from lessons.times import clock

if TYPE_CHECKING:
    from exercises.trial import Trial

LIVE_TEXT = 6000
"""Characters of a growing answer that a screen is given; the run itself keeps all of them."""

ESTIMATED_FROM = 5


@dataclass(frozen=True, slots=True)
class Repeats:
    """runs: measured ones. warmups: runs before them that do not count; None: one on a launch that has answered nothing
    yet, else none."""

    runs: int = 1
    warmups: int | None = None

    @property
    def words(self) -> str:
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        match self.warmups:
            case None:
                return f"{runs}, a warm-up where needed"
            case 0:
                return f"{runs}, no warm-up"
            case 1:
                return f"{runs} after 1 warm-up"
        return f"{runs} after {self.warmups} warm-ups"


@dataclass(frozen=True, slots=True)
class Order:
    """What to run. seed: of the first measured run, so that its prompt is the one that was shown before."""

    task_id: str
    repeats: Repeats
    seed: int
    run_code: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """One moment of a trial. canvases, tokens, arrived_s, text, began: of the run that is under way.

    arrived_s: seconds from the request being sent to the newest canvas. under_way: the run that began has not ended.
    busy: requests of others that it waits for. usual_s: what such a run took before. kept: runs that are in the store.
    warmups: how many runs come before the measured ones, None until that is known.
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
    arrived_s: float | None = None
    under_way: bool = False
    text: str = ""
    busy: int = 0
    usual_s: float | None = None
    kept: tuple[Run, ...] = ()
    stopping: bool = False
    warmups: int | None = None

    @property
    def asked(self) -> int:
        """Runs that were asked for, warm-ups among them."""
        return self.order.repeats.runs + (self.warmups or 0)

    @property
    def speed_so_far(self) -> Speed:
        """Computed as that of the whole run is: with the last canvas the end-to-end rates are the same."""
        arrived = (Chunk(self.arrived_s, self.tokens),) if self.arrived_s is not None else ()
        return speed_of(Timeline(arrived, None, self.tokens))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. trial is None where nothing was answered, or a run could not be kept: error says why."""

    progress: Progress
    trial: Trial | None = None
    error: Exception | None = None

    @property
    def shown(self) -> Run | None:
        """The run to show: the last that counts, else the last measured one, else the last one at all."""
        kept = self.progress.kept
        measured = [run for run in kept if not run.warmup]
        counted = [run for run in measured if run.valid]
        return next((runs[-1] for runs in (counted, measured, kept) if runs), None)


def progress_words(progress: Progress, now: datetime) -> str:
    """ "coding: run 2 of 3 · practice · canvas 4 · 0:12" """
    what = "warm-up" if progress.warmup else "run"
    of = f" {progress.number} of {progress.of}" if progress.of > 1 else ""
    since = f" · {clock(max(0.0, (now - progress.began).total_seconds()))}" if progress.began else ""
    practice = " · practice" if progress.practice else ""
    return f"{progress.order.task_id}: {what}{of}{practice} · canvas {progress.canvases}{since}"


class Teller:
    """Turns the events of a run into moments. Lives in the run's own thread."""

    def __init__(self, order: Order, now: Callable[[], datetime], post: Callable[[Progress], object]) -> None:
        self.progress = Progress(order)
        self._now = now
        self._post = post

    def known(self, task: Task, checkpoint: str, practice: bool, usual_s: float | None, warmups: int) -> None:
        self._change(task=task, checkpoint=checkpoint, practice=practice, usual_s=usual_s, warmups=warmups)

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
                    arrived_s=None,
                    under_way=True,
                    text="",
                    busy=0,
                )
            case ServerBusy():
                self._change(busy=event.requests)
            case ChunkArrived():
                text = (self.progress.text + event.text)[-LIVE_TEXT:]
                self._change(
                    canvases=event.canvas,
                    tokens=event.completion_tokens,
                    arrived_s=event.chunk.at_s,
                    text=text,
                    busy=0,
                )
            case RunFinished():
                self._change(under_way=False)
            case RunKept():
                self._change(kept=(*self.progress.kept, event.run))

    def _change(self, **changes: object) -> None:
        self.progress = replace(self.progress, **changes)  # type: ignore[arg-type]
        self._post(self.progress)


def usual_seconds(earlier: Sequence[Run]) -> float | None:
    """What such a run takes: the median of the newest valid ones, None where there is none."""
    walls = [run.speed.wall_s for run in earlier if run.valid and isinstance(run.speed.wall_s, float)]
    return statistics.median(walls[:ESTIMATED_FROM]) if walls else None
