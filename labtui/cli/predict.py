"""predict: write a number down first, then see what a server shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, USAGE, LabError

if TYPE_CHECKING:
    from labtui.predicting import Predicted
    from lessons.model import Lesson, Prediction


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="LESSON", required=False)
@click.argument("prediction_id", metavar="[ID]", required=False)
@click.argument("words", metavar="[NUMBER AND WHY]", nargs=-1)
@click.option("--recorded", is_flag=True, help="Check by what was recorded, where no server of yours has shown it.")
@json_option
@pass_session
def predict(
    session: Session,
    lesson_id: str | None,
    prediction_id: str | None,
    words: tuple[str, ...],
    recorded: bool,
    as_json: bool,
) -> int:
    """Predict a number of a lesson, then check it by your own server's log.

    Without ID: the predictions of the lesson and how they stand. With a number it is kept, and stays once it was
    checked. It is checked by the newest launch or run of yours that fits, and before that tells nothing.
    """
    lesson = session.lesson(lesson_id)
    if prediction_id is None:
        _list(session, lesson, as_json)
        return DONE
    prediction = _find(lesson, prediction_id)
    from labtui.predicting import check
    from labtui.predicting import predict as keep

    if words:
        keep(lesson, prediction, " ".join(words), session.store)
        session.say("Your prediction is kept.")
    predicted, seen = check(lesson, prediction, session.store)
    if predicted is not None and (seen is None or not seen.own):
        _write_down_the_server(session)
        predicted, _ = check(lesson, prediction, session.store, recorded=recorded)
    if as_json:
        session.emit(_as_data(lesson, prediction, predicted))
        return DONE
    from labtui.cli.conversation import body_lines, say, say_lines

    say(prediction.title)
    say()
    say_lines(body_lines(prediction.body))
    if predicted is None:
        say(f"  labtui predict {lesson.id} {prediction.id} NUMBER keeps your prediction.")
    else:
        say_lines(checked_lines(lesson, prediction, predicted))
    return DONE


def checked_lines(lesson: Lesson, prediction: Prediction, predicted: Predicted) -> Iterator[str]:
    """What was predicted and, once it is known, what is true and how it comes about."""
    from labtui.cli.conversation import body_lines
    from labtui.predicting import exercise_of, prediction_text
    from labtui.terminal_text import visible

    exercise = exercise_of(lesson, prediction)
    for line in prediction_text(exercise, predicted).splitlines():
        yield f"  {visible(line)}"
    yield ""
    if predicted.seen is None:
        if exercise.check:
            yield f"  Check it with: {exercise.check}"
        if exercise.recorded is not None:
            yield f"  Without a server: labtui predict {lesson.id} {prediction.id} --recorded"
    elif prediction.worked:
        yield "  How it comes about:"
        yield from body_lines(prediction.worked)


def _list(session: Session, lesson: Lesson, as_json: bool) -> None:
    from labtui.cli.conversation import say
    from labtui.predicting import check_all, exercise_of, outcome_words

    made = check_all(lesson, session.store)
    if any(one.seen is None for one in made.values()):
        _write_down_the_server(session)
        made = check_all(lesson, session.store)
    if as_json:
        session.emit([_as_data(lesson, one, made.get(one.id)) for one in lesson.predictions])
        return
    if not lesson.predictions:
        say(f"{lesson.id} has nothing to predict.")
    for one in lesson.predictions:
        predicted = made.get(one.id)
        state = "not predicted yet" if predicted is None else outcome_words(exercise_of(lesson, one), predicted)
        say(f"{one.id}: {one.title} ({state})")


def _write_down_the_server(session: Session) -> None:
    """A launch that nobody waited for is not in the store yet."""
    from labtui.cli.serve_start import record

    supervisor = session.supervisor()
    record(session, supervisor, supervisor.status())


def _find(lesson: Lesson, prediction_id: str) -> Prediction:
    for one in lesson.predictions:
        if one.id == prediction_id:
            return one
    from difflib import get_close_matches

    ids = [one.id for one in lesson.predictions]
    near = get_close_matches(prediction_id, ids, n=1, cutoff=0.4)
    raise LabError(
        f"{lesson.id} has no prediction {prediction_id!r}",
        f"it has {', '.join(ids)}" if ids else "it has nothing to predict",
        f"Is {near[0]!r} meant?" if near else "Name a lesson first, then one of its predictions.",
        USAGE,
    )


def _as_data(lesson: Lesson, prediction: Prediction, predicted: Predicted | None) -> dict[str, Any]:
    from labtui.predicting import exercise_of, judged

    exercise = exercise_of(lesson, prediction)
    found = None if predicted is None else judged(exercise, predicted)
    seen = None if predicted is None else predicted.seen
    return {
        "lesson": lesson.id,
        "id": prediction.id,
        "title": prediction.title,
        "unit": exercise.unit,
        "predicted": None if predicted is None else predicted.value,
        "words": None if predicted is None else predicted.words,
        "seen": None if seen is None else {"value": seen.value, "where": seen.where, "own": seen.own},
        "percent_off": None if found is None else found.percent_off,
        "right": None if found is None else found.right,
        "check": exercise.check or None,
    }
