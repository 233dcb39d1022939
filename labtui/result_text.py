"""A measured speed as a person defends it: the number, its runs, its conditions, the doubts, how to repeat it.

Rows of text, each with the definition of its label, for any screen. The numbers are put into words by
exercises/speed.py and labtui/cli/run_text.py, as those of the commands are.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exercises.errors import ExerciseError
from exercises.memory_floor import DEFINITION as FLOOR_DEFINITION
from exercises.memory_floor import MemoryFloor, doubt_of, memory_floor
from exercises.records import NotMeasurable, Run
from exercises.speed import DEFINITIONS, LABELS, TRIAL_DEFINITIONS, format_rate, format_seconds, speed_lines
from exercises.tasks import find_task
from exercises.trial import Summary, summarise
from labtui.cli.run_text import CONDITIONS, NOT_CHECKED, SETTINGS, conditions_of, label_of, marked_rate, spread_text
from labtui.program import as_typed
from labtui.serving.checkpoints import checkpoints
from labtui.task_shelf import tasks_for

PRACTICE = "practice checkpoint: these numbers say nothing about DiffusionGemma"
NOT_RECORDED = "not recorded"

OTHER_DEFINITIONS = {
    "checkpoint": "The weights that were served, by the name that labtui serve start --checkpoint takes.",
    "precision": "The number format in which most of the weights are kept.",
    "runs": "Runs that count, and those that do not: warm-ups are dropped, and so is what is not valid.",
    "answer": "What the checker of the task found out about the answer: facts, never a taste.",
    "least time": FLOOR_DEFINITION,
    "the same run": "The same prompts and pictures, asked of the server that is running then.",
    "server": "What started the server that answered, without its API key.",
    "proof": "Computes every number again from the kept arrival times of the chunks.",
    "bundle": "Writes the run with its raw stream to a file that labtui measure reads back.",
}
"""What the labels mean that are no value of a speed, no condition and no setting of a run."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a screen. definition: what its label means. more: what stands below it, such as a command."""

    key: str
    label: str
    value: str
    definition: str = ""
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a result is about: a run alone, or the trial that it belongs to.

    trial: all runs of that trial in their order, warm-ups and invalid ones among them; empty where it is not known.
    alone: the run is meant, although its trial has more runs that were measured.
    """

    run: Run
    trial: tuple[Run, ...] = ()
    alone: bool = False

    @property
    def has_trial(self) -> bool:
        return sum(not run.warmup for run in self.trial) > 1

    @property
    def over_trial(self) -> bool:
        return self.has_trial and not self.alone

    @property
    def runs(self) -> tuple[Run, ...]:
        return self.trial if self.over_trial else (self.run,)

    @property
    def measured(self) -> tuple[Run, ...]:
        return tuple(run for run in self.trial if not run.warmup) if self.over_trial else (self.run,)

    @property
    def counted(self) -> tuple[Run, ...]:
        """The runs that the number rests on; a run alone is shown even where it does not count."""
        return tuple(run for run in self.measured if run.valid) if self.over_trial else (self.run,)

    @property
    def dropped(self) -> int:
        return sum(run.warmup for run in self.trial)

    @property
    def summary(self) -> Summary:
        return summarise(self.runs)


def number_line(measured: Measured) -> str:
    """The headline with all that it needs to stand alone: "end to end 1,060 tok/s · coding · fp8 · NVIDIA H200"."""
    run = measured.run
    parts = [] if run.valid or measured.over_trial else [f"NOT VALID ({run.invalid_reason})"]
    parts.append(f"end to end {headline(measured)}")
    parts.append(f"{run.task}{' warm-up' if run.warmup and not measured.over_trial else ''}")
    parts.append(served(run))
    known = {name: shared(measured, name) for name in ("hardware", "vLLM", "step cap", "prefix cache", "thinking")}
    parts.append(_cards(known["hardware"]))
    for name, text in (("vLLM", "vLLM {}"), ("step cap", "cap {}"), ("prefix cache", "{} prefix cache")):
        parts.append(text.format(known[name]) if known[name] and known[name] != "unknown" else "")
    parts.append(f"thinking {known['thinking']}" if known["thinking"] else "")
    streams = run.evidence.get("streams", 1)
    parts.append(f"{streams} requests at once" if streams != 1 else "")
    if measured.over_trial:
        parts += [dropped_words(measured), f"trial {run.trial}"]
    else:
        parts.append(f"run {run.id}")
    return " · ".join(part for part in parts if part)


def number_text(measured: Measured) -> str:
    """The number line with its label and the definitions of what is in it, to be pasted."""
    lines = [PRACTICE] if measured.run.practice else []
    lines += [number_line(measured), f"end to end: {DEFINITIONS['end_to_end_tps']}"]
    if measured.over_trial:
        lines += [f"{name}: {text}" for name, text in TRIAL_DEFINITIONS.items()]
    return "\n".join(lines)


def headline(measured: Measured) -> str:
    if measured.over_trial:
        return spread_text("end_to_end_tps", measured.summary.values["end_to_end_tps"])
    return format_rate(measured.run.speed.end_to_end_tps)


def served(run: Run) -> str:
    """ "fp8", or "diffusiongemma-folder (fp8)" where the name does not say the precision."""
    precision = precision_of(run)
    name = label_of(run)
    return name if not precision or precision in run.checkpoint or run.practice else f"{name} ({precision})"


def precision_of(run: Run) -> str:
    checkpoint = checkpoints().get(run.checkpoint)
    return "" if checkpoint is None else checkpoint.precision


def warnings(measured: Measured) -> tuple[str, ...]:
    """What must be known before the number: practice, not valid, shared with others, faster than memory allows."""
    said = [f"! {PRACTICE}"] if measured.run.practice else []
    if measured.over_trial:
        if not measured.counted:
            said.append("✗ no run of this trial counts")
    elif not measured.run.valid:
        said.append(f"✗ not valid: {measured.run.invalid_reason or 'no reason kept'}")
    elif measured.run.warmup:
        said.append("! a warm-up: it counts for nothing")
    touched = [run for run in measured.counted if _traffic(run).get("state") == "shared"]
    if touched:
        which = f"{len(touched)} of {len(measured.counted)} runs: " if measured.over_trial else ""
        said.append(
            f"! {which}touched by other traffic: {_traffic(touched[0]).get('reason') or 'others were answered'}"
        )
    doubtful = [run for run in measured.counted if doubt_of(run)]
    if doubtful:
        which = f"{len(doubtful)} of {len(measured.counted)} runs are " if measured.over_trial else ""
        said.append(f"! {which}faster than the card can feed: {doubt_of(doubtful[0])}")
    return tuple(said)


def sections(measured: Measured, claims: Sequence[Section]) -> tuple[Section, ...]:
    """All of a result in its order. claims: from labtui/result_claims.py."""
    if measured.over_trial:
        number = [Section("YOUR NUMBER, OVER THE TRIAL", trial_rows(measured)), Section("ITS RUNS", run_rows(measured))]
    else:
        number = [Section("YOUR NUMBER, OF ONE RUN", speed_rows(measured))]
    return (
        *number,
        *claims,
        Section("CONDITIONS", condition_rows(measured)),
        Section("FASTER THAN THE CARD CAN FEED?", floor_rows(measured)),
        Section("THE ANSWER", check_rows(measured)),
        Section("TO REPEAT IT", repeat_rows(measured)),
    )


def speed_rows(measured: Measured) -> tuple[Row, ...]:
    first, *rest = (Row(line.key, line.label, line.value, line.definition) for line in speed_lines(measured.run.speed))
    return (first, Row("runs", "runs", runs_words(measured), OTHER_DEFINITIONS["runs"]), *rest)


def trial_rows(measured: Measured) -> tuple[Row, ...]:
    summary = measured.summary
    over = tuple(f"{name}: {text}" for name, text in TRIAL_DEFINITIONS.items())
    rows = [Row(key, LABELS[key], spread_text(key, spread), DEFINITIONS[key]) for key, spread in summary.values.items()]
    return (rows[0], Row("runs", "runs", runs_words(measured), OTHER_DEFINITIONS["runs"], over), *rows[1:])


def runs_words(measured: Measured) -> str:
    """ "5 count, 1 warm-up dropped, 1 not valid and left out", or of a run alone "this one, 1 warm-up dropped"."""
    if not measured.over_trial:
        others = sum(not run.warmup for run in measured.trial if run.id != measured.run.id)
        parts = ["this one alone, it is a warm-up" if measured.run.warmup else "this one"]
        parts.append(f"{others} more in its trial" if others else "")
        parts.append(dropped_words(measured) if measured.dropped and not measured.run.warmup else "")
    else:
        summary = measured.summary
        parts = [f"{summary.counted} count", dropped_words(measured)]
        parts.append(f"{summary.invalid} not valid and left out" if summary.invalid else "")
    return ", ".join(part for part in parts if part)


def dropped_words(measured: Measured) -> str:
    count = measured.dropped
    return f"{count} warm-up{'' if count == 1 else 's'} dropped" if count else "no warm-up"


def run_rows(measured: Measured) -> tuple[Row, ...]:
    rows = []
    number = {True: 0, False: 0}
    for run in measured.trial:
        number[run.warmup] += 1
        name = f"{'warm-up' if run.warmup else 'run'} {number[run.warmup]}"
        state = "dropped" if run.warmup else "not counted" if not run.valid else ""
        check = "passed" if run.check.passed else "failed its check"
        value = " · ".join(part for part in (marked_rate(run), state, check if run.valid else "", run.id) if part)
        more = (f"not valid: {run.invalid_reason}",) if not run.valid else ()
        rows.append(Row(f"run/{run.id}", name, value, "enter shows this run alone.", more))
    return tuple(rows)


def condition_rows(measured: Measured) -> tuple[Row, ...]:
    run = measured.run
    rows = [
        Row("checkpoint", "checkpoint", label_of(run), OTHER_DEFINITIONS["checkpoint"]),
        Row("precision", "precision", precision_of(run) or NOT_RECORDED, OTHER_DEFINITIONS["precision"]),
    ]
    definitions = CONDITIONS | SETTINGS
    order = ("step cap", "hardware", "vLLM", "prefix cache", "thinking", "traffic", "at once")
    rest = ("model", "revision", "max_tokens", "finish", "prompt", "seed")
    for name in (*order, *rest):
        value = shared(measured, name) or NOT_RECORDED
        rows.append(Row(name, name, value, _sentence(definitions[name]), _source_of(run, name)))
    return tuple(rows)


def shared(measured: Measured, name: str) -> str:
    """One condition of all runs that count: "cold", "cold (1 of 5), warm (4 of 5)", "5 different ones"."""
    runs = measured.counted or measured.measured
    found = Counter(conditions_of(run)[name] for run in runs)
    if len(found) <= 1:
        return next(iter(found), "")
    if len(found) > 3 or name in ("prompt", "seed"):
        return f"{len(found)} different ones"
    return ", ".join(f"{value or NOT_RECORDED} ({count} of {len(runs)})" for value, count in found.most_common())


def floor_rows(measured: Measured) -> tuple[Row, ...]:
    """The one nearest to its floor, of the runs that count: where that one can be, the others can."""
    known = [(run, floor) for run in measured.counted if isinstance(floor := memory_floor(run), MemoryFloor)]
    timed = [(run, floor) for run, floor in known if not isinstance(run.speed.wall_s, NotMeasurable)]
    if not timed:
        unknown = next((one for run in measured.runs if isinstance(one := memory_floor(run), NotMeasurable)), None)
        said = measured.run.evidence.get("weights_gib_reason")
        why = said or (unknown.reason if unknown else "how long the run took is not measurable")
        return (Row("least time", "least time", f"cannot be asked: {why}", FLOOR_DEFINITION),)
    run, floor = min(timed, key=lambda pair: _share(pair[0], pair[1]))
    cards = floor.card.name if floor.cards == 1 else f"{floor.cards} × {floor.card.name}"
    passes = f"{floor.passes:.0f} passes{'' if floor.counted else ' at least'}"
    took = format_seconds(run.speed.wall_s)
    doubt = doubt_of(run)
    answer = f"! yes: {doubt}" if doubt else f"no: it took {took}, {_share(run, floor):.3g} times the least"
    return (
        Row("floor", "faster than that?", answer, FLOOR_DEFINITION),
        Row(
            "least time",
            "least time",
            f"{format_seconds(floor.least_s)}: {passes} × {floor.weights_gib:.4g} GiB ÷ "
            f"{floor.card.gb_per_s:,.0f} GB/s of {cards}",
            FLOOR_DEFINITION,
            (f"bandwidth: {floor.card.source}", *([f"run {run.id}"] if measured.over_trial else [])),
        ),
    )


def check_rows(measured: Measured) -> tuple[Row, ...]:
    what = OTHER_DEFINITIONS["answer"]
    if measured.over_trial:
        summary = measured.summary
        return (Row("answer", "answers", f"{summary.passed} of {summary.counted} passed their check", what),)
    check = measured.run.check
    if [fact.name for fact in check.facts] == [NOT_CHECKED] and not check.passed:
        return (Row("answer", "answer", f"not checked: {check.facts[0].detail}", what),)
    held = sum(fact.passed for fact in check.facts)
    sign = "✓ right" if check.passed else "✗ not right"
    head = Row("answer", "answer", f"{sign}: {held} of {len(check.facts)} facts hold", f"{what} v shows it.")
    facts = (
        Row(f"fact/{number}", f"{'✓' if fact.passed else '✗'} {fact.name}", fact.detail or "-", what)
        for number, fact in enumerate(check.facts)
    )
    return (head, *facts)


def repeat_rows(measured: Measured) -> tuple[Row, ...]:
    run = measured.run
    command = shared(measured, "command")
    url = (run.evidence.get("server") or {}).get("url")
    server = command or (f"not started by labtui, it answered at {url}" if url else NOT_RECORDED)
    proof = as_typed(f"labtui show {run.id} --recompute")
    bundle = as_typed(f"labtui show {run.id} --bundle run-{run.id}.json")
    return (
        Row("repeat", "the same run", repeat_command(measured) or NOT_RECORDED, OTHER_DEFINITIONS["the same run"]),
        Row("command", "server", server, OTHER_DEFINITIONS["server"]),
        Row("proof", "proof", proof, OTHER_DEFINITIONS["proof"]),
        Row("bundle", "bundle", bundle, OTHER_DEFINITIONS["bundle"]),
    )


def repeat_command(measured: Measured) -> str:
    """What asks the same again, as it is typed; empty where the seed was not kept."""
    run = measured.measured[0] if measured.measured else measured.run
    seed = run.evidence.get("seed")
    if seed is None:
        return ""
    words = ["labtui", "run", run.task]
    cap = (run.evidence.get("request") or {}).get("vllm_xargs") or {}
    streams = run.evidence.get("streams", 1)
    if streams != 1:
        words += ["--sweep", "concurrency", "--points", str(streams)]
    elif "diffusion_max_steps" in cap:
        words += ["--sweep", "steps", "--points", str(cap["diffusion_max_steps"])]
    else:
        words += ["--runs", str(len(measured.measured) or 1)]
        words += ["--warmup", str(measured.dropped if measured.over_trial else 0)]
    if _runs_code(run):
        words.append("--run-code")
    return as_typed(shlex.join([*words, "--seed", str(seed)]))


def _runs_code(run: Run) -> bool:
    try:
        return find_task(run.task, tasks_for(run.checkpoint, run.practice)).runs_code
    except ExerciseError:
        return False


def _share(run: Run, floor: MemoryFloor) -> float:
    assert not isinstance(run.speed.wall_s, NotMeasurable)
    return run.speed.wall_s / floor.least_s


def _cards(hardware: str) -> str:
    """ "NVIDIA H200" of "NVIDIA H200, 139.8 GiB, driver 580.159.04"; the whole text where it is of another form."""
    return hardware.partition(", ")[0]


def _traffic(run: Run) -> Mapping[str, Any]:
    found = run.evidence.get("traffic")
    return found if isinstance(found, Mapping) else {}


def _source_of(run: Run, name: str) -> tuple[str, ...]:
    read: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
        "step_cap": lambda known: _told(known, "steps"),
        "thinking": lambda known: _told(known, "state"),
        "prefix_cache": lambda known: (
            f"{known['hit_tokens']:,.0f} of {known['queried_tokens']:,.0f} tokens of the prompt were found"
            if isinstance(known.get("hit_tokens"), int | float) and isinstance(known.get("queried_tokens"), int | float)
            else None
        ),
    }
    key = name.replace(" ", "_")
    known = run.evidence.get(key)
    said = read[key](known) if key in read and isinstance(known, Mapping) else None
    return (said,) if said else ()


def _told(known: Mapping[str, Any], key: str) -> str | None:
    source = known.get("source")
    if not source:
        return None
    return f"not known: {source}" if known.get(key) in (None, "unknown") else f"as said by {source}"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
