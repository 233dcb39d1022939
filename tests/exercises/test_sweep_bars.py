from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from exercises.sweep_bars import bar_lines, plot_lines
from exercises.sweep_panels import Bar, Panel
from tests.exercises.test_sweep_plot import document


def panel(*bars: Bar) -> Panel:
    return Panel("end to end", "per_stream_tps", "What it is.", bars)


def test_bars_are_in_proportion_and_the_numbers_stand_under_each_other():
    lines = list(bar_lines(panel(Bar("prose", 10.0, "10 tok/s"), Bar("code", 5.0, "5 tok/s")), 36))
    assert lines == ["prose  " + "█" * 19 + "  10 tok/s", "code   " + "█" * 9 + "▌" + " " * 9 + "  5 tok/s"]


def test_what_is_measured_is_never_without_a_bar_and_what_is_not_says_why():
    tiny, none = Bar("a", 0.001, "0.001 tok/s"), Bar("b", None, "not measurable", "one canvas came")
    lines = list(bar_lines(panel(Bar("c", 1000.0, "1,000 tok/s"), tiny, none), 60))
    assert "▏" in lines[1]
    assert lines[2] == "b  not measurable: one canvas came"


def test_a_note_stands_beside_where_there_is_room_and_below_where_there_is_none():
    noted = panel(Bar("8", 800.0, "800 tok/s", interval="790 to 811", queues=True))
    assert next(iter(bar_lines(noted, 80))).endswith("800 tok/s  790 to 811 · queueing")
    narrow = list(bar_lines(noted, 34))
    assert len(narrow) == 2 and narrow[1] == "   790 to 811 · queueing"


NUMBER = st.none() | st.floats(1e-6, 1e9)
ROWS = st.lists(st.tuples(st.text(), NUMBER, NUMBER), max_size=8)


@given(st.sampled_from(["kinds", "concurrency", "steps"]), ROWS, st.integers(50, 200))
def test_no_line_is_wider_than_asked_and_every_point_stands_in_every_panel(axis, rows, width):
    lines = list(plot_lines(document(axis, rows), width))
    assert all(len(line) <= width for line in lines)
    panels = 3 if axis == "concurrency" else 2
    assert len(lines) == panels * (len(rows) + 1) + panels - 1
