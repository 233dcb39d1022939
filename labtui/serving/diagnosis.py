"""From the text of a vLLM log to named causes and their fixes. Pure: the catalogue is failures.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from labtui.serving.log_tail import without_codes
from labtui.serving.stages import PREFIX

CATALOGUE = Path(__file__).with_name("failures.toml")
FORMAT_VERSION = 1

Kind = Literal["cause", "request", "warning", "wrapper"]
Phase = Literal["loading", "starting", "serving"]

_KIND_ORDER: Mapping[str, int] = {"cause": 0, "request": 2, "warning": 3, "wrapper": 4}
_INNER_ORDER = 1
_DEFAULT_RANK = 50
_LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Cause:
    """line: the number of the line that shows it, from 1; text: that line, cut.

    change: settings of a plan that would help, to be offered and never applied unasked. other_changes: what else would,
    each on its own.
    kind: "request" is about one request while the server lives; "warning" is no fault.
    """

    id: str
    title: str
    cause: str
    fix: str
    line: int
    text: str = ""
    kind: Kind = "cause"
    change: Mapping[str, str] = field(default_factory=dict)
    other_changes: tuple[Mapping[str, str], ...] = ()

    @property
    def fatal(self) -> bool:
        return self.kind in ("cause", "wrapper")

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "cause": self.cause,
            "fix": self.fix,
            "line": self.line,
            "text": self.text,
            "kind": self.kind,
            "change": dict(self.change),
            "other_changes": [dict(one) for one in self.other_changes],
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """One entry of the catalogue; failures.toml says what its parts mean."""

    id: str
    title: str
    cause: str
    fix: str
    source: str
    patterns: tuple[re.Pattern[str], ...]
    near: tuple[re.Pattern[str], ...] = ()
    not_patterns: tuple[re.Pattern[str], ...] = ()
    absent: tuple[re.Pattern[str], ...] = ()
    phase: tuple[str, ...] = ()
    kind: Kind = "cause"
    rank: int = _DEFAULT_RANK
    change: Mapping[str, str] = field(default_factory=dict)
    other_changes: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line as the patterns see it: without codes, with the process that wrote it and the phase of the start."""

    number: int
    text: str
    message: str
    process: str | None
    phase: Phase


@cache
def failures() -> tuple[Failure, ...]:
    data = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    if data["format_version"] != FORMAT_VERSION:
        raise ValueError(f"{CATALOGUE}: format_version {data['format_version']}")
    return tuple(_failure(entry) for entry in data["failure"])


def diagnose(text: str) -> list[Cause]:
    """Causes that the log shows, best first; empty when nothing matched.

    A cause in the catalogue comes first; then an error that only vLLM's own words ("see root cause above") point to;
    then refused requests and warnings. Those words alone count only where nothing else explains the end.
    """
    lines = list(read_lines(text))
    found: list[tuple[tuple[int, int, int], Cause]] = []
    for failure in failures():
        match = _match(failure, lines)
        if match is not None:
            line, groups = match
            cause = _cause(failure, line, groups)
            found.append(((_KIND_ORDER[failure.kind], failure.rank, line.number), cause))
    explained = {cause.line for _, cause in found if cause.kind == "cause"}
    inner = _inner_error(lines, died=any(cause.kind == "wrapper" for _, cause in found))
    if inner is not None and inner.number not in explained and not _repeats(inner, found, lines):
        found.append(((_INNER_ORDER, 0, inner.number), _unnamed(inner)))
    if any(cause.kind == "cause" for _, cause in found):
        found = [(order, cause) for order, cause in found if cause.kind != "wrapper"]
    return [cause for _, cause in sorted(found, key=lambda entry: entry[0])]


def read_lines(text: str) -> Iterator[LogLine]:
    """What docker or journald wrote before vLLM's own words is taken off."""
    phase: Phase = "loading"
    for number, raw in enumerate(text.split("\n"), start=1):
        line = _FOREIGN_PREFIX.sub("", without_codes(raw.replace("\r", " ")), count=1).rstrip()
        told = PREFIX.match(line)
        message = line[told.end() :] if told is not None else line
        process = told.group("process") if told is not None else None
        if "non-default args:" in message:
            phase = "loading"
        elif "Model loading took" in message and phase == "loading":
            phase = "starting"
        elif "Application startup complete" in message:
            phase = "serving"
        yield LogLine(number, line, message, process, phase)


_FOREIGN_PREFIX = re.compile(
    r"^(?:[\w.-]+ +\| "  # docker compose
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) (?:\S+ \S+\[\d+\]: )?"  # docker logs -t, journalctl -o short-iso
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+\[\d+\]: )"  # journalctl
)


