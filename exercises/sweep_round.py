"""One round of a sweep: one request, or several that start together, with the counters of all of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.metrics import counter_window
from exercises.records import CounterWindow, NotMeasurable, Run
from exercises.running import Event, OnEvent, run_task
from exercises.server_pages import ServerPages
from exercises.sweep_points import Point


def run_round(
    point: Point,
    endpoint: Endpoint,
    trial: str,
    first_seed: int,
    warmup: bool,
    number: int,
    of: int,
    tell: OnEvent,
    cancel: threading.Event,
    run_code: bool,
) -> tuple[list[Run], CounterWindow | NotMeasurable, ExerciseError | None]:
    """The runs of one round in the order of their seeds, the counters of all together, and what stopped it."""

    def one(stream: int, on_event: OnEvent) -> Run:
        return run_task(
            point.task,
            endpoint,
            seed=first_seed + stream,
            warmup=warmup,
            trial=trial,
            on_event=on_event,
            cancel=cancel,
            run_code=run_code,
            number=number,
            of=of,
            streams=point.streams,
            extra=point.extra,
        )

    if point.streams == 1:
        try:
            run = one(0, tell)
        except ExerciseError as refused:
            return [], NotMeasurable(refused.cause), refused
        return [run], run.timeline.counters, None
    with ServerPages(endpoint) as pages:
        before = pages.idle_counters(cancel)
        runs, fault = _at_once(one, point.streams, tell, cancel)
        tokens = [run.timeline.completion_tokens for run in runs]
        own = None if None in tokens else sum(count or 0 for count in tokens)
        complete = fault is None and all(run.evidence.get("ended") == "complete" for run in runs)
        if isinstance(before, NotMeasurable) or not complete:
            return runs, before if isinstance(before, NotMeasurable) else NotMeasurable("a stream broke off"), fault
        after = pages.settled_counters(before, own or 0, cancel)
    window = after if isinstance(after, NotMeasurable) else counter_window(before, after, own)
    return runs, window, fault


def _at_once(
    one: Callable[[int, OnEvent], Run], streams: int, tell: OnEvent, cancel: threading.Event
) -> tuple[list[Run], ExerciseError | None]:
    """Every stream in a thread of its own, started together; their events are told in the calling thread.

    Where telling fails, the streams are cancelled, what they have is still told, and the failure is raised at the end.
    """
    events: queue.SimpleQueue[Event | int] = queue.SimpleQueue()
    together = threading.Barrier(streams)
    runs: dict[int, Run] = {}
    faults: dict[int, Exception] = {}
    untold: Exception | None = None

    def stream(number: int) -> None:
        try:
            together.wait()
            runs[number] = one(number, events.put)
        except Exception as fault:
            faults[number] = fault
        finally:
            events.put(number)

    for number in range(streams):
        threading.Thread(target=stream, args=(number,), name=f"stream {number}", daemon=True).start()
    left = streams
    while left:
        event = events.get()
        if isinstance(event, int):
            left -= 1
            continue
        try:
            tell(event)
        except Exception as fault:
            untold = untold or fault
            cancel.set()
    for failure in (untold, *(one for one in faults.values() if not isinstance(one, ExerciseError))):
        if failure is not None:
            raise failure
    first = next((one for _, one in sorted(faults.items()) if isinstance(one, ExerciseError)), None)
    return [runs[number] for number in sorted(runs)], first
