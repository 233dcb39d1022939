"""Two trials of the same task: the ratio of their medians with its interval. What may not be compared has a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from exercises.intervals import FEWEST, METHOD, Interval, Ratio, median_ratio
from exercises.records import NotMeasurable, Run
from exercises.trial import SUMMARISED, Summary, summarise, summary_to_json
from labtui.claims import model_of
from labtui.serving.checkpoints import checkpoints
from lessons.claims import DEFINITIONS, Claim

BASELINE = "gemma-4-26b-a4b"
DIFFUSION = "diffusiongemma"
SPEEDS = ("end_to_end", "after_first_canvas", "without_prefill", "per_forward", "first_canvas")


@dataclass(frozen=True, slots=True)
class TrialComparison:
    """ratios: second ÷ first for each summarised value. reason: why there is none; then ratios is empty."""

    first: Summary
    second: Summary
    ratios: dict[str, Ratio | NotMeasurable]
    reason: str | None
    same_prompts: bool


def compare_trials(first: Sequence[Run], second: Sequence[Run]) -> TrialComparison:
    """The runs of each trial, warm-ups and invalid ones among them. Practice is never set beside another model."""
    ones, twos = _counted(first), _counted(second)
    reason = _why_no_ratio(first, second)
    ratios = {} if reason else {key: _ratio(ones, twos, key) for key in SUMMARISED}
    return TrialComparison(summarise(first), summarise(second), ratios, reason, _prompts(ones) == _prompts(twos))


def comparison_to_json(result: TrialComparison) -> dict[str, Any]:
    """A ratio or an interval that there is not is null, with its reason beside it."""
    return {
        "summaries": [summary_to_json(result.first), summary_to_json(result.second)],
        "comparable": result.reason is None,
        "comparable_reason": result.reason,
        "ratios": None if result.reason else {key: _ratio_to_json(ratio) for key, ratio in result.ratios.items()},
        "ratio": "median of the second trial ÷ median of the first",
        "method": f"of each side {METHOD}, each side missing half as often",
        "same_prompts": result.same_prompts,
    }


def published_table(runs: Sequence[Run], claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """What others published of the baseline's speed, where it was not run; nothing beside practice."""
    if not runs or any(run.practice for run in runs):
        return ()
    return tuple(one for one in claims if one.model == BASELINE and one.definition in SPEEDS)


@dataclass(frozen=True, slots=True)
class BesideBaseline:
    """One task on one checkpoint: result sets yours second, so that its ratios are yours ÷ the baseline's."""

    task: str
    checkpoint: str
    baseline: tuple[Run, ...]
    yours: tuple[Run, ...]
    result: TrialComparison


@dataclass(frozen=True, slots=True)
class BaselineStanding:
    """published: what others published of the baseline, where no trial of it was run here; never both."""

    compared: tuple[BesideBaseline, ...]
    published: tuple[Claim, ...]


def baseline_standing(runs: Sequence[Run], claims: Sequence[Claim]) -> BaselineStanding | None:
    """Of all these runs, each task's trial on a diffusion checkpoint beside that of the baseline.

    Of several trials the newest that has enough runs for an interval counts, else the newest. None where there is no
    trial of real weights to set beside anything; practice never counts.
    """
    trials = [trial for trial in _trials(runs) if not trial[0].practice and _counted(trial)]
    baselines = [trial for trial in trials if _is_baseline(trial[0])]
    yours = [trial for trial in trials if not _is_baseline(trial[0]) and _is_diffusion(trial[0])]
    if not yours:
        return None
    compared: list[BesideBaseline] = []
    for task, checkpoint in dict.fromkeys((trial[0].task, trial[0].checkpoint) for trial in yours):
        own = _best([one for one in yours if (one[0].task, one[0].checkpoint) == (task, checkpoint)])
        other = _best([one for one in baselines if one[0].task == task and _streams(one) == _streams(own)])
        if other:
            compared.append(BesideBaseline(task, checkpoint, other, own, compare_trials(other, own)))
    return BaselineStanding(tuple(compared), () if compared else published_table(yours[0], claims))


