"""What a task file may name as its drawing, and what each drawing knows about itself."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from exercises.errors import ExerciseError


@dataclass(frozen=True, slots=True)
class Drawn:
    """pngs: the pictures in their order. truth: the right answer: True or False, a word, or a whole text.

    facts: what else is true, JSON-ready.
    """

    pngs: tuple[bytes, ...]
    truth: bool | str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Drawing:
    """draw(rng, width, height, frames). checkers: types that can use its truth. example: a truth as it may be."""

    draw: Callable[[random.Random, int, int, int], Drawn]
    checkers: tuple[str, ...]
    example: bool | str


def draw(name: str, rng: random.Random, width: int, height: int, frames: int) -> Drawn:
    """Raises ExerciseError (exit 2) for a size that the drawing cannot have."""
    try:
        return DRAWINGS[name].draw(rng, width, height, frames)
    except (ValueError, IndexError) as fault:
        raise ExerciseError(
            "The picture cannot be drawn", f"a {name} of {width}x{height} pixels: {fault}", "Choose another size.", 2
        ) from None


def _barrier(rng: random.Random, width: int, height: int, frames: int) -> Drawn:
    from exercises.drawings.barrier import draw_barrier

    scene = draw_barrier(rng, width, height)
    return Drawn(_pngs([scene.image]), scene.passes, {"shows": scene.describe(), "passes": scene.passes})


def _cursive(rng: random.Random, width: int, height: int, frames: int) -> Drawn:
    from exercises.drawings.cursive import draw_page

    page = draw_page(rng, width, height)
    return Drawn(_pngs([page.image]), page.text, {"shows": "a page in cursive", "text": page.text})


def _clip(rng: random.Random, width: int, height: int, frames: int) -> Drawn:
    from exercises.drawings.clip import draw_clip

    clip = draw_clip(rng, width, height, frames)
    return Drawn(
        _pngs(clip.frames), clip.direction, {"shows": clip.describe(), "direction": clip.direction, "frames": frames}
    )


def _pngs(images: Iterable[Image.Image]) -> tuple[bytes, ...]:
    files = []
    for image in images:
        file = io.BytesIO()
        image.save(file, format="PNG")
        files.append(file.getvalue())
    return tuple(files)


DRAWINGS: Mapping[str, Drawing] = {
    "barrier": Drawing(_barrier, ("choice",), True),
    "cursive": Drawing(_cursive, ("transcription",), "dear agnes"),
    "clip": Drawing(_clip, ("one_of",), "left"),
}
