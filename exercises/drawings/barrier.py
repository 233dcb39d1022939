"""A vehicle at a height barrier: does it pass? Drawn, so the right answer is known and never a matter of taste.

The vehicle is seen from the front and stands right behind the bar, on the line of the two posts, so its roof can be
compared with the lower edge of the bar without thinking about perspective. The roof is always at least MARGIN of the
picture's shorter side above or below that edge.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from PIL import Image, ImageDraw

from exercises.drawings.scenery import draw_scenery
from exercises.drawings.vehicles import KINDS, Paint, draw_vehicle
from exercises.drawings.warning_bar import draw_bar, draw_post, draw_sign

MARGIN = 0.08
"""Least distance between roof and lower edge of the bar, as a share of the picture's shorter side."""

COLOURS: dict[str, Paint] = {
    "red": (205, 38, 42),
    "blue": (38, 84, 190),
    "green": (36, 140, 72),
    "yellow": (240, 196, 38),
    "white": (240, 240, 236),
    "black": (46, 46, 52),
}

_LEAST_SIZE = 48
_WIDEST_VEHICLE = 0.6
_CLEARANCE = (0.27, 0.58)
_WIDEST_GAP = 0.2


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture with what is true about it.

    passes: the vehicle is lower than the bar. Heights are in metres, in the scale of the picture; the sign, where
    there is one, shows clearance_m.
    """

    image: Image.Image
    passes: bool
    vehicle: str
    colour: str
    vehicle_height_m: float
    clearance_m: float
    has_sign: bool

    def describe(self) -> str:
        return (
            f"a {self.colour} {self.vehicle}, {self.vehicle_height_m:.1f} m high, "
            f"at a barrier that lets {self.clearance_m:.1f} m through"
        )


def draw_barrier(rng: random.Random, width: int, height: int) -> Scene:
    """Draw a scene of width × height pixels (48 or more each); the same rng state draws the same scene.

    Passing and not passing are equally likely, and neither follows from the kind of vehicle, the height of the vehicle
    or the height of the bar alone.
    """
    if min(width, height) < _LEAST_SIZE:
        raise ValueError(f"a barrier scene needs {_LEAST_SIZE} pixels each way, not {width}x{height}")
    scale = 3 if height < 160 else 2
    image = Image.new("RGB", (width * scale, height * scale))
    draw = ImageDraw.Draw(image)
    full_width, full_height = image.size
    unit = min(image.size)

    passes = rng.random() < 0.5
    ground = full_height * rng.uniform(0.82, 0.9)
    clearance = unit * rng.uniform(*_CLEARANCE)
    widest_gap = min(unit * _WIDEST_GAP, clearance / 3) if passes else unit * _WIDEST_GAP
    gap = rng.uniform(unit * MARGIN, widest_gap)
    roof = clearance - gap if passes else clearance + gap
    kind = rng.choice([name for name, k in KINDS.items() if roof / k.slimness <= _WIDEST_VEHICLE * full_width])
    colour = rng.choice(list(COLOURS))
    vehicle_width = min(roof / KINDS[kind].slimness * rng.uniform(0.93, 1.06), _WIDEST_VEHICLE * full_width)

    draw_scenery(draw, rng, full_width, full_height, ground)

    post_width = unit * rng.uniform(0.03, 0.045)
    free = full_width - vehicle_width - 2 * post_width
    left_post = rng.uniform(0.02 * full_width, 0.45 * free)
    right_post = full_width - post_width - rng.uniform(0.02 * full_width, 0.45 * free)
    room = right_post - left_post - post_width - vehicle_width
    vehicle_left = left_post + post_width + room * rng.uniform(0.15, 0.85)
    draw_vehicle(draw, rng, kind, COLOURS[colour], (vehicle_left, ground - roof, vehicle_left + vehicle_width, ground))

    thickness = unit * rng.uniform(0.045, 0.06)
    edge = ground - clearance
    foot = ground + 0.015 * unit
    for x in (left_post, right_post):
        draw_post(draw, (x, edge - thickness * 1.6, x + post_width, foot))
    draw_bar(draw, rng, (left_post - post_width * 0.5, edge - thickness, right_post + post_width * 1.5, edge))

    metres = rng.uniform(*KINDS[kind].height_m)
    clearance_m = metres * clearance / roof
    has_sign = rng.random() < 0.6
    if has_sign:
        radius = unit * 0.075
        x = rng.uniform(left_post + post_width + radius, right_post - radius)
        draw_sign(draw, (x, max(radius * 1.05, edge - thickness - radius)), radius, f"{clearance_m:.1f} m")

    return Scene(image.reduce(scale), passes, kind, colour, metres, clearance_m, has_sign)
