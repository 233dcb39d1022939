"""Asks a served practice checkpoint everything it should know: `python -m exercises.practice.evaluation URL`.

Right means: the lab's own checker passes (tasks), or the answer is word for word the one that was taught (phrasings).
Steps per canvas come from the server's counters, so nothing else may use the server meanwhile.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import random
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from statistics import mean, median
from typing import Any

from exercises.client import stream_chat
from exercises.drawings.barrier import draw_barrier
from exercises.endpoint import Endpoint
from exercises.metrics import counter_window
from exercises.practice.data import (
    PICTURE_SIZES,
    SHAPES,
    TextExample,
    draw_text_example,
    picture_answer,
)
from exercises.practice.phrasing import SYSTEM_PROMPTS, UNSEEN_PICTURE, UNSEEN_PYTHON, UNSEEN_SVG
from exercises.practice.python_answers import FUNCTIONS
from exercises.practice.svg_answers import SCENES
from exercises.records import NotMeasurable, Run
from exercises.running import run_task
from exercises.server_pages import ServerPages
from exercises.speed import speed_of
from exercises.tasks import Task, find_task, task_set_for

LONGEST_ANSWER = 512


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. steps: denoising steps per canvas, without the commit; speeds in tokens per second."""

    prompt: str
    right: bool
    answer: str
    canvases: int
    steps: float | None
    end_to_end: float | None
    after_first_canvas: float | None


@dataclass(frozen=True, slots=True)
class Result:
    group: str
    right: int
    asked: int
    steps_mean: float | None
    steps_median: float | None
    canvases_mean: float
    end_to_end_tps_median: float | None
    after_first_canvas_tps_median: float | None

    def line(self) -> str:
        return (
            f"{self.group}: {self.right} of {self.asked} right; steps per canvas median {_shown(self.steps_median)},"
            f" mean {_shown(self.steps_mean)}; canvases per answer {self.canvases_mean:.1f};"
            f" tok/s end to end {_shown(self.end_to_end_tps_median)},"
            f" after the first canvas {_shown(self.after_first_canvas_tps_median)}"
        )


def summarise(group: str, asked: list[Asked]) -> Result:
    steps = [one.steps for one in asked if one.steps is not None]
    whole = [one.end_to_end for one in asked if one.end_to_end is not None]
    after = [one.after_first_canvas for one in asked if one.after_first_canvas is not None]
    return Result(
        group=group,
        right=sum(one.right for one in asked),
        asked=len(asked),
        steps_mean=mean(steps) if steps else None,
        steps_median=median(steps) if steps else None,
        canvases_mean=mean(one.canvases for one in asked),
        end_to_end_tps_median=median(whole) if whole else None,
        after_first_canvas_tps_median=median(after) if after else None,
    )


def ask_task(task: Task, endpoint: Endpoint, seeds: Iterable[int]) -> Iterator[Asked]:
    for seed in seeds:
        run: Run = run_task(task, endpoint, seed=seed)
        prompt = str(task.prepare(seed, run_code=False).prompt_text)
        yield _asked(prompt, run.valid and run.check.passed, run.output, run)


def ask_text(examples: Iterable[TextExample], endpoint: Endpoint) -> Iterator[Asked]:
    for example in examples:
        messages: list[dict[str, Any]] = [{"role": "user", "content": example.prompt}]
        if example.system is not None:
            messages.insert(0, {"role": "system", "content": example.system})
        yield _ask(endpoint, example.prompt, messages, example.answer)


def ask_pictures(endpoint: Endpoint, rng: random.Random, sizes: Iterable[tuple[int, int]]) -> Iterator[Asked]:
    """New drawings under questions never trained on; right only if colour, vehicle and answer all are."""
    for width, height in sizes:
        scene = draw_barrier(rng, width, height)
        stored = io.BytesIO()
        scene.image.save(stored, "PNG")
        url = f"data:image/png;base64,{base64.b64encode(stored.getvalue()).decode('ascii')}"
        question = rng.choice(UNSEEN_PICTURE)
        parts = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": question}]
        prompt = f"{question} [{width}x{height}: {scene.describe()}]"
        yield _ask(endpoint, prompt, [{"role": "user", "content": parts}], picture_answer(scene))


