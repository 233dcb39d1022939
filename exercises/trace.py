"""Speed from what was recorded before: the events of a stream with their times, or runs kept as JSON.

A recorded stream is text, one event a line, the time in seconds since the request was sent:

    # HTTP 200
    # request: {"model": "...", "messages": [...], "max_tokens": 64, "stream": true}
    [  0.514] data: {"choices": [...], "usage": {...}}
    [  0.514] data: [DONE]

Times may also stand as in (0.514, 'data: ...'). What was received may stand as raw bytes, [  0.514] b'data: {"ch', cut
wherever the network cut it. A line without data: is a body that was not streamed. JSON may be a run, an export with
several runs, or timelines: objects with "chunks" ([[seconds, tokens], ...]) and "completion_tokens".
"""

from __future__ import annotations

import ast
import contextlib
import json
import math
import re
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from exercises.errors import ExerciseError
from exercises.records import Check, Chunk, Fact, NotMeasurable, Run, Timeline
from exercises.run_json import recompute, run_from_json
from exercises.speed import speed_of
from exercises.sse import SseDecoder
from exercises.stream import StreamReader
from exercises.validity import why_invalid

LARGEST_TRACE = 256 * 1024 * 1024
PRACTICE_MODELS = frozenset({"practice", "tiny-diffusiongemma"})
"""Names under which the practice checkpoint is served: a number from it never appears without its label."""

_BRACKETED = re.compile(r"\[\s*(?P<at>[^\]\s]+)\s*\]\s?(?P<rest>.*)")
_NOT_CHECKED = Check(False, (Fact("was checked", False, "a recorded stream has no task to check it against"),))


def read_trace(path: Path) -> Run:
    """The one run in a file. Raises ExerciseError (exit 2) as read_traces does, and where the file holds several."""
    runs = read_traces(path)
    if len(runs) > 1:
        raise ExerciseError(
            "This file holds more than one run",
            f"{path} holds {len(runs)}: {', '.join(run.id for run in runs[:8])}{' ...' if len(runs) > 8 else ''}",
            "Use read_traces, or a file with one of them.",
            exit_code=2,
        )
    return runs[0]


def read_traces(path: Path) -> tuple[Run, ...]:
    """All runs in a file, their speeds computed from what was recorded and not copied.

    Raises ExerciseError (exit 2) where the file cannot be read or understood; it names the line.
    """
    text = _read(path)
    if text.lstrip()[:1] in ("{", "[") and not _BRACKETED.match(text.lstrip()):
        return _from_json(text, path)
    return (_from_stream(text, path),)


