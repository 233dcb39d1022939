from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labtui.serving.stall import LEAST_S, UNKNOWN_S, Progress, Sign, progressed


def after(*signs: Sign) -> Progress:
    progress: Progress | None = None
    for sign in signs:
        progress = progressed(progress, sign)
    assert progress is not None
    return progress


def look(at_s: float, running: float | None = 1, tokens: float | None = 0, **more: float) -> Sign:
    return Sign(at_s, running, tokens, **more)


def test_the_stall_of_two_first_requests_is_seen_with_its_time() -> None:
    """What was seen on an H200: two requests at once, 38 s without a token, then all at once."""
    warm = {"first_canvases": 1.0, "first_seconds": 0.4}
    idle = look(0, 0, 1, **warm)
    looks = [look(second, 2, 1, **warm) for second in range(1, 40)]
    assert after(idle, *looks[:4]).stalled_s() is None
    assert after(idle, *looks).stalled_s() == 38
    assert after(idle, *looks, look(41, 2, 513, **warm)).stalled_s() is None


def test_a_canvas_that_took_long_before_may_take_long_again() -> None:
    slow = {"canvases": 4.0, "canvas_seconds": 40.0}
    assert after(look(0, 1, 5, **slow), look(39, 1, 5, **slow)).stalled_s() is None
    assert after(look(0, 1, 5, **slow), look(41, 1, 5, **slow)).stalled_s() == 41


def test_passes_of_the_model_are_progress() -> None:
    steps = [look(second, 1, 5, forwards=10.0 + second) for second in range(60)]
    assert after(*steps).stalled_s() is None


def test_nothing_runs_or_nothing_is_counted() -> None:
    assert after(look(0, 0, 5), look(100, 0, 5)).stalled_s() is None
    assert after(look(0, None, None), look(100, None, None)).stalled_s() is None
    assert after(look(0, 1, None), look(100, 1, None)).stalled_s() is None


def test_a_request_that_just_came_starts_the_time_anew() -> None:
    assert after(look(0, 1, 5), look(30, 1, 5), look(31, 2, 5)).stalled_s() is None


def test_a_restarted_server_starts_over() -> None:
    assert after(look(0, 1, 900), look(50, 1, 3)).stalled_s() is None


def test_before_any_canvas_was_timed_first_kernels_have_time() -> None:
    assert after(look(0), look(UNKNOWN_S)).stalled_s() is None
    assert after(look(0), look(UNKNOWN_S + 1)).stalled_s() == UNKNOWN_S + 1


@given(st.lists(st.tuples(st.floats(0.1, 20), st.integers(0, 4), st.integers(0, 300)), min_size=1, max_size=30))
def test_it_is_never_said_without_a_quiet_time_of_that_length(moves: list[tuple[float, int, int]]) -> None:
    now, tokens, last_move = 0.0, 0, 0.0
    progress: Progress | None = None
    running_before = 0
    for wait, running, more in moves:
        now += wait
        tokens += more
        if more or running == 0 or running > running_before or progress is None:
            last_move = now
        running_before = running
        progress = progressed(progress, look(now, running, tokens))
        stalled = progress.stalled_s()
        assert stalled is None or (running > 0 and LEAST_S < stalled <= now - last_move + 1e-9)
