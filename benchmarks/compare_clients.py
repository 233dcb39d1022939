"""The same prompts on the same server, measured by five clients: what each says about its speed.

    .venv/bin/python -m benchmarks.compare_clients [--requests 24] [--others FOLDER] [--json]

It uses the server that `labtui serve status` shows; start it with `labtui serve start --wait`. The clients are labtui's
own (as `labtui run` uses it), a bare httpx loop, `vllm bench serve`, and guidellm and aiperf where they are installed.
Those two bring many packages of their own, so give them an environment of their own:

    python3 -m venv ../bench-clients && ../bench-clients/bin/pip install guidellm==0.8.1 aiperf==0.13.0
    .venv/bin/python -m benchmarks.compare_clients --others ../bench-clients

labtui and the bare loop ask in turn, one after the other and in both orders, so that a machine that gets slower does so
for both; the other three run as one block each. All ask one request at a time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.other_clients import CLIENTS, Unusable
from benchmarks.own_clients import BareLoop, labtui_client
from exercises.endpoint import Endpoint
from exercises.intervals import METHOD, Ratio, median_interval
from exercises.records import NotMeasurable
from exercises.tasks import prompt_kinds_for, task_set_for

MAX_TOKENS = 512
WANTED_WITHIN = 0.02


@dataclass
class Measured:
    """end_to_end: tokens per second of each request, as this client sees it. also: what else it prints, by its name."""

    client: str
    end_to_end: list[float] = field(default_factory=list)
    also: dict[str, Any] = field(default_factory=dict)
    missing: str | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=24)
    parser.add_argument("--others", type=Path, help="environment with guidellm and aiperf in it")
    parser.add_argument("--only", nargs="+", default=[], metavar="CLIENT", help="besides labtui and the bare loop")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    from labtui.serving.supervisor import Supervisor

    endpoint = Supervisor().endpoint()
    prompts = prompts_for(endpoint, asked.requests)
    results = in_turn(endpoint, prompts)
    with tempfile.TemporaryDirectory() as folder:
        for name, client in CLIENTS.items():
            if asked.only and name not in asked.only:
                continue
            print(f"{name} ...", file=sys.stderr)
            try:
                rates, also = client(endpoint, prompts, MAX_TOKENS, Path(folder), asked.others)
            except Unusable as problem:
                results.append(Measured(name, missing=str(problem)))
            else:
                results.append(Measured(name, rates, also))
    ratio = paired_ratio(*results[:2])
    if asked.json:
        pair = None if isinstance(ratio, NotMeasurable) else asdict(ratio)
        print(json.dumps({"clients": [asdict(one) for one in results], "labtui_to_bare_loop": pair}, indent=2))
    else:
        for line in table(results, ratio):
            print(line)
    if isinstance(ratio, NotMeasurable) or abs(ratio.value - 1) > WANTED_WITHIN:
        raise SystemExit(1)


def prompts_for(endpoint: Endpoint, count: int) -> list[str]:
    """Prompts of the checkpoint's own tasks: answers of one canvas and of several."""
    tasks = [
        task
        for task in (
            *task_set_for(endpoint.checkpoint, endpoint.practice).tasks,
            *prompt_kinds_for(endpoint.checkpoint, endpoint.practice).tasks,
        )
        if task.drawing is None
    ]
    return [tasks[number % len(tasks)].prepare(number).prompt_text for number in range(count)]


def in_turn(endpoint: Endpoint, prompts: Sequence[str]) -> list[Measured]:
    labtui, bare = Measured("labtui"), Measured("bare httpx loop")
    bare_loop = BareLoop(endpoint)
    for prompt in prompts[:2]:
        bare_loop(endpoint, prompt, MAX_TOKENS)
    for number, prompt in enumerate(prompts):
        print(f"labtui and the bare loop: {number + 1} of {len(prompts)}", file=sys.stderr)
        both = [(labtui, labtui_client), (bare, bare_loop)]
        for result, client in both if number % 2 else reversed(both):
            result.end_to_end.append(client(endpoint, prompt, MAX_TOKENS))
    return [labtui, bare]


def paired_ratio(labtui: Measured, bare: Measured) -> Ratio | NotMeasurable:
    """Median over the prompts of labtui's rate ÷ the bare loop's for the same prompt, asked right before or after."""
    ratios = [one / other for one, other in zip(labtui.end_to_end, bare.end_to_end, strict=True)]
    if not ratios:
        return NotMeasurable("there is no pair of requests")
    return Ratio(statistics.median(ratios), median_interval(ratios))


def table(results: Sequence[Measured], ratio: Ratio | NotMeasurable) -> list[str]:
    lines = [
        "| client | requests | end to end, median | interval | what else it prints |",
        "|---|---|---|---|---|",
    ]
    for one in results:
        if one.missing is not None:
            lines.append(f"| {one.client} | 0 | not run: {one.missing} | | |")
            continue
        interval = median_interval(one.end_to_end)
        spread = "" if isinstance(interval, NotMeasurable) else f"{interval.low:.1f} to {interval.high:.1f}"
        also = "; ".join(f"{name} {value}" for name, value in one.also.items())
        middle = statistics.median(one.end_to_end)
        lines.append(f"| {one.client} | {len(one.end_to_end)} | {middle:.1f} tok/s | {spread} | {also} |")
    if isinstance(ratio, NotMeasurable):
        lines.append(f"\nlabtui ÷ bare loop: not measurable: {ratio.reason}")
    else:
        interval = ratio.interval
        span = interval.reason if isinstance(interval, NotMeasurable) else f"{interval.low:.4f} to {interval.high:.4f}"
        lines.append(f"\nlabtui ÷ bare loop, prompt by prompt: {ratio.value:.4f} ({span}; {METHOD})")
    return lines


if __name__ == "__main__":
    main()
