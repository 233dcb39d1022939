"""The least time that a run can have taken: a card cannot compute a pass faster than it reads the weights for it.

A pass of block diffusion works on a whole canvas. With 256 positions of 8 experts each, nearly all of 128 experts are
asked, so nearly all weights are read once in each pass. The floor is passes × bytes of the weights ÷ bandwidth; the KV
cache, activations and arithmetic come on top of it. A run below the floor is doubted, not discarded.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from exercises.records import CounterWindow, NotMeasurable, Run

DEFINITION = (
    "Passes × bytes of the weights ÷ bandwidth of the card's memory: the least time that a run can have taken, since "
    "each pass reads the weights once."
)

FEWEST_PASSES = 2
"""A canvas takes one denoising pass and its commit pass, at the least."""


@dataclass(frozen=True, slots=True)
class Card:
    """gb_per_s: peak memory bandwidth in 10^9 bytes per second, as its maker states it."""

    name: str
    gb_per_s: float
    source: str


@dataclass(frozen=True, slots=True)
class MemoryFloor:
    """least_s: seconds below which the run cannot have been. counted: passes are from the server's counters."""

    least_s: float
    passes: float
    counted: bool
    weights_gib: float
    card: Card
    cards: int


def floor_s(passes: float, weights_gib: float, gb_per_s: float, cards: int = 1) -> float:
    """Seconds that reading the weights takes. cards: how many share the weights and read at once."""
    return passes * weights_gib * 2**30 / (gb_per_s * 1e9 * cards)


def memory_floor(run: Run) -> MemoryFloor | NotMeasurable:
    evidence = run.evidence
    weights_gib = evidence.get("weights_gib")
    if isinstance(weights_gib, bool) or not isinstance(weights_gib, int | float) or not 0 < weights_gib < math.inf:
        return NotMeasurable("the size of the weights on the card is not known")
    names = [str(name) for name in evidence.get("hardware") or ()]
    card = card_named(names[0]) if names else None
    if card is None:
        return NotMeasurable(f"the memory bandwidth of {names[0] if names else 'the hardware'} is not known")
    counters = run.timeline.counters
    if isinstance(counters, CounterWindow):
        passes, counted = counters.forwards, True
    elif evidence.get("diffusion") is True:
        passes, counted = float(FEWEST_PASSES * len(run.timeline.chunks)), False
    else:
        return NotMeasurable("how many passes it took is not known")
    if not 0 < passes < math.inf:
        return NotMeasurable("the counters show no pass")
    cards = _cards(evidence.get("command") or ())
    return MemoryFloor(
        floor_s(passes, float(weights_gib), card.gb_per_s, cards), passes, counted, float(weights_gib), card, cards
    )


def doubt_of(run: Run) -> str | None:
    """Why this run's speed is hard to believe, None where nothing speaks against it or nothing is known."""
    floor = memory_floor(run)
    wall = run.speed.wall_s
    if isinstance(floor, NotMeasurable) or isinstance(wall, NotMeasurable) or wall >= floor.least_s:
        return None
    passes = f"{floor.passes:.0f} passes" if floor.counted else f"at least {floor.passes:.0f} passes"
    cards = floor.card.name if floor.cards == 1 else f"{floor.cards} × {floor.card.name}"
    return (
        f"{passes} over {floor.weights_gib:.4g} GiB of weights take {floor.least_s:.3g} s of the memory of {cards} "
        f"({floor.card.gb_per_s:,.0f} GB/s each), and the run took {wall:.3g} s: "
        "check that the model, the card and the counters are what they are said to be"
    )


def floor_to_json(run: Run) -> dict[str, Any]:
    """doubt: text or null. memory_floor_s: seconds, or null with its reason."""
    floor = memory_floor(run)
    missing = floor.reason if isinstance(floor, NotMeasurable) else None
    return {
        "doubt": doubt_of(run),
        "memory_floor_s": None if isinstance(floor, NotMeasurable) else floor.least_s,
        "memory_floor_reason": missing,
    }


def card_named(driver_name: str) -> Card | None:
    """The card whose words all stand in the name that the driver gives, the most exact one."""
    words = _words(driver_name)
    fitting = [card for card in cards() if _words(card.name) <= words]
    return max(fitting, key=lambda card: len(_words(card.name)), default=None)


@cache
def cards() -> tuple[Card, ...]:
    document = tomllib.loads(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))
    return tuple(Card(**entry) for entry in document["card"])


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", text.lower()))


def _cards(command: Sequence[str] | Mapping[str, Any]) -> int:
    """Cards that the weights are split over: the tensor parallel size in the server's command."""
    parts = [str(part) for part in command]
    for at, part in enumerate(parts):
        name, equals, value = part.partition("=")
        if name.replace("_", "-") in ("--tensor-parallel-size", "-tp"):
            value = value if equals else parts[at + 1] if at + 1 < len(parts) else ""
            return int(value) if value.isdigit() and int(value) > 0 else 1
    return 1
