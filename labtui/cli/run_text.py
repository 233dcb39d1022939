"""A run in words: every number with its definition, practice with its label, a missing value with its reason."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from exercises.memory_floor import doubt_of
from exercises.records import NotMeasurable, Run
from exercises.speed import DEFINITIONS, LABELS, TRIAL_DEFINITIONS, SpeedLine, format_rate, format_value, speed_lines
from exercises.trial import Spread, Trial
from labtui.terminal_text import visible, visible_line

PRACTICE_LABEL = "practice checkpoint: a small stand-in, its numbers say nothing about DiffusionGemma"

CONDITIONS = {
    "prefix cache": "warm: a part of the prompt was found computed already; cold: nothing was, the prefill was done "
    "in full; off: nothing is kept",
    "traffic": "alone: the server's counters grew by this request only; shared: others were answered meanwhile",
    "thinking": "whether the model wrote a reasoning part before its answer",
    "step cap": "the most denoising steps that a canvas may take; a canvas that is settled earlier takes fewer",
    "at once": "how many requests were answered at the same time",
}
"""What each condition of a run means, beside its value."""

SETTINGS = {
    "prompt": "what was asked; a seed chooses it among the prompts of the task",
    "max_tokens": "the most completion tokens that the request allowed",
    "seed": "the number that chose prompt and picture; --seed repeats them",
    "vLLM": "the version that the server said it has",
    "model": "the name that the request carried",
    "revision": "the commit of the weights in their repository",
    "command": "what started the server, without its API key",
    "hardware": "the cards as their driver names them, with their memory",
    "finish": "why the answer ended: stop, the model was done; length, it reached max_tokens",
}
"""What else was kept of a run, in words."""

NOT_CHECKED = "was checked"
"""The only fact about an answer that nothing was asked about."""


def values(run: Run) -> dict[str, SpeedLine]:
    return {line.key: line for line in speed_lines(run.speed)}


def end_to_end(run: Run) -> str:
    return visible_line(format_rate(run.speed.end_to_end_tps))


def marked_rate(run: Run) -> str:
    """For a column: the rate of a run that does not count says so where it stands."""
    return end_to_end(run) if run.valid else f"{end_to_end(run)} (not valid)"


def label_of(run: Run) -> str:
    return f"{run.checkpoint} · practice" if run.practice and run.checkpoint != "practice" else run.checkpoint


def number_lines(run: Run) -> Iterator[str]:
    for line in speed_lines(run.speed):
        yield f"  {line.label:<24}{visible_line(line.value)}"
        yield from _definition(line.key)


def _definition(key: str) -> list[str]:
    return textwrap.wrap(DEFINITIONS[key], 78, initial_indent="      ", subsequent_indent="      ")


def local_time(moment: str) -> str:
    """2026-11-30 22:15:30 on the person's clock, of a time as a run keeps it; a recorded stream may have none."""
    if not moment:
        return "time not recorded"
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M:%S}"


def check_lines(run: Run) -> Iterator[str]:
    if [fact.name for fact in run.check.facts] == [NOT_CHECKED] and not run.check.passed:
        yield f"  not checked: {visible_line(run.check.facts[0].detail)}"
        return
    yield f"  check {'passed' if run.check.passed else 'FAILED'}"
    for fact in run.check.facts:
        detail = f": {visible_line(fact.detail)}" if fact.detail else ""
        yield f"    {'✓' if fact.passed else '✗'} {visible_line(fact.name)}{detail}"


def evidence_lines(run: Run) -> Iterator[str]:
    """What it ran on and with, as far as it is known: what somebody needs to repeat or doubt the numbers."""
    for name, value in conditions_of(run).items():
        if value and not (name == "at once" and value == "1"):
            yield f"  {name:<14}{visible_line(value)}"
            if name in CONDITIONS:
                yield from textwrap.wrap(CONDITIONS[name], 78, initial_indent="      ", subsequent_indent="      ")


