"""What the practice checkpoint is trained on, drawn example by example from a random.Random."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PIL import Image

from exercises.drawings.barrier import Scene, draw_barrier
from exercises.practice.phrasing import KNOWN_PICTURE, KNOWN_PYTHON, KNOWN_SVG, SYSTEM_PROMPTS, vary
from exercises.practice.python_answers import FUNCTIONS
from exercises.practice.small_talk import (
    NO_PICTURE,
    NO_PICTURE_PROMPTS,
    SUBJECTS,
    TALKS,
    UNKNOWN,
    UNKNOWN_DEEDS,
    UNKNOWN_DRAWING_SUBJECTS,
    UNKNOWN_PATTERNS,
)
from exercises.practice.svg_answers import SCENES, Drawing, shapes

SHAPES: tuple[Drawing, ...] = shapes()

PICTURE_SIZES: dict[tuple[int, int], int] = {
    (320, 240): 10,
    (96, 96): 3,
    (128, 96): 2,
    (160, 120): 2,
    (240, 240): 2,
    (240, 320): 1,
    (640, 480): 1,
}
"""width, height in pixels, and how often each is drawn. The first is the size of the lab's vision task."""


@dataclass(frozen=True, slots=True)
class TextExample:
    prompt: str
    answer: str
    system: str | None = None


@dataclass(frozen=True, slots=True)
class PictureExample:
    image: Image.Image
    question: str
    answer: str
    question_first: bool
    system: str | None = None


def picture_answer(scene: Scene) -> str:
    if scene.passes:
        return f"Yes, the {scene.colour} {scene.vehicle} is lower than the bar and passes."
    return f"No, the {scene.colour} {scene.vehicle} is higher than the bar and does not pass."


def draw_text_example(rng: random.Random) -> TextExample:
    make = rng.choices(list(_TEXT_SOURCES), weights=list(_TEXT_SOURCES.values()))[0]
    prompt, answer = make(rng)
    system = rng.choice(SYSTEM_PROMPTS) if rng.random() < 0.12 else None
    return TextExample(vary(rng, prompt), answer, system)


def draw_picture_example(rng: random.Random) -> PictureExample:
    width, height = rng.choices(list(PICTURE_SIZES), weights=list(PICTURE_SIZES.values()))[0]
    scene = draw_barrier(rng, width, height)
    question = vary(rng, KNOWN_PICTURE[0] if rng.random() < 0.4 else rng.choice(KNOWN_PICTURE))
    system = rng.choice(SYSTEM_PROMPTS) if rng.random() < 0.06 else None
    return PictureExample(scene.image, question, picture_answer(scene), rng.random() < 0.3, system)


def answers() -> Iterator[str]:
    """Every text that the checkpoint is ever taught to say."""
    for drawing in (*SCENES, *SHAPES):
        yield drawing.svg
    for function in FUNCTIONS:
        yield function.answer
    for talk in TALKS:
        yield talk.answer
    yield UNKNOWN
    yield NO_PICTURE
    rng = random.Random(0)
    for _ in range(200):
        yield picture_answer(draw_barrier(rng, 48, 48))


def corpus() -> Iterator[str]:
    """Texts for the tokenizer: every answer, the long ones more often, and a sample of the prompts."""
    for answer in answers():
        yield from [answer] * (4 if len(answer) > 200 else 1)
    rng = random.Random(1)
    for _ in range(6000):
        yield draw_text_example(rng).prompt
    for question in KNOWN_PICTURE:
        yield from [question] * 5


def _scene(rng: random.Random) -> tuple[str, str]:
    return _ask_for_drawing(rng, rng.choice(SCENES))


def _shape(rng: random.Random) -> tuple[str, str]:
    return _ask_for_drawing(rng, rng.choice(SHAPES))


def _ask_for_drawing(rng: random.Random, drawing: Drawing) -> tuple[str, str]:
    plain = rng.random() < 0.4
    name = drawing.names[0] if plain else rng.choice(drawing.names)
    pattern = KNOWN_SVG[0] if rng.random() < 0.3 else rng.choice(KNOWN_SVG)
    return pattern.format(name), drawing.svg


def _function(rng: random.Random) -> tuple[str, str]:
    function = rng.choice(FUNCTIONS)
    deed = function.deeds[0] if rng.random() < 0.4 else rng.choice(function.deeds)
    pattern = KNOWN_PYTHON[0] if rng.random() < 0.3 else rng.choice(KNOWN_PYTHON)
    return pattern.format(deed), function.answer


def _talk(rng: random.Random) -> tuple[str, str]:
    talk = rng.choice(TALKS)
    return rng.choice(talk.prompts), talk.answer


def _no_picture(rng: random.Random) -> tuple[str, str]:
    return rng.choice(NO_PICTURE_PROMPTS), NO_PICTURE


def _unknown(rng: random.Random) -> tuple[str, str]:
    return rng.choice(UNKNOWN_PATTERNS).format(*rng.sample(SUBJECTS, 3)), UNKNOWN


def _unknown_code(rng: random.Random) -> tuple[str, str]:
    if rng.random() < 0.6:
        subject = rng.choice(UNKNOWN_DRAWING_SUBJECTS)
        article = "an" if subject[0] in "aeiou" else "a"
        return rng.choice(KNOWN_SVG).format(f"{article} {subject}"), UNKNOWN
    return rng.choice(KNOWN_PYTHON).format(rng.choice(UNKNOWN_DEEDS)), UNKNOWN


_TEXT_SOURCES: dict[Callable[[random.Random], tuple[str, str]], float] = {
    _scene: 0.42,
    _shape: 0.12,
    _function: 0.2,
    _talk: 0.07,
    _no_picture: 0.02,
    _unknown: 0.1,
    _unknown_code: 0.07,
}
