"""Which two answers are judged blind next, what may be shown of them, and how judgements are told: commands and screens
share it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exercises.records import Run
from labtui.errors import USAGE, LabError
from store.judgements import Pair, Revealed, Tally, names_of, side_of, why_no_pair

if TYPE_CHECKING:
    from store.opening import Store

PRACTICE_JUDGED = "practice: two settings of it are compared, no evidence about DiffusionGemma"
LETTER = {"left": "A", "right": "B"}
CHOICE_WORDS = {"left": "A is better", "right": "B is better", "equal": "a tie", "neither": "both are bad"}


@dataclass(frozen=True, slots=True)
class ToJudge:
    """prompt and asked_about: what both answers answer; asked_about is a run whose picture was sent, if one was.

    Of that run nothing but its picture may be shown.
    """

    pair: Pair
    prompt: str
    asked_about: Run | None


def to_judge(store: Store, task: str | None = None, first: str | None = None) -> ToJudge:
    """The pair that was left without a judgement, else a new one. first: a task to look at before the others.

    Raises LabError (exit 2) where there is none, with the commands that make one.
    """
    pair = left_open(store, task, first) or new_pair(store, _candidates(store, task, first))
    if pair is None:
        raise nothing_to_judge(store, task)
    return shown_of(store, pair)


def to_judge_between(store: Store, task: str | None, one: str, other: str) -> ToJudge:
    """A pair of these two runs or trials. Raises LabError or StoreError (exit 2) where there is none."""
    sides = [_runs_of(store, name) for name in (one, other)]
    pair = new_pair(store, ((a, b) for a in sides[0] for b in sides[1] if task is None or a.task == task))
    if pair is None:
        raise nothing_to_judge(store, task)
    return shown_of(store, pair)


def shown_of(store: Store, pair: Pair) -> ToJudge:
    run = store.judgements.one_of_both(pair.id)
    return ToJudge(pair, str(run.evidence.get("prompt") or ""), run if run.evidence.get("images") else None)


def left_open(store: Store, task: str | None = None, first: str | None = None) -> Pair | None:
    pairs = store.judgements.open_pairs(task)
    return min(pairs, key=lambda pair: pair.task != first, default=None)


def new_pair(store: Store, candidates: Iterable[tuple[Run, Run]]) -> Pair | None:
    judged = store.judgements.judged_runs()
    for one, other in candidates:
        new = frozenset((one.id, other.id)) not in judged and not _alike(one, other)
        if new and why_no_pair(one, other) is None:
            return store.judgements.make_pair(one.id, other.id)
    return None


def _alike(one: Run, other: Run) -> bool:
    """Word by word the same: there is nothing to choose between."""
    return one.output.split() == other.output.split()


def nothing_to_judge(store: Store, task: str | None) -> LabError:
    """What there is instead of a pair, and the commands that lead to one."""
    kept = [run for run in store.runs.list(task=task) if run.valid and not run.warmup]
    name = task or (kept[0].task if kept else "coding")
    if not kept:
        cause = f"no valid run of {task} is kept" if task else "no valid run is kept"
        return _none(task, cause, f"Run it on two models with the same seed: labtui run {name} --seed 1")
    sides = sorted({side_of(run) for run in kept})
    newest = kept[0]
    seed = newest.evidence.get("seed")
    again = f"labtui run {newest.task}{'' if seed is None else f' --seed {seed}'}"
    if newest.practice and len({run.checkpoint for run in kept}) == 1:
        fix = (
            "Run the same prompt with another setting: labtui serve stop, labtui serve start --checkpoint practice "
            f"--wait --sampler max_denoising_steps=1, {again}. Two models need a GPU, or a server that is attached."
        )
    else:
        other = "gemma4" if newest.checkpoint != "gemma4" else "bf16"
        fix = (
            f"Run the same prompt on another model: labtui serve stop, labtui serve start --checkpoint {other} --wait, "
            f"{again}"
        )
    if len(sides) == 1:
        return _none(task, f"all valid runs are from {sides[0]}", fix)
    pairs = [pair for pair in _candidates(store, task, None) if why_no_pair(*pair) is None]
    if pairs and all(_alike(*pair) for pair in pairs):
        return _none(task, "both gave the same answer to every prompt, word by word", fix)
    if store.judgements.tally(task):
        fix = (
            f"For another one run the same new prompt on both: labtui run {newest.task} --seed N, with an N of yours. "
            "How often each was better: labtui blind --tally"
        )
        return _none(task, "every pair of the same prompt is judged", fix)
    return _none(task, f"no two of {', '.join(sides[:4])} answered the same prompt", fix)


def _none(task: str | None, cause: str, fix: str) -> LabError:
    about = f" of answers to {task}" if task else " of answers"
    return LabError(f"There is no new pair{about} to judge blind", cause, fix, USAGE)


def _candidates(store: Store, task: str | None, first: str | None) -> Iterable[tuple[Run, Run]]:
    """Runs of the same prompt, newest first; of two sides the newest of each come before older ones."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in store.runs.list(task=task):
        if run.valid and not run.warmup:
            key = (run.task != first, run.practice, run.task_set, run.task, run.evidence.get("prompt"))
            groups.setdefault(key, []).append(run)
    return _crossed(sorted(groups.items(), key=lambda group: group[0][:2]))


