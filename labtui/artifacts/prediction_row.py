"""One prediction of a lesson as the four cells that Markdown and HTML show."""

from __future__ import annotations

from labtui.artifacts.document import PredictedInLesson
from labtui.predicting import outcome_words, seen_words


def prediction_row(one: PredictedInLesson) -> tuple[str, str, str, str]:
    """What was asked, what was predicted, what was seen and where, and how far off it was."""
    predicted, exercise = one.predicted, one.exercise
    if predicted is None:
        return one.prediction.title, "not predicted yet", "", ""
    if exercise is None or predicted.seen is None:
        return one.prediction.title, predicted.words, "not checked yet", ""
    return (
        one.prediction.title,
        predicted.words,
        seen_words(exercise, predicted.seen),
        outcome_words(exercise, predicted),
    )