def conditions_of(run: Run) -> dict[str, str]:
    """For each name in SETTINGS and CONDITIONS what is known of it, empty where nothing is; not made visible."""
    evidence = run.evidence
    command = evidence.get("command")
    known = {
        "prompt": evidence.get("prompt"),
        "max_tokens": evidence.get("max_tokens"),
        "seed": evidence.get("seed"),
        "vLLM": _object(evidence, "server").get("vllm_version"),
        "model": evidence.get("model"),
        "revision": evidence.get("revision"),
        "command": shlex.join(map(str, command)) if isinstance(command, list | tuple) else None,
        "hardware": ", ".join(map(str, evidence.get("hardware") or ())),
        "prefix cache": _state(evidence, "prefix_cache"),
        "traffic": _state(evidence, "traffic"),
        "thinking": _state(evidence, "thinking"),
        "step cap": _object(evidence, "step_cap").get("steps"),
        "at once": evidence.get("streams", 1),
        "finish": evidence.get("finish_reason"),
    }
    return {name: "" if value is None else str(value) for name, value in known.items()}


def _state(evidence: Mapping[str, Any], name: str) -> str | None:
    """ "warm", or "unknown (the run did not come to its end)"."""
    known = _object(evidence, name)
    why = known.get("reason")
    return f"{known.get('state')} ({why})" if why else known.get("state")


def _object(evidence: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Evidence of an imported run may be of any form."""
    known = evidence.get(name)
    return known if isinstance(known, Mapping) else {}


def run_lines(run: Run) -> Iterator[str]:
    yield f"{run.task} · {label_of(run)} · run {run.id} · {local_time(run.started_at)}"
    if run.practice:
        yield f"  {PRACTICE_LABEL}"
    if not run.valid:
        yield f"  NOT VALID: {visible_line(run.invalid_reason or 'no reason was recorded')}"
    if doubt := doubt_of(run):
        yield f"  DOUBTFUL: {visible_line(doubt)}"
    yield from number_lines(run)
    yield from check_lines(run)
    yield from evidence_lines(run)
    yield "  answer"
    for line in visible(run.output).splitlines() or ["(empty)"]:
        yield f"    {line}"


def trial_lines(trial: Trial) -> Iterator[str]:
    """The runs of a trial and, over the valid measured ones, median and range of every value."""
    summary = trial.summary
    rows = [("RUN", "", "END TO END", "CHECK")]
    for run in trial.runs:
        state = "not valid" if not run.valid else "passed" if run.check.passed else "failed"
        rows.append((run.id, "warm-up" if run.warmup else "", marked_rate(run), state))
    yield from columns(rows)
    for run in trial.runs:
        if not run.valid:
            yield f"  {run.id} is not valid: {visible_line(run.invalid_reason or 'no reason was recorded')}"
    yield ""
    if any(run.practice for run in trial.runs):
        yield PRACTICE_LABEL
    left_out = f", {summary.invalid} left out as not valid" if summary.invalid else ""
    yield f"{summary.counted} of {trial.asked} runs count{left_out}; {summary.passed} passed their check"
    for key, spread in summary.values.items():
        yield f"  {LABELS[key]:<24}{visible_line(spread_text(key, spread))}"
        yield from _definition(key)
    for name, definition in TRIAL_DEFINITIONS.items():
        yield f"  {name}: {definition}"


def spread_text(key: str, spread: Spread | NotMeasurable) -> str:
    """ "1,060 tok/s, median of 5 (1,048 tok/s to 1,064 tok/s)", or "not measurable: one canvas"."""
    if isinstance(spread, NotMeasurable):
        return f"not measurable: {spread.reason}"
    median, lowest, highest = (format_value(key, value) for value in (spread.median, spread.lowest, spread.highest))
    if spread.n < 2:
        return f"{median}, one value"
    text = f"{median}, median of {spread.n} ({lowest} to {highest})"
    if isinstance(spread.interval, NotMeasurable):
        return f"{text}; {spread.interval.reason}"
    low, high = (format_value(key, value) for value in (spread.interval.low, spread.interval.high))
    return f"{text}; {spread.interval.coverage:.1%} interval {low} to {high}"


def columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows aligned by what they take on a terminal, where a CJK character is two cells wide."""
    from rich.cells import cell_len

    table = [list(row) for row in rows]
    widths = [max((cell_len(row[at]) for row in table), default=0) for at in range(len(table[0]) if table else 0)]
    for row in table:
        yield "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
