from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from exercises.aggregate_speed import DEFINITIONS
from exercises.sweep_plot import BAR_WIDTH, PRACTICE, QUEUEING_BAR, sweep_svg

SVG = "{http://www.w3.org/2000/svg}"


def document(axis: str, rows: list[tuple[str, float | None, float | None]], practice: bool = False) -> dict[str, Any]:
    return {
        "id": "s-1",
        "axis": axis,
        "checkpoint": "bf16",
        "practice": practice,
        "started_at": "2026-11-30T22:00:00+00:00",
        "definitions": dict(DEFINITIONS),
        "points": [
            {
                "label": label,
                "aggregate_tps": rate,
                "steps_per_canvas": steps,
                "summary": {"values": {"end_to_end_tps": None if rate is None else {"median": rate / 2}}},
            }
            for label, rate, steps in rows
        ],
    }


def drawn(given_document: dict[str, Any]) -> tuple[list[str], list[float]]:
    root = ElementTree.fromstring(sweep_svg(given_document))
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    bars = [float(rect.get("width", 0)) for rect in root.iter(f"{SVG}rect")][1:]
    return texts, bars


def test_kinds_have_bars_in_proportion_and_every_number_written_out():
    texts, bars = drawn(document("kinds", [("prose", 500.0, 12.0), ("code", 1000.0, 6.0)]))
    assert bars == [BAR_WIDTH / 2, BAR_WIDTH, BAR_WIDTH, BAR_WIDTH / 2]
    assert {"prose", "code", "500 tok/s", "1,000 tok/s", "12", "6"} <= set(texts)
    assert DEFINITIONS["per_stream_tps"] in " ".join(texts)
    assert PRACTICE not in texts


def test_requests_at_once_have_all_together_and_each():
    texts, bars = drawn(document("concurrency", [("1", 400.0, None), ("4", 800.0, None)]))
    assert bars == [BAR_WIDTH / 2, BAR_WIDTH] * 2
    assert {"all requests together", "each request, median", "800 tok/s", "200 tok/s"} <= set(texts)
    assert DEFINITIONS["aggregate_tps"] in " ".join(texts)


def test_practice_is_labelled():
    assert PRACTICE in drawn(document("kinds", [("prose", 1.0, 1.0)], practice=True))[0]


def test_points_that_measure_queueing_say_so_in_words_and_in_another_shade():
    queued = document("concurrency", [("4", 800.0, None), ("8", 800.0, None)]) | {"runs_together": 4}
    for point in queued["points"]:
        point["streams"] = int(point["label"])
    svg = sweep_svg(queued)
    assert "at 8 at once some wait, so that point measures queueing" in " ".join(drawn(queued)[0])
    assert svg.count(QUEUEING_BAR) == 1 and svg.count(">queueing</tspan>") == 1


NUMBER = st.none() | st.floats(1e-6, 1e9)


@given(st.sampled_from(["kinds", "concurrency", "steps"]), st.lists(st.tuples(st.text(), NUMBER, NUMBER), max_size=8))
def test_whatever_was_measured_makes_readable_svg_without_a_bar_for_what_was_not(axis, rows):
    texts, bars = drawn(document(axis, rows))
    each = 2 if axis == "concurrency" else 1
    missing = sum(each * (rate is None) + (steps is None) for _, rate, steps in rows)
    assert texts.count("not measurable") >= missing
    assert len(bars) == (each + 1) * len(rows) - missing
    assert all(0 <= bar <= BAR_WIDTH for bar in bars)
