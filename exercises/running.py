"""Runs tasks on a served model: the metrics page before, the stream, the metrics page after, the check, the record."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from exercises.client import stream_chat
from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.evidence import run_evidence, without_key
from exercises.metrics import Counters, counter_window
from exercises.records import Check, Chunk, CounterWindow, Fact, NotMeasurable, Run
from exercises.run_ids import new_id
from exercises.server_pages import ServerPages
from exercises.speed import speed_of
from exercises.stream import StreamOutcome
from exercises.tasks import PreparedTask, Task
from exercises.trial import Trial, summarise, warmup_seeds
from exercises.validity import why_invalid

__all__ = ["ChunkArrived", "Event", "OnEvent", "RunFinished", "RunStarted", "ServerBusy", "run_task", "run_trial"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """number and of count within the warm-ups or within the measured runs of a trial; 1 of 1 for a single run."""

    run_id: str
    task: Task
    prepared: PreparedTask
    number: int = 1
    of: int = 1
    warmup: bool = False


@dataclass(frozen=True, slots=True)
class ServerBusy:
    """Other requests are on the server; the run waits a short while for them, so that its counters are its own."""

    run_id: str
    requests: int


@dataclass(frozen=True, slots=True)
class ChunkArrived:
    """completion_tokens: delivered up to this chunk, None where the server does not say on the way."""

    run_id: str
    canvas: int
    chunk: Chunk
    text: str
    completion_tokens: int | None


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run came to its end, valid or not. Keep it now: what follows may fail."""

    run: Run
    number: int = 1
    of: int = 1


Event = RunStarted | ServerBusy | ChunkArrived | RunFinished
OnEvent = Callable[[Event], None]


def run_task(
    task: Task,
    endpoint: Endpoint,
    *,
    seed: int,
    warmup: bool = False,
    trial: str | None = None,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
    run_code: bool = True,
    number: int = 1,
    of: int = 1,
    streams: int = 1,
    extra: Mapping[str, Any] | None = None,
) -> Run:
    """One measured request with its checked answer. Blocks: call it in a worker thread; events come in that thread.

    A run that was cancelled, that broke off or whose answer is empty comes back too, invalid with its reason.
    run_code: False where the person does not want the code in an answer to be run (Task.runs_code). streams: own
    requests at once; with more than one the server's counters belong to all of them and say nothing about this run.
    extra: further keys of the request, as in exercises.client.request_body.

    Raises ExerciseError where nothing was answered: no server (exit 3), refused request (exit 1 or 2).
    """
    cancel = cancel or threading.Event()
    tell: OnEvent = on_event or (lambda event: None)
    run_id = new_id("r")
    prepared = task.prepare(seed, run_code=run_code)
    tell(RunStarted(run_id, task, prepared, number, of, warmup))
    with ServerPages(endpoint) as pages:
        version = endpoint.vllm_version or pages.version()
        before = _before(pages, streams, cancel, lambda reading: tell(ServerBusy(run_id, reading.busy)))
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        outcome = stream_chat(
            endpoint,
            prepared.messages,
            task.max_tokens,
            on_chunk=_chunk_teller(run_id, tell),
            cancel=cancel,
            extra=extra,
        )
        after, window = _read_window(pages, before, outcome, cancel)
    timeline = replace(outcome.timeline, counters=window)
    reason = without_key(endpoint.api_key, why_invalid(outcome.text, outcome.reasoning, outcome.ended, outcome.error))
    run = Run(
        id=run_id,
        task=task.id,
        task_set=task.set_id,
        checkpoint=endpoint.checkpoint,
        practice=endpoint.practice,
        started_at=started_at,
        valid=reason is None,
        invalid_reason=reason,
        timeline=timeline,
        speed=speed_of(timeline),
        check=_check(prepared, outcome),
        output=outcome.text,
        reasoning=outcome.reasoning,
        warmup=warmup,
        trial=trial,
        evidence=run_evidence(
            task, endpoint, prepared, outcome, version, before, after, streams=streams, extra=extra or {}
        ),
    )
    tell(RunFinished(run, number, of))
    return run


