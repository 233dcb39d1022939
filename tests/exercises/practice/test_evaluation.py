from __future__ import annotations

import random

from exercises.practice.evaluation import Asked, summarise, unseen_phrasings
from exercises.practice.phrasing import KNOWN_PYTHON, KNOWN_SVG, UNSEEN_PICTURE, UNSEEN_PYTHON, UNSEEN_SVG


def asked(right: bool, steps: float | None, after: float | None = None) -> Asked:
    return Asked("p", right, "a", 1 if after is None else 3, steps, 100.0, after)


def test_a_summary_counts_and_leaves_out_what_could_not_be_measured() -> None:
    result = summarise("g", [asked(True, 2.0), asked(False, None), asked(True, 5.0, 600.0), asked(True, 2.0)])
    assert (result.right, result.asked) == (3, 4)
    assert result.steps_median == 2.0
    assert result.steps_mean == 3.0
    assert result.after_first_canvas_tps_median == 600.0
    assert "3 of 4 right" in result.line()
    assert "not measurable" in summarise("g", [asked(True, None)]).line()


def test_unseen_phrasings_are_not_trained_on() -> None:
    known = {*KNOWN_SVG, *KNOWN_PYTHON}
    assert not known & {*UNSEEN_SVG, *UNSEEN_PYTHON, *UNSEEN_PICTURE}
    starts = tuple(pattern.partition("{")[0] for pattern in (*UNSEEN_SVG, *UNSEEN_PYTHON))
    examples = list(unseen_phrasings(random.Random(1), 50))
    assert all(example.prompt.startswith(starts) for example in examples)
    assert len({example.answer for example in examples}) > 10