def _read(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _unreadable(path, f"it is {'a directory' if path.is_dir() else 'a device or a pipe'}, not a file")
        with path.open("rb") as file:
            content = file.read(LARGEST_TRACE + 1)
        if len(content) > LARGEST_TRACE:
            raise _unreadable(path, f"it is larger than {LARGEST_TRACE // 2**20} MiB")
        return content.decode("utf-8")
    except OSError as fault:
        raise _unreadable(path, fault.strerror or str(fault)) from None
    except UnicodeDecodeError as fault:
        raise _unreadable(path, f"it is not UTF-8 (byte {fault.start})") from None


def _from_stream(text: str, path: Path) -> Run:
    reader, decoder = StreamReader(), SseDecoder()
    status: int | None = None
    request: dict[str, Any] = {}
    body: str | None = None
    created: float | None = None
    events = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line:
            continue
        if line.startswith("#"):
            status, request = _comment(line, status, request)
            continue
        at_s, rest = _timed(line, path, number)
        if rest[:2] in ("b'", 'b"'):
            payloads, streamed = decoder.feed(_received(rest, path, number)), True
        else:
            name, colon, value = rest.partition(":")
            if colon and name in ("", "event", "id", "retry"):
                continue
            streamed = colon == ":" and name == "data"
            payloads = [value.strip() if streamed else rest]
        for payload in payloads:
            if payload != "[DONE]":
                event = _object(payload, path, number)
                created = event["created"] if isinstance(event.get("created"), int | float) else created
                body = body if streamed else payload
            try:
                reader.feed(payload, at_s)
            except ExerciseError as fault:
                raise _unreadable(path, f"line {number}: {fault.cause}") from None
            events += 1
    if not events:
        raise _unreadable(path, "there is no event in it; lines look like [  0.514] data: {...}")
    outcome = reader.outcome()
    error = outcome.error
    if status is not None and status >= 400:
        error = f"the server refused the request (HTTP {status}): {error}"
    model = str(outcome.server.get("model") or request.get("model") or "unknown")
    evidence: dict[str, Any] = {
        "trace": path.name,
        "request": _without_pictures(request),
        "http_status": status,
        "streamed": body is None,
        "model": model,
        "max_tokens": request.get("max_tokens"),
        "server": dict(outcome.server),
        "finish_reason": outcome.finish_reason,
        "ended": outcome.ended,
        "error": error,
    }
    return _run(
        path.stem,
        model,
        _moment(created),
        outcome.timeline,
        outcome.text,
        outcome.reasoning,
        why_invalid(outcome.text, outcome.reasoning, outcome.ended, error),
        evidence,
    )


def _comment(line: str, status: int | None, request: dict[str, Any]) -> tuple[int | None, dict[str, Any]]:
    """What a comment says beyond words. A request that was cut short in the recording tells nothing."""
    if match := re.fullmatch(r"#\s*HTTP\s+(\d{3})\b.*", line):
        return int(match[1]), request
    if match := re.fullmatch(r"#\s*request:\s*(\{.*)", line):
        with contextlib.suppress(ValueError, RecursionError):
            return status, json.loads(match[1])
    return status, request


def _timed(line: str, path: Path, number: int) -> tuple[float, str]:
    """The time and the rest of a line."""
    at: Any = None
    rest: Any = ""
    if match := _BRACKETED.match(line):
        at, rest = match["at"], match["rest"].strip()
    elif line.startswith("("):
        try:
            at, rest = ast.literal_eval(line)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            at = None
    try:
        at_s = float(at)
    except (TypeError, ValueError, OverflowError):
        raise _unreadable(path, f"line {number} is not of the form [seconds] data: {{...}}: {line[:60]!r}") from None
    if not math.isfinite(at_s) or at_s < 0:
        raise _unreadable(path, f"line {number}: {at_s} is no time in seconds")
    return at_s, str(rest).strip()


def _received(literal: str, path: Path, number: int) -> bytes:
    try:
        received = ast.literal_eval(literal)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        received = None
    if not isinstance(received, bytes):
        raise _unreadable(path, f"line {number} holds no bytes as Python writes them: {literal[:60]!r}")
    return received


def _object(text: str, path: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise _unreadable(path, f"line {number} holds no JSON: {fault}") from None
    if not isinstance(value, dict):
        raise _unreadable(path, f"line {number} holds JSON that is no object")
    return value


def _from_json(text: str, path: Path) -> tuple[Run, ...]:
    try:
        document = json.loads(text)
    except ValueError as fault:
        raise _unreadable(path, f"it is no JSON: {fault}") from None
    except RecursionError:
        raise _unreadable(path, "its JSON is nested too deeply") from None
    runs: list[Run] = []
    for place, found, siblings in _runs_in(document, ""):
        if "chunk_characters" in found:
            run = recompute(run_from_json(found))
            _check_raw(run, path)
            runs.append(run)
        else:
            runs.append(_from_timeline(found, path, place, siblings))
    if not runs:
        raise _unreadable(path, "it is JSON without a run or a timeline in it")
    return tuple(runs)


def _runs_in(value: Any, place: str, siblings: int = 1, depth: int = 0) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Every object that has chunks, with its place in the document and the number of runs in its list."""
    if depth > 8:
        return
    if isinstance(value, dict):
        if isinstance(value.get("chunks"), list) and "completion_tokens" in value:
            yield place, value, siblings
            return
        for key, item in value.items():
            yield from _runs_in(item, f"{place}/{key}" if place else str(key), 1, depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _runs_in(item, f"{place}/{number}" if place else str(number), len(value), depth + 1)


def _check_raw(run: Run, path: Path) -> None:
    """Raises ExerciseError (exit 1) where a run's chunks are not what its own raw stream gives."""
    raw = run.evidence.get("raw")
    if not isinstance(raw, dict) or not isinstance(raw.get("lines"), list) or raw.get("cut"):
        return
    reader = StreamReader()
    for number, line in enumerate(raw["lines"], 1):
        at_s, rest = _timed(str(line), path, number)
        reader.feed(rest.removeprefix("data:").strip(), at_s)
    again = reader.outcome().timeline
    kept = run.timeline
    if [(chunk.at_s, chunk.tokens) for chunk in again.chunks] != [(chunk.at_s, chunk.tokens) for chunk in kept.chunks]:
        what = "its chunks are"
    elif (again.prompt_tokens, again.completion_tokens) != (kept.prompt_tokens, kept.completion_tokens):
        what = "its token counts are"
    else:
        return
    raise ExerciseError(
        "This bundle contradicts itself",
        f"{path}: run {run.id}: {what} not those of the raw stream in it",
        "Somebody changed one of the two: take the bundle from the store again (labtui show RUN --bundle FILE).",
    )


def _from_timeline(found: Mapping[str, Any], path: Path, place: str, siblings: int) -> Run:
    characters = _characters_at(found.get("events"))
    chunks: list[Chunk] = []
    for number, pair in enumerate(found["chunks"], 1):
        if not (isinstance(pair, list) and len(pair) == 2 and _is_seconds(pair[0]) and _is_count(pair[1])):
            raise _unreadable(path, f"{place}: chunk {number} is {pair!r} instead of [seconds, tokens]")
        chunks.append(Chunk(float(pair[0]), pair[1], characters.get(float(pair[0]), 0)))
    prompt, completion = found.get("prompt_tokens"), found.get("completion_tokens")
    if not (_is_count(prompt) and _is_count(completion)):
        raise _unreadable(path, f"{place}: its token counts are no counts")
    counters = NotMeasurable(
        "a timeline has no metrics page of its own"
        if siblings == 1
        else f"the counters of this file span all {siblings} runs of a series"
    )
    timeline = Timeline(tuple(chunks), prompt, completion, counters)
    text = found["text"] if isinstance(found.get("text"), str) else ""
    delivered = max((n for n in (found.get("chars"), sum(characters.values())) if isinstance(n, int)), default=0)
    # Timelines keep only the beginning of a text, or its length.
    reason = None if delivered and not text else why_invalid(text, "", "complete", None)
    finish = found.get("finish")
    evidence = {
        "trace": path.name,
        "place": place,
        "characters": delivered,
        "finish_reason": finish if isinstance(finish, str) else None,
        "ended": "complete",
    }
    name = f"{path.stem}:{place}" if place else path.stem
    return _run(name, "unknown", "", timeline, text, "", reason, evidence)


def _characters_at(events: Any) -> dict[float, int]:
    """Characters by the time of their event; a recording may list an event twice."""
    if not isinstance(events, list):
        return {}
    return {
        float(event[0]): event[2]
        for event in events
        if isinstance(event, list) and len(event) >= 3 and _is_seconds(event[0]) and isinstance(event[2], int)
    }


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_count(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _run(
    run_id: str,
    model: str,
    started_at: str,
    timeline: Timeline,
    text: str,
    reasoning: str,
    reason: str | None,
    evidence: Mapping[str, Any],
) -> Run:
    return Run(
        id=run_id,
        task="recorded",
        task_set="trace",
        checkpoint=model,
        practice=model in PRACTICE_MODELS,
        started_at=started_at,
        valid=reason is None,
        invalid_reason=reason,
        timeline=timeline,
        speed=speed_of(timeline),
        check=_NOT_CHECKED,
        output=text,
        reasoning=reasoning,
        evidence=evidence,
    )


def _moment(created: float | None) -> str:
    try:
        return datetime.fromtimestamp(created, UTC).isoformat() if created is not None else ""
    except (OverflowError, ValueError, OSError):
        return ""


def _without_pictures(value: Any) -> Any:
    if isinstance(value, str):
        return f"{value[:32]}... ({len(value)} characters)" if value.startswith("data:image/") else value
    if isinstance(value, dict):
        return {key: _without_pictures(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_pictures(item) for item in value]
    return value


def _unreadable(path: Path, cause: str) -> ExerciseError:
    return ExerciseError(
        "This recording cannot be read",
        f"{path}: {cause}",
        "Give a recorded stream ([seconds] data: {...} lines) or an evidence bundle (JSON of a run).",
        exit_code=2,
    )
