"""Exercises in predicting: a number is written down first, then a server shows it. Sets are TOML files.

    format_version = 1
    id = "kv-cache-line"
    title = "..."

    [[exercise]]
    id = "half-the-length"
    fact = "max_concurrency"           # what is predicted: one of FACTS, as a launch's log or a run tells it
    within_percent = 0.5               # so far off still counts as right; 0 where it is left out
    check = "labtui serve start ..."   # the command by which a person finds out
    launch = { checkpoint = "practice", flags = { "--max-model-len" = "768" } }    # which launch shows it, or
    run = { task = "vision", practice = true }                                    # which run does
    recorded = { value = 75.85, where = "vLLM 0.32 on a CPU, 2026-12-01" }        # where no server can be started

At least one of launch, run and recorded is there. A set stands in exercises/, or beside a lesson as predictions.toml.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from exercises.errors import ExerciseError
from exercises.toml_table import TomlTable

FORMAT_VERSION = 1
PREDICTIONS_FILE = "predictions.toml"
PACKAGE = Path(__file__).parent

LAUNCH_FACTS: Mapping[str, str] = {
    "kv_tokens": "tokens",
    "max_concurrency": "x",
    "weights_gib": "GiB",
    "kv_available_gib": "GiB",
    "activation_gib": "GiB",
    "graphs_gib": "GiB",
}
"""What vLLM's log tells at a start, as labtui/serving/stages.py names it, with its unit."""
RUN_FACTS: Mapping[str, str] = {"prompt_tokens": "tokens", "completion_tokens": "tokens", "canvases": "canvases"}
"""What is known after a run, as Speed of exercises/records.py names it."""
FACTS: Mapping[str, str] = {**LAUNCH_FACTS, **RUN_FACTS}

_NUMBER = re.compile(
    r"\s*(?:about|roughly|around|~|≈|=)?\s*(?P<whole>\d{1,3}(?:[,'’_  ]\d{3})+(?!\d)|\d+)(?P<part>[.,]\d+)?", re.I
)


@dataclass(frozen=True, slots=True)
class ShownByLaunch:
    """checkpoint and flags: what a launch must have to count; a flag's value as it stands in the command."""

    checkpoint: str
    flags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ShownByRun:
    """practice: which runs count, those of the practice checkpoint or those of all others."""

    task: str
    practice: bool


@dataclass(frozen=True, slots=True)
class Recorded:
    value: float
    where: str


@dataclass(frozen=True, slots=True)
class PredictionExercise:
    set_id: str
    id: str
    fact: str
    within_percent: float
    check: str
    launch: ShownByLaunch | None
    run: ShownByRun | None
    recorded: Recorded | None

    @property
    def unit(self) -> str:
        return FACTS[self.fact]


@dataclass(frozen=True, slots=True)
class Judged:
    """percent_off: of what was seen, above it positive; None where zero was seen and something else predicted."""

    percent_off: float | None
    right: bool


def read_number(text: str) -> float | None:
    """The number with which a text begins: "479,349 tokens, since ..." is 479349. None where it begins otherwise.

    A comma before exactly three digits parts thousands, any other is a decimal comma.
    """
    found = _NUMBER.match(text)
    if found is None:
        return None
    whole = re.sub(r"\D", "", found["whole"])
    value = float(whole + (found["part"] or "").replace(",", "."))
    return value if math.isfinite(value) else None


def judge(exercise: PredictionExercise, predicted: float, seen: float) -> Judged:
    if seen == 0:
        return Judged(0.0 if predicted == 0 else None, predicted == 0)
    percent = (predicted - seen) / seen * 100
    shown_alike = number_words(exercise, predicted) == number_words(exercise, seen)
    return Judged(percent, shown_alike or abs(percent) <= exercise.within_percent)


def number_words(exercise: PredictionExercise, value: float) -> str:
    """The value with its unit, as a log writes it: "479,349 tokens", "468.11x", "68.74 GiB"."""
    match exercise.unit:
        case "x":
            return f"{value:,.2f}x"
        case "GiB":
            return f"{value:,.2f} GiB"
        case unit:
            return f"{value:,.0f} {unit}"