def run_trial(
    task: Task,
    endpoint: Endpoint,
    *,
    runs: int,
    warmup: int = 1,
    seed: int | None = None,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
    run_code: bool = True,
    extra: Mapping[str, Any] | None = None,
) -> Trial:
    """Warm-ups, then measured runs of one task; the summary is over the measured and valid ones.

    Each run has a seed of its own (seed, seed + 1, ... and further ones for the warm-ups), so prompts and pictures
    differ within a trial and are the same in two trials with the same seed; of several warm-ups the last repeats the
    first, so that the first find in the prefix cache is no measured run. A cancel or a fault keeps what finished.

    Raises ExerciseError where the first run could not be made at all, and for runs < 1 or warmup < 0 (exit 2).
    """
    if runs < 1 or warmup < 0:
        raise ExerciseError(
            "A trial needs at least one run", f"asked for {runs} runs and {warmup} warm-ups", "Ask for 1 or more.", 2
        )
    cancel = cancel or threading.Event()
    seed = secrets.randbelow(2**31) if seed is None else seed
    trial_id = new_id("t")
    plan = [(warm, number, warmup, True) for number, warm in enumerate(warmup_seeds(seed + runs, warmup), 1)]
    plan += [(seed + number, number + 1, runs, False) for number in range(runs)]
    finished: list[Run] = []
    stopped_by: ExerciseError | None = None
    for run_seed, number, of, is_warmup in plan:
        if cancel.is_set():
            break
        try:
            run = run_task(
                task,
                endpoint,
                seed=run_seed,
                warmup=is_warmup,
                trial=trial_id,
                on_event=on_event,
                cancel=cancel,
                run_code=run_code,
                number=number,
                of=of,
                extra=extra,
            )
        except ExerciseError as fault:
            if not finished:
                raise
            stopped_by = fault
            break
        finished.append(run)
    return Trial(trial_id, tuple(finished), summarise(finished), runs, cancel.is_set(), stopped_by)


def _chunk_teller(run_id: str, tell: OnEvent) -> Callable[[Chunk, str], None]:
    canvas, tokens = 0, 0
    known = True

    def on_chunk(chunk: Chunk, text: str) -> None:
        nonlocal canvas, tokens, known
        canvas += 1
        known = known and chunk.tokens is not None
        tokens += chunk.tokens or 0
        tell(ChunkArrived(run_id, canvas, chunk, text, tokens if known else None))

    return on_chunk


def _before(
    pages: ServerPages, streams: int, cancel: threading.Event, on_busy: Callable[[Counters], None]
) -> Counters | NotMeasurable:
    if streams > 1:
        return NotMeasurable(f"{streams} requests ran at once: the counters belong to all of them")
    return pages.idle_counters(cancel, on_busy)


def _read_window(
    pages: ServerPages, before: Counters | NotMeasurable, outcome: StreamOutcome, cancel: threading.Event
) -> tuple[Counters | NotMeasurable, CounterWindow | NotMeasurable]:
    if outcome.ended != "complete":
        # An aborted request leaves passes without a commit in the counters.
        unread = NotMeasurable("the run did not come to its end")
        return unread, unread
    if isinstance(before, NotMeasurable):
        return before, before
    own = outcome.timeline.completion_tokens
    after = pages.settled_counters(before, own or 0, cancel)
    if isinstance(after, NotMeasurable):
        return after, after
    return after, counter_window(before, after, own)


def _check(prepared: PreparedTask, outcome: StreamOutcome) -> Check:
    if outcome.ended != "complete":
        return Check(False, (Fact("was checked", False, "the answer is not complete"),))
    try:
        return prepared.check(outcome.text)
    except Exception as fault:
        # Checkers promise not to raise; a finished run is not lost if one breaks that promise.
        return Check(False, (Fact("was checked", False, f"the checker failed: {fault!r}"),))
