from __future__ import annotations

import random

import pytest
from PIL import ImageChops

from exercises.drawings.cursive import draw_page, letter_text
from exercises.drawings.handwriting import LETTERS


def test_every_character_of_every_letter_can_be_written():
    for seed in range(300):
        assert set(letter_text(random.Random(seed))) <= {*LETTERS, " "}


def test_the_same_seed_draws_the_same_page_and_another_one_another():
    one, again, other = (draw_page(random.Random(seed), 640, 480) for seed in (1, 1, 2))
    assert one.text == again.text != other.text
    assert one.image.tobytes() == again.image.tobytes()
    assert ImageChops.difference(one.image, other.image).getbbox() is not None


def test_the_writing_lies_within_the_page():
    page = draw_page(random.Random(5), 960, 720)
    dark = page.image.convert("L").point([255 if level < 90 else 0 for level in range(256)]).getbbox()
    assert dark is not None
    left, top, right, bottom = dark
    assert left > 10 and top > 10 and right < 950 and bottom < 710
    assert right - left > 400 and bottom - top > 200


def test_texts_are_hardly_ever_the_same():
    assert len({letter_text(random.Random(seed)) for seed in range(300)}) == 300


def test_a_page_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="too small"):
        draw_page(random.Random(1), 300, 60)