def find_exercise(name: str, beside: Path | None = None) -> PredictionExercise:
    """name: "set/exercise". beside: the folder of the lesson, where a set of its own may stand.

    Raises ExerciseError (exit 2) with the nearest name.
    """
    files = [] if beside is None else [beside / PREDICTIONS_FILE]
    files += sorted(PACKAGE.glob(f"*/{PREDICTIONS_FILE}"))
    known = [one for file in files if file.is_file() for one in load_predictions(file)]
    for one in known:
        if f"{one.set_id}/{one.id}" == name:
            return one
    names = [f"{one.set_id}/{one.id}" for one in known]
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    raise ExerciseError(
        f"There is no exercise {name!r}",
        f"the sets of predictions have {', '.join(names)}" if names else "there is no set of predictions",
        f"Is {near[0]!r} meant?" if near else "Name one of these, or put a predictions.toml beside the lesson.",
        exit_code=2,
    )


def load_predictions(file: Path) -> tuple[PredictionExercise, ...]:
    """Raises ExerciseError (exit 2) with the place of the first fault."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        raise ExerciseError("The exercises cannot be read", f"{file}: {fault}", "Save it as UTF-8.", 2) from None
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ExerciseError("The exercises are not TOML", f"{file}: {fault}", "Mend it at that line.", 2) from None
    table = TomlTable(document, str(file))
    version = table.whole("format_version", least=1)
    if version > FORMAT_VERSION:
        raise table.fault(f"format_version {version} is newer than this program reads", "format_version = 1")
    set_id = table.text("id")
    table.text("title")
    found: list[PredictionExercise] = []
    for one in table.tables("exercise"):
        exercise = _read(one, set_id)
        if any(exercise.id == other.id for other in found):
            raise one.fault(f"the id {exercise.id!r} is taken by an exercise above", "another id")
        found.append(exercise)
    table.nothing_else()
    return tuple(found)


def _read(table: TomlTable, set_id: str) -> PredictionExercise:
    exercise_id, fact = table.text("id"), table.text("fact")
    if fact not in FACTS:
        raise table.fault(f"fact = {fact!r}", f"one of {', '.join(FACTS)}")
    exercise = PredictionExercise(
        set_id=set_id,
        id=exercise_id,
        fact=fact,
        within_percent=_number(table, "within_percent", 0.0),
        check=table.text("check", ""),
        launch=_launch(table),
        run=_run(table),
        recorded=_recorded(table),
    )
    table.nothing_else()
    if (exercise.launch and fact not in LAUNCH_FACTS) or (exercise.run and fact not in RUN_FACTS):
        raise table.fault(f"{fact} is not shown by a {'launch' if exercise.launch else 'run'}", "another fact")
    if not (exercise.launch or exercise.run or exercise.recorded):
        raise table.fault("nothing says what was true", "at least one of launch, run and recorded")
    return exercise


def _launch(table: TomlTable) -> ShownByLaunch | None:
    if not table.has("launch"):
        table.table("launch", {})
        return None
    inner = TomlTable(table.table("launch"), f"{table.place}: launch")
    flags = inner.table("flags", {})
    if not all(isinstance(value, str) for value in flags.values()):
        raise inner.fault("a flag's value must be a text", 'flags = { "--max-model-len" = "768" }')
    found = ShownByLaunch(inner.text("checkpoint"), dict(flags))
    inner.nothing_else()
    return found


def _run(table: TomlTable) -> ShownByRun | None:
    if not table.has("run"):
        table.table("run", {})
        return None
    inner = TomlTable(table.table("run"), f"{table.place}: run")
    found = ShownByRun(inner.text("task"), inner.flag("practice", False))
    inner.nothing_else()
    return found


def _recorded(table: TomlTable) -> Recorded | None:
    if not table.has("recorded"):
        table.table("recorded", {})
        return None
    inner = TomlTable(table.table("recorded"), f"{table.place}: recorded")
    found = Recorded(_number(inner, "value"), inner.text("where"))
    inner.nothing_else()
    return found


def _number(table: TomlTable, key: str, default: float | None = None) -> float:
    value = table.value(key) if default is None else table.value(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise table.fault(f"{key} must be a number from 0 on, not {value!r}", f"{key} = 1")
    return float(value)
