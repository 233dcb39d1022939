"""A short clip as single pictures: one thing moves in one of four directions before a background that stands still."""

from __future__ import annotations

import random
from dataclasses import dataclass

from PIL import Image, ImageDraw

DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
COLOURS = {
    "red": (200, 40, 40),
    "blue": (40, 80, 200),
    "green": (30, 140, 60),
    "orange": (230, 130, 20),
    "purple": (130, 50, 160),
}
SHAPES = ("ball", "box", "triangle")
SMALLEST = 96


@dataclass(frozen=True, slots=True)
class Clip:
    """direction: a key of DIRECTIONS, as the viewer sees it."""

    frames: tuple[Image.Image, ...]
    direction: str
    shape: str
    colour: str

    def describe(self) -> str:
        article = "an" if self.colour[0] in "aeiou" else "a"
        return f"{article} {self.colour} {self.shape} that moves {self.direction}"


def draw_clip(rng: random.Random, width: int, height: int, frames: int) -> Clip:
    """The thing crosses between a third and two thirds of the picture, and is whole in every frame.

    Raises ValueError for fewer than two frames or pictures below SMALLEST pixels a side.
    """
    if frames < 2 or min(width, height) < SMALLEST:
        raise ValueError(f"a clip needs two frames of {SMALLEST} pixels a side at least")
    direction = rng.choice(list(DIRECTIONS))
    shape, colour = rng.choice(SHAPES), rng.choice(list(COLOURS))
    dx, dy = DIRECTIONS[direction]
    radius = min(width, height) * rng.uniform(0.07, 0.11)
    path = rng.uniform(1 / 3, 0.6)
    # Across its way the thing stands anywhere; along it, so that the whole way lies within the picture.
    x = _start(rng, width, radius, dx * path * width)
    y = _start(rng, height, radius, dy * path * height)
    scenery = _scenery(rng, width, height)
    pictures = []
    for number in range(frames):
        share = number / (frames - 1)
        picture = scenery.copy()
        centre = (x + dx * path * width * share, y + dy * path * height * share)
        _draw_thing(ImageDraw.Draw(picture), shape, centre, radius, COLOURS[colour])
        pictures.append(picture)
    return Clip(tuple(pictures), direction, shape, colour)


def _start(rng: random.Random, side: int, radius: float, way: float) -> float:
    low, high = radius + 2 + max(0.0, -way), side - radius - 2 - max(0.0, way)
    return rng.uniform(low, high)


def _scenery(rng: random.Random, width: int, height: int) -> Image.Image:
    light = rng.randrange(200, 245)
    picture = Image.new("RGB", (width, height), (light, light, rng.randrange(200, 250)))
    draw = ImageDraw.Draw(picture)
    for _ in range(rng.randrange(3, 7)):
        grey = rng.randrange(120, 190)
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        draw.rectangle((x, y, x + rng.uniform(0.05, 0.25) * width, y + rng.uniform(0.03, 0.15) * height), (grey,) * 3)
    return picture


def _draw_thing(
    draw: ImageDraw.ImageDraw, shape: str, centre: tuple[float, float], r: float, fill: tuple[int, int, int]
) -> None:
    x, y = centre
    box = (x - r, y - r, x + r, y + r)
    outline, width = (20, 20, 20), max(1, round(r / 10))
    if shape == "ball":
        draw.ellipse(box, fill, outline, width)
    elif shape == "box":
        draw.rectangle(box, fill, outline, width)
    else:
        draw.polygon([(x, y - r), (x + r, y + r), (x - r, y + r)], fill, outline, width)
