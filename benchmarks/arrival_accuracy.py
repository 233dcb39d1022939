"""How exactly labtui times arrivals while its screen repaints: a server of a known timeline, a real terminal, streams.

    .venv/bin/python -m benchmarks.arrival_accuracy [--streams 1 4] [--requests 12] [--json]

The server runs in a process of its own and notes when it writes each event. The client runs inside a Textual app that
repaints its whole screen 30 times a second in a pseudo-terminal. Both use CLOCK_MONOTONIC, which all processes share.
Printed: by how much arrivals are later than the writing (the network of this machine included), by how much the
end-to-end rate differs from tokens ÷ (last event written − request sent), and how late the server came to read the
request, which is time that passed and no error of the client.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.fakes.vllm_stream import MODEL, Canvas, FakeVllm, Script

ROOT = Path(__file__).parents[1]
CANVASES = 8
GAP_S = 0.25
TOKENS = 256
SCREEN = (50, 160)
REPAINTS_PER_S = 30
WORTH_NAMING_S = 0.005
TIMELINE = Script(tuple(Canvas(GAP_S * (n + 1), TOKENS, f"canvas {n} " * 40) for n in range(CANVASES)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4], help="streams at once")
    parser.add_argument("--requests", type=int, default=12, help="requests of each stream")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", nargs=3, metavar=("URL", "STREAMS", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        url, streams, file = asked.inside
        run_inside_an_app(url, int(streams), asked.requests, Path(file))
        return
    results = [measure(streams, asked.requests) for streams in asked.streams]
    if asked.json:
        print(json.dumps(results, indent=2))
    else:
        for line in table(results):
            print(line)


def measure(streams: int, requests: int) -> dict[str, Any]:
    """One server, one app, so many streams at once."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = ours.recv()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "received.json"
        program = [sys.executable, "-m", "benchmarks.arrival_accuracy"]
        in_a_terminal([*program, "--requests", str(requests), "--inside", url, str(streams), str(file)])
        received = json.loads(file.read_text())
    ours.send("stop")
    written = ours.recv()
    server.join(timeout=10)
    return summary(streams, received, written)


def serve(pipe: Connection) -> None:
    with FakeVllm(TIMELINE) as fake:
        pipe.send(fake.url)
        pipe.recv()
        pipe.send([(one.asked, one.began, one.at, one.payload) for one in fake.written])


def in_a_terminal(command: Sequence[str]) -> None:
    import pexpect

    environment = {**os.environ, "TERM": "xterm-256color"}
    child = pexpect.spawn(command[0], list(command[1:]), dimensions=SCREEN, env=environment, cwd=str(ROOT), timeout=600)
    child.expect(pexpect.EOF)
    child.close()
    if child.exitstatus:
        last = (child.before or b"")[-2000:]
        raise SystemExit(f"the app inside the terminal ended with {child.exitstatus}: {last!r}")


def run_inside_an_app(url: str, streams: int, requests: int, file: Path) -> None:
    from textual.app import App, ComposeResult
    from textual.widgets import Static

    from exercises.client import stream_chat
    from exercises.endpoint import Endpoint
    from exercises.speed import speed_of

    received: list[dict[str, Any]] = []
    endpoint = Endpoint(url, None, MODEL, "practice", True)

    def one_stream(number: int) -> None:
        for request in range(requests):
            # Streams that always start together would always be idle together.
            time.sleep(0.037 * number)
            asked = f"stream {number}, request {request}"
            outcome = stream_chat(endpoint, [{"role": "user", "content": asked}], 4096)
            assert outcome.sent_at is not None
            rate = speed_of(outcome.timeline).end_to_end_tps
            received.append(
                {
                    "asked": asked,
                    "sent_at": outcome.sent_at,
                    "arrivals": [chunk.at_s for chunk in outcome.timeline.chunks],
                    "end_to_end_tps": rate if isinstance(rate, float) else None,
                    "clock": outcome.server["arrival_clock"],
                }
            )

    class Repainting(App[None]):
        repaints = 0

        def compose(self) -> ComposeResult:
            yield Static(id="wall")

        def on_mount(self) -> None:
            self.set_interval(1 / REPAINTS_PER_S, self.paint)
            self.run_worker(self.stream_all, thread=True)

        def paint(self) -> None:
            self.repaints += 1
            rows, columns = SCREEN
            letters = "abcdefghijklmnopqrstuvwxyz"
            at = self.repaints
            lines = (
                "".join(letters[(row * 7 + column * at) % 26] for column in range(columns - 2)) for row in range(rows)
            )
            self.query_one("#wall", Static).update("\n".join(lines))

        def stream_all(self) -> None:
            threads = [threading.Thread(target=one_stream, args=(number,)) for number in range(streams)]
            began = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.monotonic() - began
            file.write_text(json.dumps({"requests": received, "repaints_per_s": self.repaints / seconds}))
            self.call_from_thread(self.exit)

    Repainting().run()


def summary(streams: int, received: dict[str, Any], written: Sequence[tuple[str, float, float, str]]) -> dict[str, Any]:
    late: list[float] = []
    errors: list[float] = []
    begun: list[float] = []
    for request in received["requests"]:
        events = [one for one in written if one[0] == request["asked"] and '"content": "canvas' in one[3]]
        if len(events) != CANVASES or len(request["arrivals"]) != CANVASES:
            raise SystemExit(f"{request['asked']}: {len(request['arrivals'])} of {CANVASES} canvases arrived")
        each = [request["sent_at"] + at_s - one[2] for at_s, one in zip(request["arrivals"], events, strict=True)]
        for number, seconds in enumerate(each, 1):
            if seconds > WORTH_NAMING_S:
                print(f"{request['asked']}: canvas {number} is {seconds * 1000:.1f} ms late", file=sys.stderr)
        late += each
        begun.append(events[0][1] - request["sent_at"])
        truth = CANVASES * TOKENS / (events[-1][2] - request["sent_at"])
        errors.append(abs(request["end_to_end_tps"] - truth) / truth)
    return {
        "streams": streams,
        "requests": len(received["requests"]),
        "canvases": len(late),
        "repaints_per_s": received["repaints_per_s"],
        "clock": received["requests"][0]["clock"],
        "late_ms": {name: percentile(late, share) * 1000 for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1))},
        "end_to_end_error": {"median": percentile(errors, 0.5), "max": max(errors)},
        "request_read_after_ms": {"p50": percentile(begun, 0.5) * 1000, "max": max(begun) * 1000},
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def table(results: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        "| streams | canvases | repaints/s | clock | late p50 | late p99 | late max | end-to-end error, median | max "
        "| request read after, p50 | max |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in results:
        late, error = one["late_ms"], one["end_to_end_error"]
        lines.append(
            f"| {one['streams']} | {one['canvases']} | {one['repaints_per_s']:.0f} | {one['clock']} | "
            f"{late['p50']:.2f} ms | {late['p99']:.2f} ms | {late['max']:.2f} ms | "
            f"{error['median'] * 100:.3f} % | {error['max'] * 100:.3f} % | "
            f"{one['request_read_after_ms']['p50']:.2f} ms | {one['request_read_after_ms']['max']:.2f} ms |"
        )
    return lines


if __name__ == "__main__":
    main()