def baseline_to_json(standing: BaselineStanding) -> dict[str, Any]:
    return {
        "model": BASELINE,
        "compared": [
            {
                "task": one.task,
                "checkpoints": [one.baseline[0].checkpoint, one.checkpoint],
                "trials": [one.baseline[0].trial, one.yours[0].trial],
                "runs": [[run.id for run in side] for side in (one.baseline, one.yours)],
                **comparison_to_json(one.result),
            }
            for one in standing.compared
        ],
        "published": published_to_json(standing.published),
    }


def published_to_json(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "claim": one.text,
            "value": one.value,
            "unit": one.unit,
            "definition": one.definition,
            "definition_text": DEFINITIONS[one.definition],
            "hardware": one.hardware,
            "batch": one.batch,
            "source": one.source.title,
            "url": one.source.url,
            "measured_here": False,
        }
        for one in claims
    ]


def _counted(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.valid and not run.warmup]


def _trials(runs: Sequence[Run]) -> list[tuple[Run, ...]]:
    """Newest first."""
    grouped: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.started_at, run.id)):
        grouped.setdefault(run.trial or run.id, []).append(run)
    return sorted(map(tuple, grouped.values()), key=lambda trial: (trial[-1].started_at, trial[-1].id), reverse=True)


def _best(trials: Sequence[tuple[Run, ...]]) -> tuple[Run, ...]:
    """trials: newest first. Nothing where there is none."""
    enough = [trial for trial in trials if len(_counted(trial)) >= FEWEST]
    return next(iter((*enough, *trials)), ())


def _streams(trial: Sequence[Run]) -> Any:
    return trial[0].evidence.get("streams", 1)


def _is_baseline(run: Run) -> bool:
    return model_of(run, {BASELINE}) is not None


def _is_diffusion(run: Run) -> bool:
    checkpoint = checkpoints().get(run.checkpoint)
    known = run.evidence.get("diffusion", None if checkpoint is None else checkpoint.diffusion)
    return bool(known) or (known is None and model_of(run, {DIFFUSION}) is not None)


def _why_no_ratio(first: Sequence[Run], second: Sequence[Run]) -> str | None:
    if len({run.practice for run in (*first, *second)}) > 1:
        return "one is from the practice checkpoint, whose numbers say nothing about the other model"
    if len({run.task for run in (*first, *second)}) > 1:
        return f"they are different tasks: {first[0].task} and {second[0].task}"
    if not _counted(first) or not _counted(second):
        return "one of the trials has no run that counts"
    streams = [{run.evidence.get("streams", 1) for run in _counted(side)} for side in (first, second)]
    return None if streams[0] == streams[1] else "they had different numbers of requests at once"


def _ratio(ones: Sequence[Run], twos: Sequence[Run], key: str) -> Ratio | NotMeasurable:
    sides: list[list[float]] = []
    for side in (ones, twos):
        values = [getattr(run.speed, key) for run in side]
        numbers = [float(value) for value in values if not isinstance(value, NotMeasurable)]
        if not numbers:
            return NotMeasurable("; ".join(sorted({value.reason for value in values})))
        sides.append(numbers)
    return median_ratio(*sides)


def _ratio_to_json(ratio: Ratio | NotMeasurable) -> dict[str, Any]:
    if isinstance(ratio, NotMeasurable):
        return {"value": None, "reason": ratio.reason, "interval": None, "interval_reason": ratio.reason}
    known = isinstance(ratio.interval, Interval)
    return {
        "value": ratio.value,
        "reason": None,
        "interval": asdict(ratio.interval) if known else None,
        "interval_reason": ratio.interval.reason if isinstance(ratio.interval, NotMeasurable) else None,
    }


def _prompts(runs: Sequence[Run]) -> list[str]:
    return sorted(repr((run.evidence.get("prompt"), run.evidence.get("images"))) for run in runs)
