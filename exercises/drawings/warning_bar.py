"""The barrier itself: two posts, a striped bar whose lower edge is drawn hard, and a height sign."""

from __future__ import annotations

import random

from PIL import ImageDraw, ImageFont

from exercises.drawings.vehicles import Box, Paint

_STRIPES: tuple[tuple[Paint, Paint], ...] = (
    ((206, 28, 34), (248, 248, 246)),
    ((28, 28, 30), (250, 204, 30)),
)
_STEEL: Paint = (116, 122, 130)
_STEEL_DARK: Paint = (74, 78, 86)
_EDGE: Paint = (18, 18, 20)
_SIGN_RED: Paint = (196, 22, 32)


def draw_post(draw: ImageDraw.ImageDraw, box: Box) -> None:
    left, top, right, bottom = box
    width = right - left
    draw.rectangle([left, top, right, bottom], fill=_STEEL)
    draw.rectangle([left + 0.65 * width, top, right, bottom], fill=_STEEL_DARK)
    draw.rectangle([left - 0.5 * width, bottom - 0.6 * width, right + 0.5 * width, bottom], fill=_STEEL_DARK)


def draw_bar(draw: ImageDraw.ImageDraw, rng: random.Random, box: Box) -> None:
    """box: the bar with its edge lines; its bottom is the clearance."""
    left, top, right, bottom = box
    thickness = bottom - top
    dark, light = rng.choice(_STRIPES)
    draw.rectangle(box, fill=light)
    slant = thickness * 0.8
    stripe = thickness * rng.uniform(1.1, 1.6)
    x = left - slant
    while x < right:
        ends = [
            (x + slant, top),
            (x + slant + stripe, top),
            (x + stripe, bottom),
            (x, bottom),
        ]
        draw.polygon([(min(max(px, left), right), py) for px, py in ends], fill=dark)
        x += 2 * stripe
    line = max(1.0, thickness * 0.12)
    draw.rectangle([left, top, right, top + line], fill=_EDGE)
    draw.rectangle([left, bottom - line, right, bottom], fill=_EDGE)


def draw_sign(draw: ImageDraw.ImageDraw, centre: tuple[float, float], radius: float, text: str) -> None:
    x, y = centre
    draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=_SIGN_RED)
    inner = radius * 0.8
    draw.ellipse([x - inner, y - inner, x + inner, y + inner], fill=(252, 252, 250))
    draw.text((x, y), text, fill=_EDGE, font=ImageFont.load_default(radius * 0.56), anchor="mm")
