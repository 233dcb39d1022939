"""Joined handwriting with a broad nib: our own letters as paths of the pen, so that no font is needed or shipped.

Coordinates of a letter: x to the right, y upwards, the baseline at 0, small letters 1 high, ascenders 2, descenders -1.
The path of a letter goes on into the next one; extra strokes (dots and bars) are drawn after the word.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import pairwise

from PIL import ImageDraw

Point = tuple[float, float]
Path = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Letter:
    width: float
    path: Path
    extra: tuple[Path, ...] = ()


_BOWL: Path = ((0.75, 0.88), (0.42, 1.0), (0.1, 0.6), (0.15, 0.1), (0.45, 0.0), (0.72, 0.45))
_LOOP: Path = ((0.15, 0.3), (0.4, 1.4), (0.42, 2.0), (0.24, 1.9), (0.18, 1.0))

LETTERS: dict[str, Letter] = {
    "a": Letter(1.1, (*_BOWL, (0.8, 0.95), (0.78, 0.4), (0.86, 0.04), (1.1, 0.25))),
    "b": Letter(0.95, (*_LOOP, (0.15, 0.15), (0.42, 0.0), (0.72, 0.4), (0.55, 0.85), (0.95, 0.8))),
    "c": Letter(0.85, ((0.68, 0.8), (0.48, 1.0), (0.15, 0.75), (0.1, 0.25), (0.4, 0.0), (0.85, 0.25))),
    "d": Letter(1.1, (*_BOWL, (0.85, 1.95), (0.79, 1.0), (0.82, 0.05), (1.1, 0.25))),
    "e": Letter(
        0.8, ((0.1, 0.35), (0.45, 0.6), (0.52, 0.92), (0.3, 1.0), (0.1, 0.55), (0.25, 0.05), (0.48, 0.0), (0.8, 0.25))
    ),
    "f": Letter(
        0.8,
        (
            *((0.2, 0.3), (0.48, 1.4), (0.52, 2.0), (0.34, 1.9), (0.28, 0.8), (0.24, -0.6)),
            *((0.34, -1.0), (0.46, -0.6), (0.36, 0.05), (0.8, 0.25)),
        ),
    ),
    "g": Letter(
        1.1,
        (
            *(*_BOWL, (0.8, 0.95), (0.76, 0.0), (0.62, -0.85), (0.35, -1.0), (0.25, -0.7)),
            *((0.7, -0.15), (1.1, 0.25)),
        ),
    ),
    "h": Letter(
        1.05, (*_LOOP, (0.15, 0.0), (0.26, 0.6), (0.52, 1.0), (0.7, 0.8), (0.69, 0.2), (0.8, 0.0), (1.05, 0.25))
    ),
    "i": Letter(0.6, ((0.22, 0.92), (0.18, 0.3), (0.3, 0.0), (0.6, 0.25)), (((0.3, 1.42), (0.34, 1.46)),)),
    "j": Letter(
        0.65,
        ((0.32, 0.92), (0.29, 0.0), (0.14, -0.85), (-0.1, -1.0), (-0.14, -0.7), (0.3, -0.15), (0.65, 0.25)),
        (((0.4, 1.42), (0.44, 1.46)),),
    ),
    "k": Letter(
        1.0,
        (
            *(*_LOOP, (0.15, 0.0), (0.22, 0.5), (0.5, 0.98), (0.62, 0.78), (0.3, 0.5)),
            *((0.52, 0.35), (0.7, 0.02), (1.0, 0.25)),
        ),
    ),
    "l": Letter(0.65, (*_LOOP, (0.2, 0.12), (0.36, 0.0), (0.65, 0.25))),
    "m": Letter(
        1.4,
        (
            *((0.1, 0.82), (0.19, 0.95), (0.18, 0.0), (0.27, 0.6), (0.5, 1.0), (0.6, 0.8), (0.58, 0.0)),
            *((0.67, 0.6), (0.9, 1.0), (1.02, 0.8), (1.0, 0.2), (1.12, 0.0), (1.4, 0.25)),
        ),
    ),
    "n": Letter(
        1.05,
        (
            *((0.1, 0.82), (0.19, 0.95), (0.18, 0.0), (0.27, 0.6), (0.5, 1.0), (0.66, 0.8)),
            *((0.64, 0.2), (0.75, 0.0), (1.05, 0.25)),
        ),
    ),
    "o": Letter(
        1.0,
        (
            *((0.5, 1.0), (0.16, 0.8), (0.1, 0.25), (0.4, 0.0), (0.73, 0.3), (0.7, 0.82), (0.5, 1.0)),
            *((0.62, 0.82), (1.0, 0.82)),
        ),
    ),
    "p": Letter(
        1.05,
        (
            *((0.12, 0.7), (0.2, 0.95), (0.17, 0.0), (0.13, -0.95), (0.17, -0.3), (0.25, 0.65), (0.52, 1.0)),
            *((0.76, 0.6), (0.58, 0.04), (0.36, 0.06), (0.7, 0.0), (1.05, 0.25)),
        ),
    ),
    "q": Letter(1.15, (*_BOWL, (0.8, 0.95), (0.78, 0.0), (0.76, -0.9), (0.94, -0.75), (0.9, -0.1), (1.15, 0.25))),
    "r": Letter(0.9, ((0.14, 0.72), (0.24, 1.08), (0.34, 0.9), (0.6, 0.9), (0.55, 0.3), (0.66, 0.0), (0.9, 0.25))),
    "s": Letter(
        0.85,
        ((0.15, 0.3), (0.45, 1.05), (0.5, 0.8), (0.64, 0.35), (0.42, 0.0), (0.14, 0.12), (0.5, 0.02), (0.85, 0.25)),
    ),
    "t": Letter(0.7, ((0.15, 0.4), (0.36, 1.6), (0.29, 0.4), (0.4, 0.0), (0.7, 0.25)), (((0.02, 1.12), (0.62, 1.2)),)),
    "u": Letter(
        1.1, ((0.16, 0.95), (0.12, 0.3), (0.3, 0.0), (0.58, 0.4), (0.7, 0.95), (0.68, 0.3), (0.8, 0.0), (1.1, 0.25))
    ),
    "v": Letter(0.95, ((0.1, 0.82), (0.2, 0.95), (0.36, 0.02), (0.62, 0.7), (0.58, 0.98), (0.68, 0.82), (0.95, 0.82))),
    "w": Letter(
        1.35,
        (
            *((0.12, 0.95), (0.14, 0.2), (0.33, 0.0), (0.54, 0.5), (0.58, 0.95), (0.6, 0.2), (0.8, 0.0)),
            *((1.0, 0.5), (0.98, 0.98), (1.08, 0.82), (1.35, 0.82)),
        ),
    ),
    "x": Letter(
        0.9,
        ((0.1, 0.78), (0.25, 1.0), (0.42, 0.5), (0.6, 0.0), (0.9, 0.25)),
        (((0.72, 1.0), (0.4, 0.5), (0.08, 0.0)),),
    ),
    "y": Letter(
        1.1,
        (
            *((0.16, 0.95), (0.12, 0.35), (0.34, 0.04), (0.64, 0.5), (0.72, 0.95), (0.68, 0.0)),
            *((0.54, -0.85), (0.26, -1.0), (0.2, -0.7), (0.66, -0.15), (1.1, 0.25)),
        ),
    ),
    "z": Letter(0.9, ((0.1, 0.82), (0.35, 1.0), (0.65, 0.95), (0.36, 0.48), (0.1, 0.02), (0.5, 0.05), (0.9, 0.25))),
    ",": Letter(0.4, (), (((0.2, 0.1), (0.22, -0.05), (0.1, -0.3)),)),
    ".": Letter(0.4, (), (((0.12, 0.06), (0.24, 0.16), (0.22, 0.0), (0.12, 0.06)),)),
}
"""Every character that can be written, blanks apart."""

BLANK = 0.75
_FINENESS = 6


@dataclass(frozen=True, slots=True)
class Hand:
    """One person's writing. size: height of a small letter, nib: width of the pen, both in pixels. shake: in sizes."""

    size: float
    slant: float
    nib: float
    nib_angle: float
    shake: float
    ink: tuple[int, int, int]


