"""Two runs, and the trials that they belong to, set side by side: rows of text for any screen.

The numbers, the ratios and what forbids one are those of `labtui compare`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exercises.records import Run
from exercises.speed import DEFINITIONS, LABELS, TRIAL_DEFINITIONS
from exercises.trial import Summary
from labtui.cli.compare_trials import ratio_words
from labtui.cli.run_text import label_of, local_time, spread_text, values
from labtui.cli.runs import COMPARED, not_comparable, ratio, same_prompt
from labtui.result_text import Row, Section
from labtui.trial_comparison import compare_trials


def comparison_sections(
    first: Run, second: Run, first_trial: Sequence[Run] = (), second_trial: Sequence[Run] = ()
) -> tuple[Section, ...]:
    """The trials are set side by side where they are two, of more than one measured run each."""
    sections = [Section("TWO RUNS, THE NEWER ONE ÷ THE OLDER ONE", tuple(_run_rows(first, second)))]
    measured = [sum(not run.warmup for run in trial) for trial in (first_trial, second_trial)]
    if min(measured) > 1 and first.trial != second.trial:
        sections.append(Section("THEIR TRIALS, MEDIAN ÷ MEDIAN", tuple(_trial_rows(first_trial, second_trial))))
    return tuple(sections)


def _run_rows(first: Run, second: Run) -> Iterator[Row]:
    for name, run in (("older", first), ("newer", second)):
        kind = f"{run.task}{' warm-up' if run.warmup else ''}"
        check = "passed its check" if run.check.passed else "failed its check"
        yield Row(name, name, f"{kind} · {label_of(run)} · {check} · {local_time(run.started_at)} · {run.id}")
    reason = not_comparable(first, second)
    if reason:
        yield Row("reason", "no ratio", f"{reason}")
    if first.task == second.task and not same_prompt(first, second):
        yield Row("prompts", "prompts", "they differ: run both with the same --seed to compare like with like")
    newer = values(second)
    for key, line in values(first).items():
        factor = None if reason or key not in COMPARED else ratio(first, second, key)
        shown = "" if factor is None else f"   × {factor:.2f}"
        yield Row(key, line.label, f"{_pair(line.value, newer[key].value)}{shown}", DEFINITIONS[key])


def _pair(older: str, newer: str) -> str:
    missing = "not measurable: "
    return f"both {older}" if older == newer and older.startswith(missing) else f"{older} → {newer}"


def _trial_rows(first: Sequence[Run], second: Sequence[Run]) -> Iterator[Row]:
    result = compare_trials(first, second)
    sides: tuple[tuple[str, Sequence[Run], Summary], ...] = (
        ("older", first, result.first),
        ("newer", second, result.second),
    )
    for name, runs, summary in sides:
        yield Row(f"trial/{name}", f"{name} trial", f"{runs[0].trial}: {summary.counted} runs count")
    if result.reason:
        yield Row("trial/reason", "no ratio", f"{result.reason}")
    for key in result.first.values:
        said = [f"{name}: {spread_text(key, summary.values[key])}" for name, _, summary in sides]
        words = ratio_words(result.ratios[key]) if key in result.ratios else ("no ratio",)
        yield Row(f"trial/{key}", LABELS[key], "; ".join(filter(None, words)), DEFINITIONS[key], tuple(said))
    yield Row("trial/interval", "interval", "of each ratio, where there is one", TRIAL_DEFINITIONS["interval"])
    if not result.same_prompts:
        yield Row("trial/prompts", "prompts", "they differ: the same --seed and --runs compare like with like")
