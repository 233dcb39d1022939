from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from exercises.drawings.clip import COLOURS, DIRECTIONS, draw_clip


def centre(frame: Image.Image, colour: tuple[int, int, int]) -> tuple[float, float]:
    """Of the pixels that have exactly the thing's colour, which no background has."""
    places = [at for at, pixel in enumerate(frame.get_flattened_data()) if pixel == colour]
    assert places
    xs, ys = [at % frame.width for at in places], [at // frame.width for at in places]
    return sum(xs) / len(xs), sum(ys) / len(ys)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_thing_moves_the_way_that_is_said_and_nothing_else_moves(seed, frames):
    clip = draw_clip(random.Random(seed), 160, 120, frames)
    assert len(clip.frames) == frames
    ways = [centre(frame, COLOURS[clip.colour]) for frame in clip.frames]
    dx, dy = DIRECTIONS[clip.direction]
    for (ax, ay), (bx, by) in pairwise(ways):
        assert (bx - ax) * dx + (by - ay) * dy > 5
        assert abs((bx - ax) * dy) + abs((by - ay) * dx) < 1.5
    changed = ImageChops.difference(clip.frames[0], clip.frames[-1]).getbbox()
    assert changed is not None
    across = changed[3] - changed[1] if dx else changed[2] - changed[0]
    assert across < 40


def test_every_direction_comes_and_none_is_the_usual_one():
    counts = Counter(draw_clip(random.Random(seed), 96, 96, 2).direction for seed in range(200))
    assert set(counts) == set(DIRECTIONS)
    assert max(counts.values()) < 80


@pytest.mark.parametrize(("width", "height", "frames"), [(95, 200, 2), (200, 95, 2), (200, 200, 1)])
def test_what_cannot_be_seen_is_refused(width, height, frames):
    with pytest.raises(ValueError):
        draw_clip(random.Random(1), width, height, frames)
