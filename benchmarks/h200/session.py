"""One sitting with labtui on a machine with an NVIDIA GPU: plan, serve, measure, compare, break on purpose, stop.

    python benchmarks/h200/session.py --work DIR --model FOLDER [--bundle FILE] [--steps first|fp8|NAME,...] [-- FLAGS]
    python benchmarks/h200/session.py --work DIR --practice --steps fp8

FOLDER holds config.json, tokenizer and processor of DiffusionGemma 26B-A4B. Without weight files in it the weights are
random (--load-format dummy): memory, log lines, streams and the time of a denoising step are real, every answer is
noise. --practice tries the fp8 steps with the practice checkpoint, where no GPU is. Everything is written to DIR as it
happens, and packed into FILE after each step, so that a kill loses little. Each step has its own time limit, and a step
that fails ends no other; --within limits them all, and a step that would not fit into the rest is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bf16_steps import BF16_STEPS, Bf16
from fp8_steps import FP8_STEPS, Fp8
from recording import Recorder

SETS: Mapping[str, tuple[str, ...]] = {"first": tuple(BF16_STEPS), "fp8": tuple(FP8_STEPS)}
STEPS: Mapping[str, tuple[Callable[[Any], None], float, float]] = {**BF16_STEPS, **FP8_STEPS}


def steps_named(text: str) -> tuple[str, ...]:
    """The names of sets and of single steps, in the order given. Raises ArgumentTypeError for an unknown one."""
    found: list[str] = []
    for name in text.split(","):
        if name not in SETS and name not in STEPS:
            raise argparse.ArgumentTypeError(f"there is no step {name!r}; there are {', '.join((*SETS, *STEPS))}")
        found += SETS.get(name, (name,))
    return tuple(found)


def run_steps(names: Sequence[str], first: Bf16, fp8: Fp8, recorder: Recorder) -> None:
    for name in names:
        act, needs_s, most_s = STEPS[name]
        if recorder.left_s < needs_s:
            recorder.say(f"-- {name} is left out: {recorder.left_s:.0f} s are left, it needs {needs_s:.0f}")
            continue
        sitting: Bf16 | Fp8 = fp8 if name in FP8_STEPS else first
        recorder.step(name, partial(act, sitting), most_s)


def main() -> None:
    words = sys.argv[1:]
    own, flags = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="where everything is written")
    served = parser.add_mutually_exclusive_group(required=True)
    served.add_argument("--model", type=Path, help="the model folder")
    served.add_argument("--practice", action="store_true", help="the practice checkpoint, to try the script")
    parser.add_argument("--bundle", type=Path, help="a .tar.gz of it all, rewritten after each step")
    parser.add_argument(
        "--steps", type=steps_named, default="first", help=f"sets or steps: {', '.join((*SETS, *STEPS))}"
    )
    parser.add_argument("--within", type=float, default=1200, help="seconds for all steps (default: %(default)s)")
    parser.add_argument("--caps", default="16,48", help="most denoising steps of the first and the second launch")
    chosen = parser.parse_args(own)
    if chosen.practice and not set(chosen.steps) <= set(FP8_STEPS):
        parser.error("--practice tries the fp8 steps and no others: --steps fp8")
    first, second = (int(part) for part in chosen.caps.split(","))
    recorder = Recorder(chosen.work, chosen.bundle, chosen.within)
    given = (recorder, chosen.model, flags, (first, second))
    with recorder:
        run_steps(chosen.steps, Bf16(*given), Fp8(*given), recorder)


if __name__ == "__main__":
    main()