def word_width(word: str, hand: Hand) -> float:
    return sum(LETTERS[character].width for character in word) * hand.size


def write_word(draw: ImageDraw.ImageDraw, word: str, at: Point, hand: Hand, rng: random.Random) -> None:
    """at: where the word begins on the baseline, in pixels of the picture. Raises KeyError for other characters."""
    joined: list[Point] = []
    extras: list[Path] = []
    x = 0.0
    for character in word:
        letter = LETTERS[character]
        lift, stretch = rng.gauss(0, hand.shake), 1 + rng.gauss(0, hand.shake)
        joined += [(x + px * stretch, py + lift) for px, py in letter.path]
        extras += [tuple((x + px, py + lift) for px, py in path) for path in letter.extra]
        x += letter.width
    for path in (tuple(joined), *extras):
        _draw_path(draw, [_on_paper(point, at, hand) for point in _smooth(path)], hand)


def _on_paper(point: Point, at: Point, hand: Hand) -> Point:
    x, y = point
    return at[0] + (x + y * hand.slant) * hand.size, at[1] - y * hand.size


def _smooth(path: Path) -> list[Point]:
    """The path as a Catmull-Rom spline through its points."""
    if len(path) < 3:
        return list(path)
    points = (path[0], *path, path[-1])
    out: list[Point] = []
    for a, b, c, d in zip(points, points[1:], points[2:], points[3:], strict=False):
        for step in range(_FINENESS):
            t = step / _FINENESS
            out.append((_between(a[0], b[0], c[0], d[0], t), _between(a[1], b[1], c[1], d[1], t)))
    return [*out, path[-1]]


def _between(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


def _draw_path(draw: ImageDraw.ImageDraw, points: list[Point], hand: Hand) -> None:
    dx, dy = math.cos(hand.nib_angle) * hand.nib / 2, -math.sin(hand.nib_angle) * hand.nib / 2
    thin = max(1, round(hand.nib / 4))
    for (ax, ay), (bx, by) in pairwise(points):
        corners = [(ax - dx, ay - dy), (ax + dx, ay + dy), (bx + dx, by + dy), (bx - dx, by - dy)]
        draw.polygon(corners, fill=hand.ink)
        draw.line([(ax, ay), (bx, by)], fill=hand.ink, width=thin)