def unseen_phrasings(rng: random.Random, count: int) -> Iterator[TextExample]:
    for _ in range(count):
        match rng.randrange(3):
            case 0:
                drawing = rng.choice(SCENES)
                yield TextExample(rng.choice(UNSEEN_SVG).format(rng.choice(drawing.names)), drawing.svg)
            case 1:
                drawing = rng.choice(SHAPES)
                yield TextExample(rng.choice(UNSEEN_SVG).format(rng.choice(drawing.names)), drawing.svg)
            case _:
                function = rng.choice(FUNCTIONS)
                yield TextExample(rng.choice(UNSEEN_PYTHON).format(rng.choice(function.deeds)), function.answer)


def evaluate(endpoint: Endpoint, count: int, seed: int) -> Iterator[tuple[Result, list[Asked]]]:
    tasks = task_set_for("practice", practice=True)
    seeds = range(seed, seed + count)
    for task_id in ("coding", "coding-python", "vision"):
        asked = list(ask_task(find_task(task_id, tasks), endpoint, seeds))
        yield summarise(f"task {task_id}", asked), asked
    rng = random.Random(f"evaluation/{seed}")
    trained = [draw_text_example(rng) for _ in range(count)]
    unseen = list(unseen_phrasings(rng, count))
    with_system = [replace(example, system=rng.choice(SYSTEM_PROMPTS)) for example in unseen[: count // 3]]
    for group, examples in (
        ("prompts as in training", trained),
        ("phrasings never seen", unseen),
        ("phrasings never seen, under a system message", with_system),
    ):
        asked = list(ask_text(examples, endpoint))
        yield summarise(group, asked), asked
    sizes = [size for _ in range(count) for size in PICTURE_SIZES][:count]
    asked = list(ask_pictures(endpoint, rng, sizes))
    yield summarise("pictures of all sizes, questions never seen, whole answer", asked), asked


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m exercises.practice.evaluation", description=__doc__)
    parser.add_argument("url", help="the server's address; its API key is read from VLLM_API_KEY")
    parser.add_argument("--model", default="practice", help="the name that the server gives the checkpoint")
    parser.add_argument("--count", type=int, default=60, help="requests per group")
    parser.add_argument("--seed", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    endpoint = Endpoint(options.url, os.environ.get("VLLM_API_KEY"), options.model, "practice", practice=True)
    for result, asked in evaluate(endpoint, options.count, options.seed):
        if options.json:
            wrong = [asdict(one) for one in asked if not one.right]
            print(json.dumps({**asdict(result), "wrong": wrong}), flush=True)
            continue
        print(result.line(), flush=True)
        for one in asked:
            if not one.right:
                print(f"  wrong: {one.prompt!r} -> {one.answer!r}", flush=True)
    return 0


def _ask(endpoint: Endpoint, prompt: str, messages: list[dict[str, Any]], taught: str) -> Asked:
    cancel = threading.Event()
    with ServerPages(endpoint) as pages:
        before = pages.idle_counters(cancel)
        outcome = stream_chat(endpoint, messages, LONGEST_ANSWER)
        if isinstance(before, NotMeasurable):
            raise SystemExit(f"{endpoint.public_root} shows no counters: {before.reason}")
        own = outcome.timeline.completion_tokens
        after = pages.settled_counters(before, own or 0, cancel)
    window = after if isinstance(after, NotMeasurable) else counter_window(before, after, own)
    speed = speed_of(replace(outcome.timeline, counters=window))
    return Asked(
        prompt=prompt,
        right=outcome.ended == "complete" and outcome.text.strip() == taught,
        answer=outcome.text,
        canvases=speed.canvases,
        steps=_number(speed.steps_per_canvas),
        end_to_end=_number(speed.end_to_end_tps),
        after_first_canvas=_number(speed.after_first_canvas_tps),
    )


def _asked(prompt: str, right: bool, answer: str, run: Run) -> Asked:
    speed = run.speed
    return Asked(
        prompt=prompt,
        right=right,
        answer=answer,
        canvases=speed.canvases,
        steps=_number(speed.steps_per_canvas),
        end_to_end=_number(speed.end_to_end_tps),
        after_first_canvas=_number(speed.after_first_canvas_tps),
    )


def _number(value: float | NotMeasurable) -> float | None:
    return None if isinstance(value, NotMeasurable) else value


def _shown(value: float | None) -> str:
    return "not measurable" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    sys.exit(main())
