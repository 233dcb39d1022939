import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.times import anchor_url, clock, parse_clock


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (34, "0:34"), (255, "4:15"), (59.999, "0:59"), (3600, "1:00:00"), (3723, "1:02:03")],
)
def test_clock(seconds, text):
    assert clock(seconds) == text


@given(st.integers(0, 30_000_000))
def test_a_clock_is_read_back(seconds):
    assert parse_clock(clock(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("0:34", 34), ("75:10", 4510), ("1:02:03", 3723), ("4:15.5", 255.5), (" 4:15 ", 255)]
)
def test_parse_clock(text, seconds):
    assert parse_clock(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "4", "4:5", "4:75", "1:60:00", "-4:15", "٤:١٥", "4:15\n0", "1:2:3:4", "9" * 99 + ":00"]
)
def test_no_time(text):
    with pytest.raises(ValueError, match="is not a time"):
        parse_clock(text)


@given(st.text())
def test_parse_clock_raises_nothing_but_value_errors(text):
    with contextlib.suppress(ValueError):
        assert parse_clock(text) >= 0


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_clock_of_no_time(seconds):
    with pytest.raises(ValueError, match="not a time"):
        clock(seconds)


@pytest.mark.parametrize(
    ("url", "opened"),
    [
        ("https://www.youtube.com/watch?v=hwKZq0_xG5M", "https://www.youtube.com/watch?v=hwKZq0_xG5M&t=255s"),
        ("https://www.youtube.com/watch?v=a&t=9s&list=b", "https://www.youtube.com/watch?v=a&list=b&t=255s"),
        ("https://youtu.be/a", "https://youtu.be/a?t=255s"),
        ("https://youtu.be/a?t=1", "https://youtu.be/a?t=255s"),
        ("https://example.org/talk.webm", "https://example.org/talk.webm#t=255"),
        ("", ""),
        ("https://[broken", "https://[broken"),
    ],
)
def test_anchor_url(url, opened):
    assert anchor_url(url, 255.9) == opened
