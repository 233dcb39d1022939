"""A trial under way in words: how far it is, how long it may take, what its runs gave, and the median so far."""

from __future__ import annotations

from datetime import datetime

from exercises.records import NotMeasurable, Run
from exercises.speed import format_rate
from exercises.trial import summarise
from labtui.cli.run_text import marked_rate, spread_text
from labtui.run_progress import Progress, usual_seconds
from lessons.times import clock

BAR_CELLS = 24
SHOWN = 6
"""Runs of which the rate is shown; the earlier ones are counted."""


def head_words(progress: Progress, now: datetime) -> str:
    """ "coding · run 3 of 8 · canvas 2 · 512 tokens · 498 tok/s so far · 0:03 (usually 4.1 s) · practice"."""
    what = "warm-up" if progress.warmup else "run"
    of = f" {progress.number} of {progress.of}" if progress.of > 1 else ""
    parts = [f"{progress.order.task_id} · {what}{of}"]
    if progress.stopping:
        parts.append("stopping")
    elif progress.began is None:
        parts.append("asking the server")
    else:
        parts += [f"canvas {progress.canvases}", *so_far_words(progress)]
        usual = f" (usually {progress.usual_s:.1f} s)" if progress.usual_s is not None else ""
        parts.append(f"{clock(max(0.0, (now - progress.began).total_seconds()))}{usual}")
    if progress.practice:
        parts.append("practice")
    return " · ".join(parts)


def so_far_words(progress: Progress) -> tuple[str, ...]:
    """Tokens and end-to-end rate up to the newest canvas, where the server tells its tokens on the way."""
    rate = progress.speed_so_far.end_to_end_tps
    if progress.tokens is None:
        return ("tokens are told at the end",)
    tokens = f"{progress.tokens:,} tokens"
    return (tokens,) if isinstance(rate, NotMeasurable) else (tokens, f"{format_rate(rate)} so far")


def trial_lines(progress: Progress, now: datetime) -> tuple[str, ...]:
    """Bar and estimate, the runs, the median so far; nothing where one run alone was asked for."""
    if progress.asked < 2:
        return ()
    return tuple(line for line in (bar_line(progress, now), runs_line(progress), median_line(progress)) if line)


def bar_line(progress: Progress, now: datetime) -> str:
    full = round(BAR_CELLS * share_done(progress, now))
    left = seconds_left(progress, now)
    words = "no estimate before the first run" if left is None else "a moment left"
    if left is not None and left >= 1:
        words = f"about {clock(left)} left"
    return f"{'■' * full}{'□' * (BAR_CELLS - full)}  {len(progress.kept)} of {progress.asked} saved · {words}"


def runs_line(progress: Progress) -> str:
    """ "warm-up 212 tok/s dropped · 498 tok/s · 501 tok/s"."""
    if not progress.kept:
        return ""
    earlier = len(progress.kept) - SHOWN
    said = [f"{earlier} earlier"] if earlier > 0 else []
    return " · ".join((*said, *map(_run_words, progress.kept[-SHOWN:])))


def median_line(progress: Progress) -> str:
    """The median over the runs that count so far, with its interval or why there is none."""
    summary = summarise(progress.kept)
    if not summary.counted:
        return ""
    practice = " · practice" if progress.practice else ""
    return f"end to end so far {spread_text('end_to_end_tps', summary.values['end_to_end_tps'])}{practice}"


def share_done(progress: Progress, now: datetime) -> float:
    """Between 0 and 1; the run under way counts by the time that such a run takes, and never as a whole one."""
    usual = _usual(progress)
    under_way = min(_elapsed(progress, now) / usual, 0.95) if usual else 0.0
    return min((len(progress.kept) + under_way) / progress.asked, 1.0)


def seconds_left(progress: Progress, now: datetime) -> float | None:
    """None where no run of this task was measured before. A run that takes longer than usual adds nothing."""
    usual = _usual(progress)
    if usual is None:
        return None
    left = progress.asked - len(progress.kept)
    return max(0.0, usual * left - min(_elapsed(progress, now), usual))


def _usual(progress: Progress) -> float | None:
    """Seconds of a run: of this trial's own, else of earlier ones."""
    own = usual_seconds([run for run in reversed(progress.kept) if not run.warmup])
    return progress.usual_s if own is None else own


def _elapsed(progress: Progress, now: datetime) -> float:
    if not progress.under_way or progress.began is None:
        return 0.0
    return max(0.0, (now - progress.began).total_seconds())


def _run_words(run: Run) -> str:
    return f"warm-up {marked_rate(run)} dropped" if run.warmup else marked_rate(run)
