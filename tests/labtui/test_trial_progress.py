"""A trial under way: its bar, its estimate, and that its numbers are those that the runs have in the end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.records import Chunk, NotMeasurable, Run, Timeline
from exercises.running import ChunkArrived, RunFinished, RunStarted
from exercises.speed import format_rate, speed_of
from exercises.tasks import find_task, task_set_for
from exercises.trace import read_traces
from exercises.trial import summarise
from labtui.cli.run_text import marked_rate, spread_text
from labtui.run_progress import Order, Progress, Repeats, Teller
from labtui.running import RunKept
from labtui.trial_progress import bar_line, head_words, median_line, runs_line, seconds_left, share_done, trial_lines

NOW = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
FIXTURES = Path(__file__).parents[1] / "fixtures"
TASK = find_task("coding", task_set_for("practice", True))
PREPARED = TASK.prepare(1)
FP8 = read_traces(FIXTURES / "vllm-cuda-0.26/timelines-fp8.json")
CASE_A = Timeline((Chunk(0.9, 180, 700),), 12, 180)
CASE_B = Timeline((Chunk(1.0, 256, 900), Chunk(1.5, 256, 880), Chunk(2.0, 188, 610)), 41, 700)


def recorded() -> list[tuple[str, Timeline]]:
    runs = [
        run
        for pattern in ("vllm-cpu-0.32*/streams/*.txt", "vllm-cuda-0.26/*.json", "vllm-cuda-0.26/streams/*.txt")
        for path in sorted(FIXTURES.glob(pattern))
        for run in read_traces(path)
    ]
    return [("case A", CASE_A), ("case B", CASE_B), *((run.id, run.timeline) for run in runs)]


RECORDED = recorded()


def teller(runs: int = 1, warmups: int = 0, usual_s: float | None = None, practice: bool = False) -> Teller:
    told = Teller(Order("coding", Repeats(runs, warmups), 1), lambda: NOW, lambda progress: None)
    told.known(TASK, "fp8", practice, usual_s, warmups)
    return told


def play(told: Teller, timeline: Timeline, number: int = 1, of: int = 1, warmup: bool = False) -> None:
    """The events of a run, as exercises/running.py tells them."""
    told.tell(RunStarted("r", TASK, PREPARED, number, of, warmup))
    tokens, known = 0, True
    for canvas, chunk in enumerate(timeline.chunks, 1):
        known = known and chunk.tokens is not None
        tokens += chunk.tokens or 0
        told.tell(ChunkArrived("r", canvas, chunk, "text ", tokens if known else None))


def finish(told: Teller, run: Run) -> None:
    told.tell(RunFinished(run))
    told.tell(RunKept(run))


def test_there_are_recorded_streams_of_both_vllms():
    assert len(RECORDED) > 50


@pytest.mark.parametrize(("name", "timeline"), RECORDED, ids=[name for name, _ in RECORDED])
def test_with_the_last_canvas_the_live_numbers_are_those_of_the_run(name, timeline):
    told = teller()
    play(told, timeline)
    progress, speed = told.progress, speed_of(timeline)
    assert progress.canvases == speed.canvases
    if progress.tokens is not None and progress.tokens == timeline.completion_tokens and timeline.chunks:
        assert progress.speed_so_far.end_to_end_tps == speed.end_to_end_tps
        words = head_words(progress, NOW)
        assert f"canvas {speed.canvases} · {speed.completion_tokens:,} tokens" in words
        assert f"{format_rate(speed.end_to_end_tps)} so far" in words
    if not timeline.chunks:
        assert isinstance(progress.speed_so_far.end_to_end_tps, NotMeasurable)
        assert "so far" not in head_words(progress, NOW)


def test_tokens_that_are_told_at_the_end_make_no_rate_on_the_way():
    told = teller()
    play(told, Timeline((Chunk(0.5, None, 9), Chunk(0.6, None, 9)), None, 64))
    assert "canvas 2 · tokens are told at the end · " in head_words(told.progress, NOW)


def test_one_run_alone_is_no_trial():
    assert trial_lines(teller().progress, NOW) == ()


def test_warm_ups_are_shown_as_dropped_and_the_median_is_the_one_of_the_trial():
    told = teller(runs=8, warmups=1)
    runs = [replace(run, warmup=n == 0, valid=True) for n, run in enumerate(FP8[:8])]
    for count, run in enumerate(runs, 1):
        play(told, run.timeline)
        finish(told, run)
        counted = runs[1:count]
        if not counted:
            assert median_line(told.progress) == ""
            continue
        spread = summarise(runs[:count]).values["end_to_end_tps"]
        assert median_line(told.progress) == f"end to end so far {spread_text('end_to_end_tps', spread)}"
        assert ("too few runs for an interval" in median_line(told.progress)) == (1 < len(counted) < 6)
        assert ("% interval " in median_line(told.progress)) == (len(counted) >= 6)
    shown = runs_line(told.progress)
    assert shown.startswith("2 earlier · ")
    first = replace(told.progress, kept=tuple(runs[:2]))
    assert runs_line(first) == f"warm-up {marked_rate(runs[0])} dropped · {marked_rate(runs[1])}"


def test_practice_stands_with_the_median():
    told = teller(runs=2, practice=True)
    finish(told, replace(FP8[0], practice=True))
    assert median_line(told.progress).endswith(" · practice")


def test_an_invalid_run_is_shown_and_counts_for_nothing():
    told = teller(runs=3)
    finish(told, replace(FP8[0], valid=False, invalid_reason="the text is empty"))
    assert runs_line(told.progress).endswith("(not valid)")
    assert median_line(told.progress) == ""


def test_the_estimate_is_from_earlier_runs_and_then_from_this_trials_own():
    told = teller(runs=4, usual_s=10.0)
    assert seconds_left(told.progress, NOW) == 40.0
    told.tell(RunStarted("r", TASK, PREPARED, 1, 4))
    assert seconds_left(told.progress, NOW + timedelta(seconds=4)) == 36.0
    assert seconds_left(told.progress, NOW + timedelta(seconds=400)) == 30.0
    timeline = Timeline((Chunk(2.0, 64, 9),), 9, 64)
    finish(told, replace(FP8[0], timeline=timeline, speed=speed_of(timeline)))
    assert seconds_left(told.progress, NOW) == 6.0
    assert bar_line(told.progress, NOW) == "■■■■■■□□□□□□□□□□□□□□□□□□  1 of 4 saved · about 0:06 left"


def test_without_an_earlier_run_there_is_no_estimate():
    told = teller(runs=2)
    told.tell(RunStarted("r", TASK, PREPARED, 1, 2))
    assert "no estimate before the first run" in bar_line(told.progress, NOW)


@given(
    runs=st.integers(1, 99),
    warmups=st.none() | st.integers(0, 9),
    kept=st.integers(0, 12),
    usual=st.none() | st.floats(0.001, 1e6),
    late=st.floats(-1e6, 1e6),
    under_way=st.booleans(),
)
def test_bar_and_estimate_stay_within_their_bounds(runs, warmups, kept, usual, late, under_way):
    progress = Progress(
        Order("coding", Repeats(runs, warmups), 1),
        warmups=warmups,
        usual_s=usual,
        kept=tuple(FP8[:kept]),
        began=NOW,
        under_way=under_way,
    )
    now = NOW + timedelta(seconds=late)
    assert 0 <= share_done(progress, now) <= 1
    left = seconds_left(progress, now)
    assert left is None or left >= 0
    assert head_words(progress, now) and len(trial_lines(progress, now)) <= 3
