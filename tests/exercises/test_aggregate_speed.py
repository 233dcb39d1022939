from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from exercises.aggregate_speed import TimedStream, aggregate_speed, aggregate_to_json
from exercises.records import Chunk, CounterWindow, NotMeasurable, Timeline

NO_COUNTERS = NotMeasurable("not read")


def stream(sent_s: float, *arrivals: float, tokens: int = 100) -> TimedStream:
    chunks = tuple(Chunk(at_s, tokens, 10) for at_s in arrivals)
    return TimedStream(sent_s, Timeline(chunks, 5, tokens * len(arrivals)))


def test_two_streams_by_hand():
    """100 tokens from 10.0 to 11.0 and 200 from 10.5 to 12.5: 300 in 2.5 s."""
    speed = aggregate_speed([stream(10.0, 1.0), stream(10.5, 1.0, 2.0)], CounterWindow(10, 2560, 320, 300))
    assert (speed.completion_tokens, speed.wall_s, speed.aggregate_tps) == (300, 2.5, 120.0)
    assert speed.per_stream_tps == (100.0, 100.0)
    assert speed.steps_per_canvas == 7.0


def test_one_stream_is_its_own_end_to_end_rate():
    speed = aggregate_speed([stream(3.0, 0.5, 1.25)], NO_COUNTERS)
    assert speed.aggregate_tps == 160.0


def test_streams_one_after_the_other_are_not_added_up():
    """Each has 100 tok/s, but never two at once."""
    assert aggregate_speed([stream(0.0, 1.0), stream(1.0, 1.0)], NO_COUNTERS).aggregate_tps == 100.0


def test_one_stream_without_a_rate_leaves_none_for_all():
    silent = TimedStream(0.0, Timeline((Chunk(1.0, None, 5),), None, None))
    speed = aggregate_speed([stream(0.0, 1.0), silent], NO_COUNTERS)
    assert isinstance(speed.aggregate_tps, NotMeasurable) and speed.aggregate_tps.reason.startswith("stream 2: ")
    data = aggregate_to_json(speed)
    assert data["aggregate_tps"] is None and data["aggregate_tps_reason"]
    assert data["per_stream_tps"] == [100.0, None]


def test_an_unknown_start_and_no_stream_are_not_measurable():
    assert isinstance(aggregate_speed([stream(math.nan, 1.0)], NO_COUNTERS).aggregate_tps, NotMeasurable)
    assert isinstance(aggregate_speed([], NO_COUNTERS).aggregate_tps, NotMeasurable)


CHUNKS = st.lists(
    st.builds(Chunk, st.floats(), st.one_of(st.none(), st.integers(-5, 10**9)), st.just(1)), max_size=3
).map(tuple)
TIMELINES = st.builds(Timeline, CHUNKS, st.none(), st.one_of(st.none(), st.integers(-5, 10**12)))


@given(st.lists(st.builds(TimedStream, st.floats(), TIMELINES), max_size=4))
def test_every_rate_is_positive_and_finite_or_not_measurable(streams):
    speed = aggregate_speed(streams, NO_COUNTERS)
    for value in (speed.aggregate_tps, speed.wall_s, *speed.per_stream_tps):
        assert isinstance(value, NotMeasurable) or (value > 0 and math.isfinite(value))
