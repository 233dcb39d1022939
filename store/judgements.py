"""Blind comparison: two answers to the same task side by side, in an order that nobody knows until one was chosen."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar, cast, get_args

from exercises.records import Run
from exercises.run_ids import new_id
from store import moments
from store.connection import Connection
from store.errors import StoreError
from store.runs import Runs
from store.texts import storable

Choice = Literal["left", "right", "equal", "neither"]
CHOICES: tuple[str, ...] = get_args(Choice)
T = TypeVar("T")

USUAL_SAMPLER = {
    "t_min": 0.4,
    "t_max": 0.8,
    "entropy_bound": 0.1,
    "confidence_threshold": 0.005,
    "stability_threshold": 1,
}
"""Of the published DiffusionGemma and the practice checkpoint (generation_config.json): only what differs is named."""

WITHDRAWN = "withdrawn"
"""Kept like a later judgement of a pair: its blind one was taken back, and is no longer counted."""

COUNTED = (
    "SELECT pair FROM judgements WHERE blind = 1 "
    f"AND pair NOT IN (SELECT pair FROM judgements WHERE choice = '{WITHDRAWN}')"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """What may be shown before the judgement: the task and the two answers, and nothing that says whose they are.

    practice: both are from the practice checkpoint, and say nothing about another model.
    """

    id: str
    task: str
    left: str
    right: str
    made_at: datetime
    practice: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """blind: it was given before the pair was revealed. Only blind judgements are counted."""

    id: int
    pair: str
    choice: Choice
    why: str
    blind: bool
    judged_at: datetime


@dataclass(frozen=True, slots=True)
class Revealed:
    """judgement: the blind one. withdrawn: it was taken back and is not counted."""

    pair: Pair
    left: Run
    right: Run
    judgement: Judgement
    withdrawn: bool = False

    @property
    def preferred(self) -> Run | None:
        chosen: dict[str, Run] = {"left": self.left, "right": self.right}
        return chosen.get(self.judgement.choice)


@dataclass(frozen=True, slots=True)
class Tally:
    """Blind judgements between two checkpoints, or two settings of one: how often each was preferred, how often none.

    pairs: their ids, in the order in which they were made.
    """

    first: str
    second: str
    first_preferred: int
    second_preferred: int
    equal: int
    neither: int
    practice: bool = False
    pairs: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        return self.first_preferred + self.second_preferred + self.equal + self.neither


class Judgements:
    def __init__(self, connection: Connection, runs: Runs) -> None:
        self._connection = connection
        self._runs = runs

    def make_pair(self, one_id: str, other_id: str) -> Pair:
        """Draws the order of two runs and keeps it. Raises StoreError (exit code 2) for runs that make no fair pair."""
        one, other = self._runs.get(one_id), self._runs.get(other_id)
        reason = why_no_pair(one, other)
        if reason is not None:
            raise StoreError(
                "These two runs make no blind pair",
                reason,
                "Choose two valid runs of the same prompt on different checkpoints, or with different settings: run "
                "both with the same --seed.",
                exit_code=2,
            )
        left, right = (one, other) if secrets.randbelow(2) else (other, one)
        made_at = moments.now()
        row = {
            "id": new_id("p", made_at),
            "task": one.task,
            "left_run": left.id,
            "right_run": right.id,
            "made_at": moments.to_text(made_at),
        }
        with self._connection.writing() as db:
            db.table("pairs").insert(row)
        return Pair(row["id"], one.task, left.output, right.output, made_at, one.practice)

    def pair(self, pair_id: str) -> Pair:
        """Raises StoreError with exit code 2."""
        row = self._row(pair_id)
        left, right = self._runs.get(row[2]), self._runs.get(row[3])
        return Pair(row[0], row[1], left.output, right.output, moments.from_text(row[4]), left.practice)

    def open_pairs(self, task: str | None = None) -> list[Pair]:
        """Those without a judgement, oldest first."""
        with self._connection.reading() as db:
            ids = db.execute(
                "SELECT id FROM pairs WHERE (:task IS NULL OR task = :task) "
                "AND id NOT IN (SELECT pair FROM judgements) ORDER BY made_at, id",
                {"task": task},
            ).fetchall()
        return self._readable(self.pair, ids)

    def prompt(self, pair_id: str) -> str:
        """What both answers answer; "" where it was not recorded. Raises StoreError with exit code 2."""
        return str(self._runs.get(self._row(pair_id)[2]).evidence.get("prompt") or "")

    def one_of_both(self, pair_id: str) -> Run:
        """A run of the pair, for what both have in common: task, prompt and picture. Show nothing else of it."""
        return self._runs.get(self._row(pair_id)[2])

    def last_judged(self) -> Revealed | None:
        """The last blind judgement that counts, None where there is none."""
        with self._connection.reading() as db:
            row = db.execute(
                f"SELECT pair FROM judgements WHERE blind = 1 AND pair IN ({COUNTED}) ORDER BY id DESC LIMIT 1"
            ).fetchone()
        return None if row is None else self.reveal(row[0])

    def withdraw(self, pair_id: str) -> Revealed:
        """Takes a judgement back: it stays in the history and is not counted. Raises StoreError (exit code 2)."""
        revealed = self.reveal(pair_id)
        if not revealed.withdrawn:
            row = {
                "pair": revealed.pair.id,
                "choice": WITHDRAWN,
                "why": "",
                "blind": False,
                "judged_at": moments.to_text(moments.now()),
            }
            with self._connection.writing() as db:
                db.table("judgements").insert(row)
        return self.reveal(pair_id)

    def judged_runs(self) -> set[frozenset[str]]:
        """The two runs of every pair that has a judgement."""
        with self._connection.reading() as db:
            rows = db.execute(
                "SELECT left_run, right_run FROM pairs WHERE id IN (SELECT pair FROM judgements)"
            ).fetchall()
        return {frozenset((str(left), str(right))) for left, right in rows}

    def judge(self, pair_id: str, choice: str, why: str = "") -> Judgement:
        """Keeps a judgement; the first of a pair is its blind one. Raises StoreError (exit code 2)."""
        if choice not in CHOICES:
            raise StoreError(
                "There is no such choice", f"{choice!r} is not one", f"Choose one of {', '.join(CHOICES)}.", exit_code=2
            )
        row = self._row(pair_id)
        judged_at = moments.now()
        with self._connection.writing() as db:
            first = db.execute("SELECT 1 FROM judgements WHERE pair = ?", [row[0]]).fetchone() is None
            judgement = {
                "pair": row[0],
                "choice": choice,
                "why": storable(why),
                "blind": first,
                "judged_at": moments.to_text(judged_at),
            }
            judgement_id = db.table("judgements").insert(judgement).last_pk
        return Judgement(cast(int, judgement_id), row[0], cast(Choice, choice), str(judgement["why"]), first, judged_at)

    def reveal(self, pair_id: str) -> Revealed:
        """Whose the answers are. Raises StoreError (exit code 2) before there is a judgement."""
        row = self._row(pair_id)
        with self._connection.reading() as db:
            judged = db.execute(
                "SELECT id, pair, choice, why, blind, judged_at FROM judgements WHERE pair = ? AND blind = 1", [row[0]]
            ).fetchone()
        if judged is None:
            raise StoreError(
                "This pair is not judged yet",
                "whose the answers are is hidden until one was chosen",
                f"Judge it first: {', '.join(CHOICES)}.",
                exit_code=2,
            )
        with self._connection.reading() as db:
            withdrawn = db.execute(
                "SELECT 1 FROM judgements WHERE pair = ? AND choice = ?", [row[0], WITHDRAWN]
            ).fetchone()
        left, right = self._runs.get(row[2]), self._runs.get(row[3])
        return Revealed(self.pair(row[0]), left, right, _judgement(judged), withdrawn is not None)

    def tally(self, task: str | None = None) -> list[Tally]:
        """One for each two checkpoints, or settings of one, that were compared; their names in alphabetical order."""
        counts: dict[tuple[bool, str, str], list[tuple[str, str]]] = {}
        for revealed in self.counted(task):
            names = names_of(revealed)
            first, second = sorted(names.values())
            preferred = names.get(revealed.judgement.choice)
            chosen = "first" if preferred == first else "second" if preferred else revealed.judgement.choice
            counts.setdefault((revealed.pair.practice, first, second), []).append((chosen, revealed.pair.id))
        tallies = []
        for (practice, first, second), judged in sorted(counts.items()):
            choices = [choice for choice, _ in judged]
            tallies.append(
                Tally(
                    first,
                    second,
                    choices.count("first"),
                    choices.count("second"),
                    choices.count("equal"),
                    choices.count("neither"),
                    practice,
                    tuple(pair for _, pair in judged),
                )
            )
        return tallies

    def counted(self, task: str | None = None) -> Sequence[Revealed]:
        """Every blind judgement that was not taken back, in the order in which their pairs were made."""
        with self._connection.reading() as db:
            ids = db.execute(
                "SELECT id FROM pairs WHERE (:task IS NULL OR task = :task) "
                f"AND id IN ({COUNTED}) ORDER BY made_at, id",
                {"task": task},
            ).fetchall()
        return self._readable(self.reveal, ids)

    def _readable(self, read: Callable[[str], T], ids: Sequence[tuple[str]]) -> list[T]:
        """A pair with a damaged run is left out; the check of the store names the run. So is one that could not have
        been made here: a progress file may hold any."""
        found = []
        for (pair_id,) in ids:
            with suppress(StoreError):
                left, right = (self._runs.get(run_id) for run_id in self._row(pair_id)[2:4])
                if why_no_pair(left, right) is None:
                    found.append(read(pair_id))
        return found

    def _row(self, pair_id: str) -> tuple[Any, ...]:
        with self._connection.reading() as db:
            row = db.execute(
                "SELECT id, task, left_run, right_run, made_at FROM pairs WHERE id = ?", [pair_id.strip()]
            ).fetchone()
        if row is None:
            raise StoreError(
                "There is no such pair", f"no pair has the id {pair_id!r}", "Make one from two runs.", exit_code=2
            )
        return cast(tuple[Any, ...], row)


def why_no_pair(one: Run, other: Run) -> str | None:
    """Why a judgement between these two would say nothing, None where it would."""
    if one.practice != other.practice:
        return "one is from the practice checkpoint, which is never set beside another model"
    if side_of(one) == side_of(other):
        return f"both are from {side_of(one)}"
    if (one.task_set, one.task) != (other.task_set, other.task):
        return f"they are different tasks: {one.task} and {other.task}"
    if any(one.evidence.get(key) != other.evidence.get(key) for key in ("prompt", "images")):
        return "their prompts or pictures differ"
    invalid = next((run for run in (one, other) if not run.valid), None)
    return None if invalid is None else f"run {invalid.id} is not valid: {invalid.invalid_reason}"


def side_of(run: Run) -> str:
    """The checkpoint, with those of its settings that bend an answer, as far as they are known."""
    steps = (run.evidence.get("step_cap") or {}).get("steps")
    sampler = run.evidence.get("sampler") or {}
    settings = [
        *(["thinking"] if (run.evidence.get("thinking") or {}).get("state") == "on" else []),
        *([f"step cap {steps}"] if steps is not None else []),
        *(f"{name} {value}" for name, value in sorted(sampler.items()) if USUAL_SAMPLER.get(name, value) != value),
    ]
    return f"{run.checkpoint} ({', '.join(settings)})" if settings else run.checkpoint


def names_of(revealed: Revealed) -> dict[str, str]:
    """By side what is compared: the checkpoints, or where both are of one, its settings."""
    left, right = revealed.left, revealed.right
    if left.checkpoint != right.checkpoint:
        return {"left": left.checkpoint, "right": right.checkpoint}
    return {"left": side_of(left), "right": side_of(right)}


def _judgement(row: tuple[Any, ...]) -> Judgement:
    return Judgement(row[0], row[1], row[2], row[3], bool(row[4]), moments.from_text(row[5]))
