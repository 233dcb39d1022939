"""A page of an old letter in cursive, its sentences put together anew for each seed: none can be known by heart."""

from __future__ import annotations

import random
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFilter

from exercises.drawings.handwriting import BLANK, Hand, word_width, write_word

_GREETINGS = ("my dear", "dear", "to my good", "my old friend")
_NAMES = ("agnes", "bernard", "clara", "dorothea", "edmund", "felix", "henrietta", "jakob", "louisa", "quentin")
_CARGO = ("barrels of salt", "bolts of linen", "jars of honey", "boxes of wax", "crates of quills", "sacks of flax")
_SHIPS = ("the heron", "the grey wolf", "the morning star", "the quiet fox", "the lark", "the oak")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_COUNTS = ("three", "five", "seven", "nine", "eleven", "twelve", "fourteen", "twenty")
_WEATHER = ("the frost broke", "the river rose", "the wind turned", "the first snow fell", "the fog cleared")
_WISHES = (
    "keep the ledger dry",
    "lock the gate at dusk",
    "send word by the next coach",
    "give the boy his wages",
    "feed the grey mare",
)
_INKS = ((58, 40, 24), (44, 38, 52), (70, 46, 20), (36, 42, 40))

MARGIN = 0.07
LINE = 3.6
LARGEST_SIZE = 0.030
"""Height of a small letter as a share of the page's width."""

SMALLEST_LETTER = 8.0
"""In pixels; smaller ones cannot be read."""


@dataclass(frozen=True, slots=True)
class Page:
    """text: what is written, with blanks where lines end."""

    image: Image.Image
    text: str


def draw_page(rng: random.Random, width: int, height: int) -> Page:
    """Raises ValueError where the page is too small for its text."""
    text = letter_text(rng)
    hand, lines = _hand_that_fits(rng, text, width, height)
    image = _paper(rng, width, height)
    draw = ImageDraw.Draw(image)
    top = height * MARGIN + 2.2 * hand.size
    for number, line in enumerate(lines):
        x = width * MARGIN + rng.uniform(0, 0.8) * hand.size
        y = top + number * LINE * hand.size + rng.uniform(-0.15, 0.15) * hand.size
        tilt = rng.uniform(-0.006, 0.006)
        for word in line:
            write_word(draw, word, (x, y + (x - width / 2) * tilt), hand, rng)
            x += word_width(word, hand) + BLANK * hand.size
    return Page(image.filter(ImageFilter.GaussianBlur(0.6)), text)


def letter_text(rng: random.Random) -> str:
    name, other = rng.sample(_NAMES, 2)
    first, second = rng.sample(_DAYS, 2)
    spoiled, counted = sorted(rng.sample(range(len(_COUNTS)), 2))
    wish, another = rng.sample(_WISHES, 2)
    return (
        f"{rng.choice(_GREETINGS)} {name}, {rng.choice(_SHIPS)} came in on {first} with {_COUNTS[counted]} "
        f"{rng.choice(_CARGO)}, and {other} counted them before {rng.choice(_WEATHER)}. "
        f"{_COUNTS[spoiled]} are spoiled. we leave on {second}, so {wish} and {another}."
    )


def _hand_that_fits(rng: random.Random, text: str, width: int, height: int) -> tuple[Hand, list[list[str]]]:
    slant, ink = rng.uniform(0.2, 0.5), rng.choice(_INKS)
    nib, angle, shake = rng.uniform(0.16, 0.24), rng.uniform(0.5, 0.9), rng.uniform(0.01, 0.03)
    size = LARGEST_SIZE * width
    while size >= SMALLEST_LETTER:
        hand = Hand(size, slant, max(1.6, nib * size), angle, shake, ink)
        lines = _broken(text, hand, width * (1 - 2 * MARGIN) - 2 * size)
        if (len(lines) * LINE + 1.5) * size <= height * (1 - 2 * MARGIN):
            return hand, lines
        size *= 0.95
    raise ValueError("the page is too small for its text")


def _broken(text: str, hand: Hand, width: float) -> list[list[str]]:
    lines: list[list[str]] = [[]]
    used = 0.0
    for word in text.split():
        wide = word_width(word, hand) + BLANK * hand.size
        if lines[-1] and used + wide > width:
            lines.append([])
            used = 0.0
        lines[-1].append(word)
        used += wide
    return lines


def _paper(rng: random.Random, width: int, height: int) -> Image.Image:
    """Old paper: darker at the edges, with stains."""
    base = rng.choice(((236, 222, 190), (228, 214, 184), (240, 230, 204)))
    image = Image.new("RGB", (width, height), base)
    stains = Image.new("L", (width, height), 0)
    draw = ImageDraw.Draw(stains)
    for _ in range(14):
        x, y, r = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0.02, 0.16) * width
        draw.ellipse((x - r, y - r * 0.7, x + r, y + r * 0.7), fill=rng.randrange(6, 30))
    draw.rectangle((0, 0, width - 1, height - 1), outline=120, width=max(2, width // 60))
    stains = stains.filter(ImageFilter.GaussianBlur(width / 40))
    image.paste((150, 118, 70), mask=stains)
    return image