def _crossed(groups: Sequence[tuple[tuple[Any, ...], list[Run]]]) -> Iterator[tuple[Run, Run]]:
    for _, runs in groups:
        for at, one in enumerate(runs):
            yield from ((one, other) for other in runs[at + 1 :] if side_of(other) != side_of(one))


def _runs_of(store: Store, name: str) -> list[Run]:
    trial = [run for run in store.runs.list(trial=name) if not run.warmup]
    return trial or [store.runs.get(name)]


def pictures_of(shown: ToJudge) -> dict[str, bytes | None]:
    """Slow: the drawing of each answer that is an SVG which may be drawn."""
    from labtui.svg_picture import picture_of_svg

    drawn: dict[str, bytes | None] = {}
    for side, answer in (("left", shown.pair.left), ("right", shown.pair.right)):
        try:
            drawn[side] = picture_of_svg(answer)
        except LabError:
            drawn[side] = None
    return drawn


def save_pair(shown: ToJudge, folder: Path, pictures: Mapping[str, bytes | None]) -> list[str]:
    """Writes both answers as files that say A and B and nothing more: text, SVG, page, picture. Raises OSError."""
    from exercises.checkers.html_page import extract_page
    from exercises.checkers.svg import extract_svg
    from labtui.new_file import file_name

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    saved = []
    for side, answer in (("left", shown.pair.left), ("right", shown.pair.right)):
        files: dict[str, bytes | str | None] = {"txt": answer, "svg": extract_svg(answer), "html": extract_page(answer)}
        if shown.asked_about is None:
            files["png"] = pictures.get(side)
        for suffix, content in files.items():
            if content is not None:
                path = folder / f"{file_name(f'blind-{shown.pair.id}-{LETTER[side]}')}.{suffix}"
                data = content if isinstance(content, bytes) else content.encode("utf-8", errors="backslashreplace")
                path.write_bytes(data)
                saved.append(str(path))
    return saved


def tally_line(one: Tally) -> str:
    """ "bf16 3 : 1 gemma4 · 2 equal · 0 neither · 6 judged blind", with its label where it is practice."""
    label = "practice · " if one.practice else ""
    return (
        f"{label}{one.first} {one.first_preferred} : {one.second_preferred} {one.second}"
        f" · {one.equal} equal · {one.neither} neither · {one.judged} judged blind"
    )


@dataclass(frozen=True, slots=True)
class BlindCount:
    """The judgements of one task between two sides. notes: what the person wrote with them."""

    task: str
    tally: Tally
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """For a verdict, in words, with its label where it is practice."""
        one = self.tally
        practice = "Practice, no evidence about DiffusionGemma: of" if one.practice else "Of"
        return (
            f"{practice} {one.judged} pair{'' if one.judged == 1 else 's'} of answers to {self.task} judged blind, "
            f"{one.first} was better in {one.first_preferred} and {one.second} in {one.second_preferred}; "
            f"{one.equal} equal, {one.neither} both bad."
        )


def blind_counts(store: Store, tasks: Iterable[str]) -> tuple[BlindCount, ...]:
    """Of these tasks, those that have a blind judgement."""
    judgements = store.judgements
    return tuple(
        BlindCount(task, tally, tuple(why for pair in tally.pairs if (why := judgements.reveal(pair).judgement.why)))
        for task in dict.fromkeys(tasks)
        for tally in judgements.tally(task)
    )


def tally_to_json(one: Tally) -> dict[str, Any]:
    return {
        "first": one.first,
        "second": one.second,
        "practice": one.practice,
        "first_preferred": one.first_preferred,
        "second_preferred": one.second_preferred,
        "equal": one.equal,
        "neither": one.neither,
        "judged": one.judged,
    }


def revealed_lines(revealed: Revealed) -> Iterator[str]:
    """Whose the answers are, and what the checkers found: facts, never a taste."""
    from labtui.cli.run_text import check_lines
    from labtui.terminal_text import visible_line

    names = names_of(revealed)
    for side, run in (("left", revealed.left), ("right", revealed.right)):
        yield f"  {LETTER[side]} is {visible_line(names[side])} · run {run.id}"
        for line in check_lines(run):
            yield f"  {line}"
    if revealed.pair.practice:
        yield PRACTICE_JUDGED
