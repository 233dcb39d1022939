"""What is behind a scene: sky, a skyline or trees, ground and a road. It says nothing about the answer."""

from __future__ import annotations

import random

from PIL import ImageDraw

from exercises.drawings.vehicles import Paint

_SKIES: tuple[tuple[Paint, Paint], ...] = (
    ((120, 178, 232), (214, 234, 250)),
    ((148, 164, 184), (222, 226, 230)),
    ((246, 178, 122), (254, 230, 196)),
    ((96, 132, 196), (198, 214, 240)),
)
_GROUNDS: tuple[Paint, ...] = ((112, 158, 86), (146, 150, 112), (178, 168, 142), (126, 132, 130))
_ROAD: Paint = (92, 94, 98)


def draw_scenery(draw: ImageDraw.ImageDraw, rng: random.Random, width: int, height: int, ground: float) -> None:
    """ground: the line, in pixels from the top, on which vehicle and posts stand."""
    horizon = ground - height * rng.uniform(0.06, 0.14)
    _sky(draw, rng, width, horizon)
    rng.choice((_houses, _trees, _hills))(draw, rng, width, height, horizon)
    draw.rectangle([0, horizon, width, height], fill=rng.choice(_GROUNDS))
    far, near = rng.uniform(0.2, 0.3), rng.uniform(0.02, 0.1)
    draw.polygon(
        [(far * width, horizon), ((1 - far) * width, horizon), ((1 - near) * width, height), (near * width, height)],
        fill=_ROAD,
    )
    middle, half = width / 2, width * 0.012
    draw.polygon(
        [
            (middle - half, ground),
            (middle + half, ground),
            (middle + 1.8 * half, height),
            (middle - 1.8 * half, height),
        ],
        fill=(226, 226, 220),
    )


def _sky(draw: ImageDraw.ImageDraw, rng: random.Random, width: int, horizon: float) -> None:
    top, low = rng.choice(_SKIES)
    for y in range(int(horizon) + 1):
        share = y / max(1.0, horizon)
        fill = tuple(round(a + (b - a) * share) for a, b in zip(top, low, strict=True))
        draw.line([(0, y), (width, y)], fill=fill)
    for _ in range(rng.randint(0, 3)):
        x, middle, size = rng.uniform(0, width), rng.uniform(0.04, 0.4) * horizon, rng.uniform(0.03, 0.06) * width
        for shift in (-1.1, 0.0, 1.1):
            r = size * (1.0 if shift == 0 else 0.7)
            left, flat = x + shift * size - r, r * 0.6
            draw.ellipse([left, middle - flat, left + 2 * r, middle + flat], fill=(246, 248, 250))


def _houses(draw: ImageDraw.ImageDraw, rng: random.Random, width: int, height: int, horizon: float) -> None:
    x = -0.05 * float(width)
    while x < width:
        wide, tall = rng.uniform(0.1, 0.2) * width, rng.uniform(0.05, 0.22) * height
        tone = rng.randint(150, 190)
        draw.rectangle([x, horizon - tall, x + wide, horizon], fill=(tone, tone - 8, tone - 14))
        x += wide + rng.uniform(0, 0.06) * width


def _trees(draw: ImageDraw.ImageDraw, rng: random.Random, width: int, height: int, horizon: float) -> None:
    for _ in range(rng.randint(4, 9)):
        x, r = rng.uniform(0, width), rng.uniform(0.03, 0.07) * height
        draw.rectangle([x - r * 0.15, horizon - r * 1.2, x + r * 0.15, horizon], fill=(110, 92, 76))
        tone = rng.randint(110, 140)
        draw.ellipse([x - r, horizon - r * 3, x + r, horizon - r], fill=(tone - 24, tone + 18, tone - 30))


def _hills(draw: ImageDraw.ImageDraw, rng: random.Random, width: int, height: int, horizon: float) -> None:
    for _ in range(rng.randint(2, 4)):
        x, wide, tall = rng.uniform(0, width), rng.uniform(0.3, 0.6) * width, rng.uniform(0.06, 0.16) * height
        draw.ellipse([x - wide, horizon - tall, x + wide, horizon + tall], fill=(140, rng.randint(160, 180), 138))
