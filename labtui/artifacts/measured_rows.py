"""Sweeps and the baseline as plain text for a table, the same in Markdown and HTML."""

from __future__ import annotations

from exercises.intervals import Interval
from exercises.records import NotMeasurable, Run
from exercises.speed import LABELS
from exercises.trial import Spread
from labtui.artifacts.harness_map import label
from labtui.cli.run_text import spread_text
from labtui.trial_comparison import BaselineStanding, BesideBaseline
from lessons.claims import DEFINITIONS, Claim

SWEEPS_NOTE = (
    "One thing varied, the rest kept; medians of the rounds. Where more requests come at once than the server runs "
    "together, some wait in its queue, and the point says so."
)
BASELINE_NOTE = (
    "The same task on Gemma 4 26B-A4B, which writes one token after the other. Ratio: median of the diffusion model's "
    "trial ÷ median of the baseline's."
)
PUBLISHED_NOTE = (
    "Published, not measured here: Gemma 4 26B-A4B, in place of a trial of your own. No ratio is made of it: it was "
    "measured by others, on their hardware and prompts, by the definition that stands beside it."
)
COMPARED_KEYS = ("end_to_end_tps", "first_canvas_s", "after_first_canvas_tps")
COMPARED_COLUMNS = ("Task", "Value", "Baseline", "Diffusion", "Ratio", "Interval")
PUBLISHED_COLUMNS = ("Published", "What it means", "Measured on", "Source")


def more_sweeps_words(more: int) -> str:
    """Of each kind of sweep the newest is shown."""
    return f"{more} earlier {'sweep is' if more == 1 else 'sweeps are'} in the store and in the JSON export."


def compared_rows(standing: BaselineStanding) -> list[tuple[str, ...]]:
    return [row for one in standing.compared for row in _compared(one)]


def _compared(one: BesideBaseline) -> list[tuple[str, ...]]:
    sides = (one.result.first, one.result.second)
    names = [f"{label(runs[0])}: " for runs in (one.baseline, one.yours)]
    rows = []
    for key in COMPARED_KEYS:
        values = [name + _spread(key, side.values[key]) for name, side in zip(names, sides, strict=True)]
        rows.append((one.task, LABELS[key], *values, *_ratio(one, key)))
    return rows


def _spread(key: str, value: Spread | NotMeasurable) -> str:
    return spread_text(key, value)


def _ratio(one: BesideBaseline, key: str) -> tuple[str, str]:
    if one.result.reason is not None:
        return "none", one.result.reason
    ratio = one.result.ratios[key]
    if isinstance(ratio, NotMeasurable):
        return "not measurable", ratio.reason
    span = ratio.interval
    if not isinstance(span, Interval):
        return f"× {ratio.value:.2f}", span.reason
    return f"× {ratio.value:.2f}", f"× {span.low:.2f} to {span.high:.2f}, in at least {span.coverage:.1%} of the cases"


def compared_notes(standing: BaselineStanding) -> list[str]:
    """What was not the same on both sides, beside the model."""
    notes = []
    for one in standing.compared:
        pair = f"{one.task}, {label(one.baseline[0])} and {label(one.yours[0])}"
        if not one.result.same_prompts:
            notes.append(
                f"{pair}: their prompts or pictures differ; the same --seed and --runs compare like with like."
            )
        machines = [_hardware(side[0]) for side in (one.baseline, one.yours)]
        if machines[0] != machines[1]:
            notes.append(f"{pair}: on different hardware, {machines[0]} and {machines[1]}.")
    return notes


def _hardware(run: Run) -> str:
    known = run.evidence.get("hardware")
    return " and ".join(map(str, known)) if isinstance(known, list | tuple) and known else str(known or "not recorded")


def _measured_on(claim: Claim) -> str:
    batch = "" if claim.batch is None else f"{claim.batch} request{'' if claim.batch == 1 else 's'} at once"
    parts = (claim.hardware or "hardware not stated", claim.precision, claim.engine, claim.settings, batch)
    return "; ".join(part for part in parts if part)


def published_rows(standing: BaselineStanding) -> list[tuple[tuple[str, ...], str, str | None]]:
    """The first three cells, then the title and address of the source."""
    return [
        (
            (claim.text, DEFINITIONS[claim.definition], _measured_on(claim)),
            claim.source.title,
            claim.source.url,
        )
        for claim in standing.published
    ]
