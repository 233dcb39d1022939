"""compare with trials: both summaries, the ratio of their medians, or the published table in the baseline's place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from exercises.intervals import Ratio
from exercises.records import NotMeasurable, Run
from exercises.speed import LABELS, TRIAL_DEFINITIONS
from exercises.trial import Summary, summarise, summary_to_json
from labtui.cli.claims_text import known_claims
from labtui.cli.run_text import PRACTICE_LABEL, columns, label_of, spread_text
from labtui.cli.session import Session
from labtui.terminal_text import visible_line
from labtui.trial_comparison import (
    TrialComparison,
    compare_trials,
    comparison_to_json,
    published_table,
    published_to_json,
)
from lessons.claims import DEFINITIONS, Claim


def show_two(session: Session, first: Sequence[Run], second: Sequence[Run], as_json: bool) -> None:
    result = compare_trials(first, second)
    if as_json:
        session.emit({"trials": [first[0].trial, second[0].trial], **comparison_to_json(result)})
        return
    for line in comparison_lines(first, second, result):
        click.echo(line)


def show_published(session: Session, runs: Sequence[Run], as_json: bool) -> None:
    """One trial; what others published of the baseline stands where its own trial would."""
    table = published_table(runs, known_claims(session))
    if as_json:
        session.emit(
            {
                "trials": [runs[0].trial],
                "summaries": [summary_to_json(summarise(runs))],
                "ratios": None,
                "baseline_published": published_to_json(table),
            }
        )
        return
    for line in (*_side(runs, summarise(runs)), *published_lines(runs, table)):
        click.echo(line)


def comparison_lines(first: Sequence[Run], second: Sequence[Run], result: TrialComparison) -> Iterator[str]:
    yield from _side(first, result.first)
    yield from _side(second, result.second)
    if result.reason:
        yield f"No ratio is shown: {visible_line(result.reason)}."
        return
    yield "second ÷ first, of the medians"
    rows = [(f"  {LABELS[key]}", *ratio_words(ratio)) for key, ratio in result.ratios.items()]
    yield from columns(rows)
    yield f"  interval: {TRIAL_DEFINITIONS['interval']} Of a ratio, each side's is so wide that both hold at once."
    if not result.same_prompts:
        yield "Their prompts or pictures differ: run both with the same --seed and --runs to compare like with like."


def ratio_words(ratio: Ratio | NotMeasurable) -> tuple[str, str]:
    """ "× 1.07" and its interval, or nothing and why there is none."""
    if isinstance(ratio, NotMeasurable):
        return "", f"not measurable: {visible_line(ratio.reason)}"
    span = ratio.interval
    if isinstance(span, NotMeasurable):
        return f"× {ratio.value:.2f}", span.reason
    return f"× {ratio.value:.2f}", f"× {span.low:.2f} to {span.high:.2f}, interval of at least {span.coverage:.1%}"


def published_lines(runs: Sequence[Run], table: Sequence[Claim]) -> Iterator[str]:
    if any(run.practice for run in runs):
        yield "No published number stands beside a practice trial."
        return
    yield "PUBLISHED, NOT MEASURED HERE: Gemma 4 26B-A4B, in place of a trial of your own. No ratio is made of it."
    for one in table:
        hardware = one.hardware or "hardware not stated"
        yield f"  {visible_line(one.text)} · {visible_line(hardware)} · {visible_line(one.source.title)}"
        yield f"      {DEFINITIONS[one.definition]}"


def _side(runs: Sequence[Run], summary: Summary) -> Iterator[str]:
    yield f"trial {runs[0].trial} · {runs[0].task} · {label_of(runs[0])} · {summary.counted} runs count"
    if any(run.practice for run in runs):
        yield f"  {PRACTICE_LABEL}"
    for key, spread in summary.values.items():
        yield f"  {LABELS[key]:<24}{visible_line(spread_text(key, spread))}"
