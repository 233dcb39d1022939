"""Vehicles seen from the front. The box that a vehicle is given is filled to its top, so the box's top is the roof."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from PIL import ImageDraw

Paint: TypeAlias = tuple[int, int, int]
Box: TypeAlias = tuple[float, float, float, float]

_GLASS: Paint = (150, 190, 214)
_GLASS_EDGE: Paint = (52, 62, 74)
_TYRE: Paint = (28, 28, 30)
_LAMP: Paint = (255, 244, 196)
_PLATE: Paint = (250, 250, 250)


@dataclass(frozen=True, slots=True)
class Kind:
    """slimness: height ÷ width of the front. height_m: the range of real heights."""

    slimness: float
    height_m: tuple[float, float]


KINDS: dict[str, Kind] = {
    "car": Kind(slimness=0.8, height_m=(1.4, 1.7)),
    "van": Kind(slimness=1.12, height_m=(1.9, 2.6)),
    "truck": Kind(slimness=1.4, height_m=(3.0, 4.0)),
    "bus": Kind(slimness=1.25, height_m=(2.9, 3.4)),
}


class _Front:
    """Draws in shares of the vehicle's box: (0, 0) is the roof's left end, (1, 1) the ground at the right."""

    def __init__(self, draw: ImageDraw.ImageDraw, box: Box) -> None:
        self.draw = draw
        self.left, self.top, right, bottom = box
        self.width, self.height = right - self.left, bottom - self.top

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.left + x * self.width, self.top + y * self.height

    def block(self, x0: float, y0: float, x1: float, y1: float, fill: Paint, radius: float = 0.0) -> None:
        self.draw.rounded_rectangle([self.at(x0, y0), self.at(x1, y1)], radius=radius * self.width, fill=fill)

    def shape(self, *points: tuple[float, float], fill: Paint) -> None:
        self.draw.polygon([self.at(x, y) for x, y in points], fill=fill)

    def lamp(self, x: float, y: float, size: float) -> None:
        centre_x, centre_y = self.at(x, y)
        r = size * self.width
        self.draw.ellipse([centre_x - r, centre_y - r, centre_x + r, centre_y + r], fill=_LAMP, outline=_GLASS_EDGE)

    def wheels(self, top: float, size: float) -> None:
        self.block(0.05, top, 0.05 + size, 1.0, _TYRE, 0.03)
        self.block(0.95 - size, top, 0.95, 1.0, _TYRE, 0.03)

    def plate(self, y: float) -> None:
        self.block(0.39, y, 0.61, y + 0.05, _PLATE)


def draw_vehicle(draw: ImageDraw.ImageDraw, rng: random.Random, kind: str, paint: Paint, box: Box) -> None:
    """box: left, roof, right, ground in pixels."""
    jittered = _shade(paint, rng.uniform(0.94, 1.04))
    _PAINTERS[kind](_Front(draw, box), rng, jittered)


def _shade(paint: Paint, factor: float) -> Paint:
    red, green, blue = (max(0, min(255, round(channel * factor))) for channel in paint)
    return red, green, blue


def _car(front: _Front, rng: random.Random, paint: Paint) -> None:
    front.wheels(0.72, 0.17)
    front.shape((0.2, 0.0), (0.8, 0.0), (0.93, 0.46), (0.07, 0.46), fill=_shade(paint, 0.9))
    front.shape((0.24, 0.06), (0.76, 0.06), (0.86, 0.42), (0.14, 0.42), fill=_GLASS)
    front.shape((0.3, 0.06), (0.42, 0.06), (0.32, 0.42), (0.17, 0.42), fill=_shade(_GLASS, 1.12))
    front.block(0.0, 0.42, 1.0, 0.86, paint, 0.09)
    front.block(0.0, 0.7, 1.0, 0.86, _shade(paint, 0.8), 0.06)
    front.block(0.3, 0.54, 0.7, 0.68, _GLASS_EDGE, 0.03)
    front.lamp(0.15, 0.58, 0.075)
    front.lamp(0.85, 0.58, 0.075)
    front.plate(0.74)


def _van(front: _Front, rng: random.Random, paint: Paint) -> None:
    front.wheels(0.8, 0.15)
    front.block(0.03, 0.0, 0.97, 0.9, paint, 0.1)
    front.shape((0.13, 0.14), (0.87, 0.14), (0.92, 0.46), (0.08, 0.46), fill=_GLASS_EDGE)
    front.shape((0.16, 0.17), (0.84, 0.17), (0.89, 0.44), (0.11, 0.44), fill=_GLASS)
    front.shape((0.24, 0.17), (0.36, 0.17), (0.28, 0.44), (0.14, 0.44), fill=_shade(_GLASS, 1.12))
    front.block(0.03, 0.74, 0.97, 0.9, _shade(paint, 0.78), 0.05)
    front.block(0.28, 0.56, 0.72, 0.68, _GLASS_EDGE, 0.02)
    front.lamp(0.15, 0.62, 0.07)
    front.lamp(0.85, 0.62, 0.07)
    front.plate(0.78)


def _truck(front: _Front, rng: random.Random, paint: Paint) -> None:
    cargo = rng.choice([(206, 198, 178), (150, 160, 172), (176, 132, 92)])
    front.wheels(0.84, 0.16)
    front.block(0.0, 0.0, 1.0, 0.8, _GLASS_EDGE)
    front.block(0.035, 0.03, 0.965, 0.8, cargo)
    front.block(0.06, 0.3, 0.94, 0.92, paint, 0.05)
    front.block(0.12, 0.36, 0.88, 0.58, _GLASS_EDGE, 0.03)
    front.block(0.14, 0.375, 0.86, 0.565, _GLASS, 0.03)
    front.block(-0.03, 0.38, 0.04, 0.52, _GLASS_EDGE, 0.02)
    front.block(0.96, 0.38, 1.03, 0.52, _GLASS_EDGE, 0.02)
    for y in (0.63, 0.67, 0.71):
        front.block(0.25, y, 0.75, y + 0.02, _GLASS_EDGE)
    front.block(0.03, 0.78, 0.97, 0.92, _shade(paint, 0.75), 0.03)
    front.lamp(0.17, 0.84, 0.06)
    front.lamp(0.83, 0.84, 0.06)
    front.plate(0.82)


def _bus(front: _Front, rng: random.Random, paint: Paint) -> None:
    front.wheels(0.85, 0.14)
    front.block(0.0, 0.0, 1.0, 0.94, paint, 0.06)
    front.block(0.16, 0.04, 0.84, 0.13, (30, 30, 34), 0.02)
    front.block(0.24, 0.065, 0.66, 0.105, (255, 176, 40))
    front.block(0.05, 0.17, 0.95, 0.62, _GLASS_EDGE, 0.04)
    front.block(0.07, 0.185, 0.49, 0.605, _GLASS, 0.03)
    front.block(0.51, 0.185, 0.93, 0.605, _shade(_GLASS, 1.08), 0.03)
    front.block(0.0, 0.8, 1.0, 0.94, _shade(paint, 0.78), 0.04)
    front.block(0.34, 0.68, 0.66, 0.74, _shade(paint, 0.6), 0.02)
    front.lamp(0.14, 0.74, 0.055)
    front.lamp(0.86, 0.74, 0.055)
    front.plate(0.85)


_PAINTERS: dict[str, Callable[[_Front, random.Random, Paint], None]] = {
    "car": _car,
    "van": _van,
    "truck": _truck,
    "bus": _bus,
}
