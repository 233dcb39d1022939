"""Requests that no single command of labtui makes: several at once, and the same load timed by other means.

    python benchmarks/h200/loads.py endpoint | streams --out FILE | same-load --out FILE --streams DIR | crowd --count N

The server is the one that labtui started; labtui's own client (exercises/client.py) makes the requests.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx

from exercises.client import request_body, stream_chat
from exercises.endpoint import Endpoint
from exercises.speed import speed_of, speed_to_json
from exercises.stream import StreamOutcome
from labtui.running import task_for
from labtui.serving.live_figures import FigureReader
from labtui.serving.supervisor import Supervisor

COMMON = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which "
    "one you were her all she there would their we him been has when who will more no if out so said what up its about "
    "into than them can only other new some could time these two may then do first any my now such like our over man"
)
WORDS = COMMON.split()
LEVELS = (1, 2, 4)
ROUNDS = 3
PAIRS = 8


def prompt(words: int, seed: int) -> list[dict[str, Any]]:
    rng = random.Random(f"prompt {seed}")  # a bare number would not do: -1 and 1 give the same
    return [{"role": "user", "content": " ".join(rng.choice(WORDS) for _ in range(words))}]


def at_once(endpoint: Endpoint, count: int, tokens: int, seed: int) -> tuple[float, list[StreamOutcome | Exception]]:
    """Seconds from the common start to the end of the last one, and what came back."""
    results: list[StreamOutcome | Exception] = [RuntimeError("never ran")] * count
    gate = threading.Barrier(count + 1)

    def ask(index: int) -> None:
        gate.wait()
        try:
            results[index] = stream_chat(endpoint, prompt(90, seed + index), tokens, timeout_s=100)
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=ask, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    gate.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began, results


def streams(endpoint: Endpoint, out: Path, most_tokens: int) -> None:
    """1, 2 and 4 requests at once: rounds of each after a warm-up, with the live figures beside them."""
    figures: list[dict[str, Any]] = []
    over = threading.Event()

    def watch() -> None:
        reader = FigureReader(endpoint)
        while not over.wait(0.25):
            figures.append({"at": round(time.time(), 2), **asdict(reader.look())})
        reader.close()

    watcher = threading.Thread(target=watch)
    watcher.start()
    found: list[dict[str, Any]] = []
    for count in LEVELS:
        for number in range(ROUNDS + 1):  # the first warms kernels for this many up
            wall_s, results = at_once(endpoint, count, most_tokens, 1000 * count + 10 * number)
            done = [one for one in results if isinstance(one, StreamOutcome)]
            tokens = sum(one.timeline.completion_tokens or 0 for one in done)
            row = {
                "streams": count, "warmup": number == 0, "wall_s": wall_s, "tokens": tokens,
                "together_tps": tokens / wall_s, "requests": [request_row(one) for one in results],
            }  # fmt: skip
            found.append(row)
            words = ", ".join(f"{speed_of(one.timeline).end_to_end_tps}" for one in done)
            print(f"{count} at once, round {number}: {tokens / wall_s:.1f} tok/s together; each {words}", flush=True)
            out.write_text(json.dumps({"rounds": found, "figures": figures}))
    over.set()
    watcher.join()
    out.write_text(json.dumps({"rounds": found, "figures": figures}))


def request_row(result: StreamOutcome | Exception) -> dict[str, Any]:
    if isinstance(result, Exception):
        return {"error": str(result)}
    return {
        "ended": result.ended, "error": result.error, "finish_reason": result.finish_reason,
        "characters": len(result.text), "chunks": [[one.at_s, one.tokens] for one in result.timeline.chunks],
        "prompt_tokens": result.timeline.prompt_tokens, "completion_tokens": result.timeline.completion_tokens,
        "speed": speed_to_json(speed_of(result.timeline)), "server": dict(result.server),
    }  # fmt: skip


def same_load(endpoint: Endpoint, out: Path, folder: Path, words: int, tokens: int) -> None:
    """Long prompts, two canvases, one request at a time: by labtui and by a bare httpx loop in turns."""
    pairs: dict[str, list[dict[str, Any]]] = {"labtui": [], "httpx": []}
    for number in range(-1, PAIRS):
        ours = stream_chat(endpoint, prompt(words, 2 * number), tokens)
        bare = httpx_loop(endpoint, prompt(words, 2 * number + 1), tokens)
        if number >= 0:
            pairs["labtui"].append(request_row(ours))
            pairs["httpx"].append(bare)
        out.write_text(json.dumps(pairs))
    for name, rows in pairs.items():
        rates = [row["speed"]["end_to_end_tps"] if "speed" in row else row["end_to_end_tps"] for row in rows]
        print(f"{name}: end to end, median of {len(rates)}: {statistics.median(rates):.2f} tok/s", flush=True)
    for name, messages, most_tokens in recorded_requests(endpoint):
        (folder / f"stream-{name}.txt").write_text(recorded_stream(endpoint, messages, most_tokens))


def httpx_loop(endpoint: Endpoint, messages: list[dict[str, Any]], tokens: int) -> dict[str, Any]:
    """As one would write it in ten lines: seconds to the last content, tokens by usage."""
    last_s = first_s = 0.0
    usage: dict[str, Any] = {}
    body = request_body(endpoint.model, messages, tokens)
    with httpx.Client(headers=endpoint.headers, timeout=100, trust_env=False) as http:
        began = time.perf_counter()
        with http.stream("POST", endpoint.url("/v1/chat/completions"), json=body) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines():
                if not line.startswith("data: ") or line == "data: [DONE]":
                    continue
                event = json.loads(line[6:])
                usage = event.get("usage") or usage
                if any((choice["delta"].get("content") or "") for choice in event["choices"]):
                    last_s = time.perf_counter() - began
                    first_s = first_s or last_s
    delivered = usage["completion_tokens"]
    return {
        "wall_s": last_s, "first_canvas_s": first_s, "completion_tokens": delivered,
        "prompt_tokens": usage["prompt_tokens"], "end_to_end_tps": delivered / last_s,
    }  # fmt: skip


def recorded_requests(endpoint: Endpoint) -> list[tuple[str, list[dict[str, Any]], int]]:
    coding, vision = task_for(endpoint, "coding").prepare(3), task_for(endpoint, "vision").prepare(3)
    return [
        ("coding", list(coding.messages), 1024),
        ("vision", list(vision.messages), 300),
        ("one-canvas", prompt(20, 5), 100),
    ]


def recorded_stream(endpoint: Endpoint, messages: list[dict[str, Any]], tokens: int) -> str:
    """The events as they came, in the form that `labtui measure` reads."""
    body = request_body(endpoint.model, messages, tokens)
    with httpx.Client(headers=endpoint.headers, timeout=100, trust_env=False) as http:
        began = time.perf_counter()
        with http.stream("POST", endpoint.url("/v1/chat/completions"), json=body) as answer:
            lines = [f"# HTTP {answer.status_code}", f"# request: {json.dumps(body)}"]
            lines += [f"[{time.perf_counter() - began:7.3f}] {line}" for line in answer.iter_lines() if line]
    return "\n".join(lines) + "\n"


def crowd(endpoint: Endpoint, count: int) -> None:
    wall_s, results = at_once(endpoint, count, 256, 1)
    for result in results:
        print(json.dumps(request_row(result)), flush=True)
    print(f"{count} at once: {wall_s:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load", choices=("endpoint", "streams", "same-load", "crowd"))
    parser.add_argument("--out", type=Path, default=Path("out.json"))
    parser.add_argument("--streams", type=Path, default=Path())
    parser.add_argument("--count", type=int, default=32)
    parser.add_argument("--prompt-words", type=int, default=4096, help="of same-load")
    parser.add_argument("--tokens", type=int, help="at most; 1024 for streams, 512 for same-load")
    chosen = parser.parse_args()
    endpoint = Supervisor().endpoint()
    if chosen.load == "endpoint":
        print(json.dumps({"root": endpoint.root, "model": endpoint.model, "api_key": endpoint.api_key}))
    elif chosen.load == "streams":
        streams(endpoint, chosen.out, chosen.tokens or 1024)
    elif chosen.load == "same-load":
        same_load(endpoint, chosen.out, chosen.streams, chosen.prompt_words, chosen.tokens or 512)
    else:
        crowd(endpoint, chosen.count)


if __name__ == "__main__":
    main()
