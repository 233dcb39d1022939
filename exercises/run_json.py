"""A run as JSON: what `run --json`, `show --json`, the store and an evidence bundle hold, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from exercises.errors import ExerciseError
from exercises.memory_floor import floor_to_json
from exercises.records import Check, Chunk, CounterWindow, Fact, NotMeasurable, Run, Timeline
from exercises.speed import DEFINITIONS, speed_from_json, speed_of, speed_to_json

FORMAT_VERSION = 1


def run_to_json(run: Run) -> dict[str, Any]:
    """The run in the shape of the command line's JSON; a value that is not measurable is null, with its reason.

    chunks: [seconds since the request was sent, tokens or null]. chunk_characters: the length of each chunk's text.
    doubt: why the speed is hard to believe, null where nothing speaks against it (exercises/memory_floor.py).
    """
    counters = run.timeline.counters
    not_measurable = isinstance(counters, NotMeasurable)
    return {
        "format_version": FORMAT_VERSION,
        "id": run.id,
        "task": run.task,
        "task_set": run.task_set,
        "checkpoint": run.checkpoint,
        "practice": run.practice,
        "started_at": run.started_at,
        "warmup": run.warmup,
        "trial": run.trial,
        "valid": run.valid,
        "invalid_reason": run.invalid_reason,
        "speed": speed_to_json(run.speed),
        "check": {"passed": run.check.passed, "facts": [asdict(fact) for fact in run.check.facts]},
        "output": run.output,
        "reasoning": run.reasoning,
        "chunks": [[chunk.at_s, chunk.tokens] for chunk in run.timeline.chunks],
        "chunk_characters": [chunk.characters for chunk in run.timeline.chunks],
        "prompt_tokens": run.timeline.prompt_tokens,
        "completion_tokens": run.timeline.completion_tokens,
        "counters": None if not_measurable else asdict(counters),
        "counters_reason": counters.reason if isinstance(counters, NotMeasurable) else None,
        **floor_to_json(run),
        "evidence": dict(run.evidence),
        "definitions": dict(DEFINITIONS),
    }


def without_raw(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same run without its raw stream: for lists of runs, where it would bury everything else."""
    evidence = {key: value for key, value in document["evidence"].items() if key != "raw"}
    return {**document, "evidence": evidence}


def run_from_json(data: Mapping[str, Any]) -> Run:
    """The run that run_to_json wrote. Raises ExerciseError (exit 2) for anything else, naming what is wrong."""
    if not isinstance(data, Mapping):
        raise _no_run("it is no JSON object")
    version = data.get("format_version", FORMAT_VERSION)
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise _no_run(f"it has format_version {version!r}, this program reads {FORMAT_VERSION}")
    try:
        return Run(
            id=_text(data, "id"),
            task=_text(data, "task"),
            task_set=_text(data, "task_set"),
            checkpoint=_text(data, "checkpoint"),
            practice=_flag(data, "practice"),
            started_at=_text(data, "started_at"),
            warmup=_flag(data, "warmup"),
            trial=data["trial"],
            valid=_flag(data, "valid"),
            invalid_reason=data["invalid_reason"],
            timeline=_timeline(data),
            speed=speed_from_json(data["speed"]),
            check=Check(
                data["check"]["passed"],
                tuple(Fact(fact["name"], fact["passed"], fact["detail"]) for fact in data["check"]["facts"]),
            ),
            output=_text(data, "output"),
            reasoning=_text(data, "reasoning"),
            evidence=dict(data["evidence"]),
        )
    except KeyError as missing:
        raise _no_run(f"the key {missing} is missing") from None
    except (TypeError, ValueError, AttributeError, OverflowError) as fault:
        raise _no_run(str(fault)) from None


def recompute(run: Run) -> Run:
    """The run with its speed computed again from the chunks and counters that are kept with it."""
    return replace(run, speed=speed_of(run.timeline))


def _timeline(data: Mapping[str, Any]) -> Timeline:
    characters = data["chunk_characters"]
    if len(characters) != len(data["chunks"]):
        raise ValueError("chunks and chunk_characters differ in length")
    chunks = tuple(
        Chunk(_seconds(at_s), _tokens(tokens), int(length))
        for (at_s, tokens), length in zip(data["chunks"], characters, strict=True)
    )
    counters: CounterWindow | NotMeasurable
    if data["counters"] is None:
        counters = NotMeasurable(_text(data, "counters_reason"))
    else:
        counters = CounterWindow(**{name: float(value) for name, value in data["counters"].items()})
    return Timeline(chunks, _tokens(data["prompt_tokens"]), _tokens(data["completion_tokens"]), counters)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a chunk arrives at {value!r}, which is no number of seconds")
    return float(value)


def _tokens(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"{value!r} is no number of tokens")
    return value


def _text(data: Mapping[str, Any], key: str) -> str:
    if not isinstance(data[key], str):
        raise TypeError(f"{key} must be a text, not {data[key]!r}")
    return str(data[key])


def _flag(data: Mapping[str, Any], key: str) -> bool:
    if not isinstance(data[key], bool):
        raise TypeError(f"{key} must be true or false, not {data[key]!r}")
    return bool(data[key])


def _no_run(cause: str) -> ExerciseError:
    return ExerciseError(
        "This is not a run", cause, "Give the JSON that `labtui show RUN --json` or an export wrote.", exit_code=2
    )
