"""Predictions of a lesson: the number is kept before a server, or a record, tells what is true.

Kept as the note of the step "predict/<id>", in JSON: what was predicted first, what was seen afterwards. Once it was
seen the prediction stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exercises.errors import ExerciseError
from exercises.predictions import Judged, PredictionExercise, find_exercise, judge, number_words, read_number
from labtui.errors import USAGE, LabError
from labtui.serving.flags import own_value, read_own_flags
from lessons.faults import Fault
from lessons.loading import load_or_faults
from lessons.model import Lesson, Prediction
from lessons.reading import read_document
from store.errors import StoreError

if TYPE_CHECKING:
    from store.launches import Launch
    from store.opening import Store

KIND = "prediction"
LAUNCHES_LOOKED_AT = 200
RUNS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Seen:
    """where: which launch, run or record showed it. own: on a server of this person, not in a record."""

    value: float
    where: str
    own: bool


@dataclass(frozen=True, slots=True)
class Predicted:
    """words: what the person wrote, the number at its beginning. seen: None before it was checked."""

    value: float
    words: str
    seen: Seen | None = None


def exercise_of(lesson: Lesson, prediction: Prediction) -> PredictionExercise:
    """Raises ExerciseError (exit 2)."""
    return find_exercise(prediction.exercise, lesson.path.parent)


def step_of(prediction: Prediction) -> str:
    return f"predict/{prediction.id}"


def predicted_in(note: str | None) -> Predicted | None:
    """What a kept note says; None where there is none, or where it is another text."""
    try:
        kept: Any = json.loads(note or "null")
        if not isinstance(kept, Mapping) or kept.get("piece") != KIND:
            return None
        seen = kept.get("seen")
        return Predicted(
            float(kept["predicted"]),
            str(kept["words"]),
            None if seen is None else Seen(float(seen["value"]), str(seen["where"]), bool(seen["own"])),
        )
    except (ValueError, KeyError, TypeError):
        return None


def predict(lesson: Lesson, prediction: Prediction, words: str, store: Store) -> Predicted:
    """Keeps what the person wrote. Raises LabError (exit 2) where no number is at its beginning or it was told."""
    before = predicted_in(_note(lesson, prediction, store))
    if before is not None and before.seen is not None:
        raise LabError(
            "This prediction was checked already",
            f"you predicted {before.words.strip()!r} before you were told",
            "It stays as it is. A note on another card takes what you think of it now.",
            USAGE,
        )
    value = read_number(words)
    if value is None:
        raise LabError(
            "There is no number at the beginning",
            f"{words.strip()[:60]!r} begins otherwise",
            "Write the number first, then how you got it: 321.25, since ...",
            USAGE,
        )
    predicted = Predicted(value, words.strip())
    _keep(lesson, prediction, predicted, store)
    return predicted


def check(
    lesson: Lesson, prediction: Prediction, store: Store, *, recorded: bool = False
) -> tuple[Predicted | None, Seen | None]:
    """What was predicted and what is true; nothing is told before there is a prediction.

    What is found is kept with the prediction. recorded: take the record where no server of one's own has shown it.
    """
    predicted = predicted_in(_note(lesson, prediction, store))
    if predicted is None:
        return None, None
    if predicted.seen is not None and predicted.seen.own:
        return predicted, predicted.seen
    exercise = exercise_of(lesson, prediction)
    seen = shown(exercise, store)
    if seen is None and exercise.recorded is not None and (recorded or not _can_be_shown(exercise)):
        seen = Seen(exercise.recorded.value, exercise.recorded.where, own=False)
    if seen is None or seen == predicted.seen:
        return predicted, predicted.seen
    predicted = replace(predicted, seen=seen)
    with suppress(StoreError):  # a store that can only be read tells all the same
        _keep(lesson, prediction, predicted, store)
    return predicted, seen


def check_all(lesson: Lesson, store: Store) -> dict[str, Predicted]:
    """Every prediction of a lesson that was made, checked where that is possible, by its id. Raises StoreError.

    One whose exercise is not there is not checked.
    """
    found = {}
    for prediction in lesson.predictions:
        try:
            predicted, _ = check(lesson, prediction, store)
        except ExerciseError:
            predicted = predicted_in(_note(lesson, prediction, store))
        if predicted is not None:
            found[prediction.id] = predicted
    return found


def made_predictions(lesson: Lesson, notes: Mapping[str, str]) -> dict[str, Predicted]:
    """As they are kept, by id; nothing is looked up. notes: by the id of the step."""
    found = {one.id: predicted_in(notes.get(step_of(one))) for one in lesson.predictions}
    return {prediction: predicted for prediction, predicted in found.items() if predicted is not None}


def shown(exercise: PredictionExercise, store: Store) -> Seen | None:
    """What the newest fitting launch or run of this store shows. Raises StoreError."""
    if exercise.launch is not None:
        for launch in store.launches.list(LAUNCHES_LOOKED_AT):
            value = launch.memory.get(exercise.fact)
            if isinstance(value, int | float) and _fits(launch, exercise):
                return Seen(float(value), f"your launch of {launch.started_at:%Y-%m-%d %H:%M} UTC", own=True)
    if exercise.run is not None:
        for run in store.runs.list(task=exercise.run.task, limit=RUNS_LOOKED_AT):
            value = getattr(run.speed, exercise.fact)
            if (
                run.valid
                and not run.warmup
                and run.practice == exercise.run.practice
                and isinstance(value, int | float)
            ):
                return Seen(float(value), f"your run {run.id}", own=True)
    return None


def judged(exercise: PredictionExercise, predicted: Predicted) -> Judged | None:
    return None if predicted.seen is None else judge(exercise, predicted.value, predicted.seen.value)


def outcome_words(exercise: PredictionExercise, predicted: Predicted) -> str:
    """One line: "right", or by how much it was off."""
    found = judged(exercise, predicted)
    if found is None:
        return "not checked yet"
    if found.right:
        return "right"
    if found.percent_off is None or predicted.seen is None:
        return "off: there is none at all"
    times = predicted.value / predicted.seen.value
    if times >= 2:
        return f"too high: {times:,.1f} times what was seen"
    return f"{abs(found.percent_off):,.1f}% too {'high' if found.percent_off > 0 else 'low'}"


def seen_words(exercise: PredictionExercise, seen: Seen) -> str:
    return f"{number_words(exercise, seen.value)} ({'' if seen.own else 'recorded, not yours: '}{seen.where})"


def prediction_text(exercise: PredictionExercise, predicted: Predicted) -> str:
    """A kept prediction, to read: what was written, what was seen, how far off."""
    lines = [f"Predicted: {predicted.words}"]
    if predicted.seen is not None:
        lines += [f"Seen: {seen_words(exercise, predicted.seen)}", f"So: {outcome_words(exercise, predicted)}"]
    return "\n".join(lines)


def checked_predictions(lesson: Lesson, notes: Mapping[str, str]) -> frozenset[str]:
    """Ids of those that were made and checked."""
    made = made_predictions(lesson, notes)
    return frozenset(prediction for prediction, predicted in made.items() if predicted.seen is not None)


def exercise_faults(path: Path) -> list[Fault]:
    """Predictions of a lesson file whose exercise is not there. Nothing for a file with other faults."""
    lesson, faults = load_or_faults(path)
    if lesson is None or faults:
        return []
    lines, found = read_document(path).lines, []
    for position, prediction in enumerate(lesson.predictions):
        try:
            exercise_of(lesson, prediction)
        except ExerciseError as error:
            place = lines.of("prediction", position, "exercise")
            found.append(Fault(lesson.path, place, f"{error.title}: {error.cause}. {error.fix}"))
    return found


def _can_be_shown(exercise: PredictionExercise) -> bool:
    return exercise.launch is not None or exercise.run is not None


def _fits(launch: Launch, exercise: PredictionExercise) -> bool:
    wanted = exercise.launch
    if wanted is None or launch.checkpoint != wanted.checkpoint:
        return False
    words = launch.command
    try:
        flags = read_own_flags(words[words.index("serve") + 2 :] if "serve" in words else ())
    except LabError:
        return False
    return all(own_value(flags, name) == value for name, value in wanted.flags.items())


def _note(lesson: Lesson, prediction: Prediction, store: Store) -> str | None:
    note = store.progress.notes(lesson.id).get(step_of(prediction))
    return None if note is None else note.text


def _keep(lesson: Lesson, prediction: Prediction, predicted: Predicted, store: Store) -> None:
    kept: dict[str, Any] = {"piece": KIND, "predicted": predicted.value, "words": predicted.words, "seen": None}
    if (seen := predicted.seen) is not None:
        kept["seen"] = {"value": seen.value, "where": seen.where, "own": seen.own}
    store.progress.save_note(lesson.id, step_of(prediction), json.dumps(kept, ensure_ascii=False))
