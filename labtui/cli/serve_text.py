"""The server's state in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from labtui.program import as_typed
from labtui.terminal_text import visible_line
from lessons.times import clock

if TYPE_CHECKING:
    from labtui.serving.diagnosis import Cause
    from labtui.serving.leftovers import OtherEngines
    from labtui.serving.remedies import Remedy
    from labtui.serving.status import Status


def status_line(status: Status) -> str:
    """One line for a start that goes on: stage, how far, how long such a launch took the last time."""
    words: list[str] = [status.state]
    if status.stage:
        words.append(status.stage)
    if status.message:
        words.append(status.message)
    if status.estimate_s is not None and status.since_s is not None and status.state in ("starting", "warming"):
        left = status.estimate_s - status.since_s
        last = clock(status.estimate_s)
        words.append(f"about {clock(left)} left (last launch {last})" if left > 0 else f"last launch took {last}")
    return visible_line(" · ".join(words))


def status_lines(status: Status) -> Iterator[str]:
    label = " · practice" if status.practice and status.checkpoint != "practice" else ""
    checkpoint = f" · {status.checkpoint}{label}" if status.checkpoint else ""
    since = f" · for {clock(status.since_s)}" if status.since_s is not None else ""
    ready = f" · ready after {clock(status.ready_after_s)}" if status.ready_after_s is not None else ""
    yield f"{status_line(status) if status.state != 'ready' else 'ready'}{checkpoint}{since}{ready}"
    if status.url:
        yield f"  {status.url}" + (f", pid {status.pid}" if status.pid else "")
    if status.last_line and status.state != "ready":
        yield f"  > {visible_line(status.last_line)}"
    for cause in status.causes:
        yield f"  {visible_line(cause.title)}: {visible_line(cause.cause)} (line {cause.line})"
        yield as_typed(f"  → {visible_line(cause.fix)}")
    if status.log_path is not None:
        yield f"  log: {status.log_path}"


def engine_lines(others: OtherEngines) -> Iterator[str]:
    """What else of vLLM runs here: what can be ended, and what is only named."""
    if others.ours:
        yield f"left of an earlier server: {visible_line('; '.join(one.words() for one in others.ours))}"
        yield as_typed("  → labtui serve stop --leftovers")
    if others.foreign:
        yield f"not labtui's, left alone: {visible_line('; '.join(one.words() for one in others.foreign))}"


def offer_lines(offers: Sequence[tuple[Cause, Remedy]]) -> Iterator[str]:
    """The changes that would each avoid the death: the short way to it, and the line to paste."""
    if len(offers) == 1:
        yield f"  one change avoids it: {visible_line(offers[0][1].words)}"
    elif offers:
        yield "  each of these avoids it:"
    for number, (_, remedy) in enumerate(offers, 1):
        if len(offers) > 1:
            yield f"  {number}. {visible_line(remedy.words)}"
        short = f"labtui serve start --fix{'' if number == 1 else f' {number}'}"
        yield as_typed(f"  → {short}, which is: {visible_line(remedy.command)}")