def _match(failure: Failure, lines: Sequence[LogLine]) -> tuple[LogLine, dict[str, str]] | None:
    """The first line that shows it: later ones repeat the same error on its way out."""
    for pattern in failure.patterns:
        for line in lines:
            if failure.phase and line.phase not in failure.phase:
                continue
            match = pattern.search(line.text)
            if match is None or any(other.search(line.text) for other in failure.not_patterns):
                continue
            if not all(_anywhere(one, lines) for one in failure.near):
                return None
            if any(_anywhere(one, lines) for one in failure.absent):
                return None
            return line, {name: value for name, value in match.groupdict().items() if value is not None}
    return None


def _anywhere(pattern: re.Pattern[str], lines: Sequence[LogLine]) -> bool:
    return any(pattern.search(line.text) for line in lines)


def _cause(failure: Failure, line: LogLine, groups: Mapping[str, str]) -> Cause:
    def filled(text: str) -> str:
        return re.sub(r"\{([a-z_]+)\}", lambda match: groups.get(match.group(1), "an unknown value"), text)

    def settings(change: Mapping[str, str]) -> dict[str, str]:
        return {name: filled(value) for name, value in change.items()}

    return Cause(
        id=failure.id,
        title=filled(failure.title),
        cause=filled(failure.cause),
        fix=filled(failure.fix),
        line=line.number,
        text=_cut(line.message.strip()),
        kind=failure.kind,
        change=settings(failure.change),
        other_changes=tuple(settings(one) for one in failure.other_changes),
    )


# --- the error that the catalogue does not know

_EXCEPTION = re.compile(r"^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Exit|Failure)\b(?::.*)?$")
_TRACEBACK = "Traceback (most recent call last):"
_WRAPPERS = re.compile(
    r"Engine core initialization failed|EngineDeadError|EngineCore encountered|EngineCore failed|"
    r"WorkerProc initialization failed|Worker failed with error|^(?:\S+\.)?(?:CancelledError|SystemExit)\b"
)
_DEPTH = {"Worker": 0, "EngineCore": 1}


def _inner_error(lines: Sequence[LogLine], *, died: bool) -> LogLine | None:
    """The first error of the deepest process: what vLLM's "see root cause above" points to.

    None in the log of a server that lives: there a traceback belongs to one request.
    """
    errors = [line for line in _errors(lines) if not _WRAPPERS.search(line.message)]
    if not died:
        errors = [line for line in errors if line.phase != "serving"]
    if not errors:
        return None
    return min(errors, key=lambda line: (_depth(line.process), -_phase_order(line.phase) if died else 0, line.number))


def _errors(lines: Iterable[LogLine]) -> Iterator[LogLine]:
    """The last line of every traceback. Processes write at the same time, so each is followed on its own."""
    open_tracebacks: set[str | None] = set()
    for line in lines:
        if _TRACEBACK in line.message:
            open_tracebacks.add(line.process)
        elif line.process in open_tracebacks and line.message and not line.message[0].isspace():
            if _EXCEPTION.match(line.message):
                yield line
            if not line.message.startswith(("During handling", "The above exception")):
                open_tracebacks.discard(line.process)


def _depth(process: str | None) -> int:
    name = (process or "").partition("_")[0]
    return _DEPTH.get(name, 2)


def _phase_order(phase: Phase) -> int:
    return ("loading", "starting", "serving").index(phase)


def _repeats(inner: LogLine, found: Sequence[tuple[Any, Cause]], lines: Sequence[LogLine]) -> bool:
    """The same words were explained on another line already: an error is printed on its way out, process by process."""
    known = {lines[cause.line - 1].message.strip() for _, cause in found if cause.kind == "cause"}
    return inner.message.strip() in known


def _unnamed(line: LogLine) -> Cause:
    name, _, words = line.message.strip().partition(": ")
    where = {0: "a worker", 1: "the engine"}.get(_depth(line.process), "the server")
    return Cause(
        id="unnamed-error",
        title=f"{where[:1].upper()}{where[1:]} ended with {name.rpartition('.')[2]}",
        cause=_cut(words) or "It gave no reason.",
        fix="This error is not in labtui's catalogue. Read the log there; its traceback names the place in vLLM.",
        line=line.number,
        text=_cut(line.message.strip()),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def _failure(entry: dict[str, Any]) -> Failure:
    values = dict(entry)
    for name in ("patterns", "near", "not_patterns", "absent"):
        values[name] = tuple(re.compile(pattern) for pattern in values.get(name, ()))
    for name in ("phase", "other_changes"):
        values[name] = tuple(values.get(name, ()))
    return Failure(**values)
