"""What stands on the home screen, collected from the store in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from exercises.records import Run
from exercises.speed import format_rate
from labtui.due_words import due_words
from labtui.standing import Standing, standing_of
from labtui.widgets.dates import day_words
from lessons.model import Lesson

if TYPE_CHECKING:
    from store.opening import Store
    from store.verdicts import Verdict

LATELY = 6


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: what, how it came out, and when."""

    what: str
    outcome: str
    when: datetime
    words: str


@dataclass(frozen=True, slots=True)
class HomePicture:
    standings: tuple[Standing, ...]
    lately: tuple[Event, ...]


def home_picture(store: Store, lessons: Sequence[Lesson], now: datetime) -> HomePicture:
    events = [_run_event(run, now) for run in store.runs.list(limit=LATELY)]
    for lesson in lessons:
        events += [_verdict_event(verdict, now) for verdict in store.verdicts.history(lesson.id)[:LATELY]]
        questions = {item.id: item.question for item in lesson.recall}
        for answer in store.recall.answers(lesson.id)[:LATELY]:
            if answer.grade is None or answer.due_on is None:
                outcome = "answered, not graded"
            else:
                outcome = f"{answer.grade}, again {due_words(answer.due_on, now)}"
            events.append(
                Event(
                    f"recall: {questions.get(answer.item, answer.item)}",
                    outcome,
                    answer.answered_at,
                    day_words(answer.answered_at, now),
                )
            )
    events.sort(key=lambda event: event.when, reverse=True)
    return HomePicture(tuple(standing_of(lesson, store) for lesson in lessons), tuple(events[:LATELY]))


def run_label(run: Run) -> str:
    return f"{run.task}{' warm-up' if run.warmup else ''}"


def run_outcome(run: Run) -> str:
    """What came out. It begins with what was served, so that no number of the practice checkpoint stands alone."""
    served = "practice" if run.practice else run.checkpoint
    if not run.valid:
        return f"{served} · not valid: {run.invalid_reason or 'no reason kept'}"
    return (
        f"{served} · {format_rate(run.speed.end_to_end_tps)} end to end · "
        f"{'passed' if run.check.passed else 'not passed'}"
    )


def _verdict_event(verdict: Verdict, now: datetime) -> Event:
    count = len(verdict.runs)
    cited = f"cites {count} run{'' if count == 1 else 's'}" if count else "cites no run"
    return Event("verdict", cited, verdict.saved_at, day_words(verdict.saved_at, now))


def _run_event(run: Run, now: datetime) -> Event:
    when = datetime.fromisoformat(run.started_at)
    return Event(run_label(run), run_outcome(run), when, day_words(when, now))
