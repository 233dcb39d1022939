"""The floor under a run's time, on timelines of a real H200 and on ones that cannot have been."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.memory_floor import card_named, cards, doubt_of, floor_s, floor_to_json, memory_floor
from exercises.records import Chunk, CounterWindow, NotMeasurable, Timeline
from exercises.run_json import run_to_json
from exercises.speed import speed_of
from exercises.trace import read_traces

FIXTURES = Path(__file__).parents[1] / "fixtures/vllm-cuda-0.26"
RUN = read_traces(FIXTURES / "timelines-fp8.json")[0]
H200 = "NVIDIA H200, 139.8 GiB, driver 580.159.04"


def of(seconds: float, passes: float | None = 68.0, **evidence):
    counters = NotMeasurable("not read") if passes is None else CounterWindow(passes, passes * 256, 1024, 1024)
    timeline = Timeline((Chunk(seconds / 2, 512, 10), Chunk(seconds, 512, 10)), 96, 1024, counters)
    known = {"hardware": [H200], "weights_gib": 25.8, **evidence}
    return replace(RUN, timeline=timeline, speed=speed_of(timeline), evidence=known)


def test_the_floor_by_hand():
    # 68 passes over 25.8 GiB: 68 * 25.8 * 1.073741824 / 4800 s
    assert memory_floor(of(1.0)).least_s == pytest.approx(0.39245, rel=1e-3)
    assert floor_s(1, 25.8, 4800) * 1000 == pytest.approx(5.771, rel=1e-3)


def test_real_runs_are_above_the_floor_and_no_doubt_is_raised():
    for run in read_traces(FIXTURES / "timelines-fp8.json"):
        # The cap was 16 steps and the text random: every canvas took them all, and its commit pass.
        canvases = run.speed.canvases
        counters = CounterWindow(17 * canvases, 17 * 256 * canvases, 256 * canvases, 256 * canvases)
        known = {"hardware": [H200], "weights_gib": 25.8}
        run = replace(run, timeline=replace(run.timeline, counters=counters), evidence=known)
        assert doubt_of(run) is None
        assert memory_floor(run).least_s < run.speed.wall_s


def test_a_speed_that_the_memory_cannot_feed_is_doubted_with_its_sum():
    run = of(0.2)
    doubt = doubt_of(run)
    assert doubt.startswith("68 passes over 25.8 GiB of weights take 0.392 s of the memory of H200 (4,800 GB/s each)")
    assert "the run took 0.2 s" in doubt
    assert run_to_json(run)["doubt"] == doubt


def test_cards_that_share_the_weights_read_at_once():
    run = of(0.2, command=["vllm", "serve", "m", "--tensor-parallel-size", "2"])
    assert memory_floor(run).least_s == pytest.approx(0.39245 / 2, rel=1e-3)
    assert doubt_of(run) is None
    assert memory_floor(of(0.2, command=["--tensor-parallel-size=4"])).cards == 4


def test_without_counters_a_diffusion_model_takes_two_passes_a_canvas_at_least():
    floor = memory_floor(of(1.0, passes=None, diffusion=True))
    assert (floor.passes, floor.counted) == (4, False)
    assert doubt_of(of(0.01, passes=None, diffusion=True)).startswith("at least 4 passes")


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (of(0.01, weights_gib=None), "size of the weights"),
        (of(0.01, hardware=["CPU, 2 cores, 16 GiB of memory"]), "CPU, 2 cores"),
        (of(0.01, hardware=[]), "the hardware"),
        (of(0.01, passes=None), "how many passes"),
        (of(0.01, passes=None, diffusion=False), "how many passes"),
    ],
)
def test_what_is_not_known_raises_no_doubt_and_says_so(run, reason):
    data = floor_to_json(run)
    assert (data["doubt"], data["memory_floor_s"]) == (None, None)
    assert reason in data["memory_floor_reason"]


@pytest.mark.parametrize(
    ("name", "gb_per_s"),
    [
        ("NVIDIA H100 80GB HBM3, 79.2 GiB, driver 580", 3350),
        ("NVIDIA H100 NVL, 93 GiB", 3900),
        ("NVIDIA H100 PCIe", 2000),
        ("NVIDIA A100-SXM4-80GB", 2039),
        ("NVIDIA GeForce RTX 3090 Ti", 1008),
        ("NVIDIA L40S", 864),
        ("NVIDIA L4", 300),
        ("NVIDIA GB10", 273),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 1792),
    ],
)
def test_a_card_is_known_by_the_drivers_name(name, gb_per_s):
    assert card_named(name).gb_per_s == gb_per_s


def test_an_unknown_card_is_none_and_every_known_one_has_its_source():
    assert card_named("NVIDIA Tesla T4") is None
    assert all(card.source and card.gb_per_s > 100 for card in cards())


@given(st.floats(0, 1e9), st.one_of(st.none(), st.floats()), st.floats())
def test_no_timeline_makes_it_raise(seconds, passes, weights):
    run = of(seconds, passes, weights_gib=weights, diffusion=True)
    floor_to_json(run)
