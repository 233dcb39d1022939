from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exercises.drawings.barrier import COLOURS, draw_barrier
from exercises.drawings.vehicles import KINDS

seeds = st.integers(0, 2**31)
sizes = st.sampled_from([(96, 96), (128, 96), (96, 128), (48, 48), (160, 120)])


@settings(max_examples=25, deadline=None)
@given(seeds, sizes)
def test_truth_is_the_roof_against_the_bar_and_never_close(seed: int, size: tuple[int, int]) -> None:
    scene = draw_barrier(random.Random(seed), *size)
    assert scene.image.size == size
    assert scene.passes == (scene.vehicle_height_m < scene.clearance_m)
    assert abs(scene.vehicle_height_m / scene.clearance_m - 1) > 0.12
    assert scene.vehicle in KINDS
    assert scene.colour in COLOURS
    low, high = KINDS[scene.vehicle].height_m
    assert low <= scene.vehicle_height_m <= high


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_same_seed_same_picture(seed: int) -> None:
    first = draw_barrier(random.Random(seed), 96, 96)
    second = draw_barrier(random.Random(seed), 96, 96)
    assert first.image.tobytes() == second.image.tobytes()
    assert first.describe() == second.describe()


def test_answer_does_not_follow_from_the_kind_of_vehicle() -> None:
    rng = random.Random(5)
    passing: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for _ in range(400):
        scene = draw_barrier(rng, 64, 48)
        passing[scene.vehicle].append(scene.passes)
    for kind, seen in passing.items():
        share = sum(seen) / len(seen)
        assert 0.3 < share < 0.8, kind


def test_too_small_a_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="48 pixels"):
        draw_barrier(random.Random(1), 40, 96)


def test_large_pictures_are_drawn_too() -> None:
    scene = draw_barrier(random.Random(3), 640, 480)
    assert scene.image.size == (640, 480)
    assert len(scene.image.getcolors(1 << 20) or []) > 200
