"""One sitting with labtui on a machine with an NVIDIA GPU: plan, serve, measure, compare, break on purpose, stop.

    python benchmarks/h200/session.py --work DIR --model FOLDER [--bundle FILE] [--steps look,first,...] [-- VLLM FLAGS]

FOLDER holds config.json, tokenizer and processor of DiffusionGemma 26B-A4B. Without weight files in it the weights are
random (--load-format dummy): memory, log lines, streams and the time of a denoising step are real, every answer is
noise. Everything is written to DIR as it happens, and packed into FILE after each step, so that a kill loses little.
Each step has its own time limit; --within limits them all, and a step that would not fit into the rest is left out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from math import ceil
from pathlib import Path
from typing import Any

from recording import Recorder

HERE = Path(__file__).parent
CHECKPOINT = "diffusiongemma-folder"
TOO_LITTLE = 0.39
"""Utilization at which the weights fit into an H200 and one request of 262,144 tokens does not."""
TOO_MUCH = 0.97
TOO_MANY = 24
"""A utilization and a number of requests at once for which the sampler of vLLM 0.26 has no room on an H200."""
FETCH = "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1], timeout=10).read().decode())"

H200_GIB = 139.8
AS_FIRST = ("--kv-cache-dtype", "auto", "--max-num-batched-tokens", "8192")
"""What the first launch gets by itself: said, so that a plan short of memory does not turn to other settings."""
RAISED = "raised-utilization.txt"

Status = Mapping[str, Any]


class Session:
    def __init__(self, recorder: Recorder, model: Path, flags: list[str], steps_cap: tuple[int, int]) -> None:
        self.recorder = recorder
        self.model = model
        self.caps = steps_cap
        self.random = not any(model.glob("*.safetensors"))
        self.flags = [*(["--load-format", "dummy"] if self.random else []), *flags]
        self.url = "http://127.0.0.1:8000"
        self.log: Path | None = None
        self._write_configuration()

    def _write_configuration(self) -> None:
        home = self.recorder.folder / "home"
        for kind in ("config", "data", "state"):
            (home / kind / "labtui").mkdir(parents=True, exist_ok=True)
            self.recorder.environment[f"XDG_{kind.upper()}_HOME"] = str(home / kind)
        table = home / "config" / "labtui" / "checkpoints.toml"
        table.write_text(
            f"""format_version = 1
[[checkpoint]]
id = "{CHECKPOINT}"
title = "DiffusionGemma 26B-A4B{", random weights" if self.random else ""}"
model = "{self.model.resolve()}"
served_name = "{CHECKPOINT}"
practice = false
precision = "bf16"
architecture = "gemma4-26b-a4b"
canvas = 256
disk_gb = 51.7
resident_gib = 48.58
min_compute_capability = "8.0"
native_compute_capability = "8.0"
min_vllm = "0.24.0"
source = "benchmarks/h200"
"""
        )
        (home / "config" / "labtui" / "config.toml").write_text(f'checkpoints = ["{table}"]\n')

    # --- what each step is made of

    def lab(self, name: str, *words: str, limit_s: float = 30) -> str:
        return self.recorder.command(name, [sys.executable, "-m", "labtui", *words], limit_s)

    def load(self, name: str, *words: str, limit_s: float) -> str:
        return self.recorder.command(name, [sys.executable, str(HERE / "loads.py"), *words], limit_s)

    def plan_words(self, *flags: str, cap: int | None = None) -> list[str]:
        steps = cap or self.caps[0]
        config = json.dumps({"canvas_length": 256, "max_denoising_steps": steps})
        return ["--checkpoint", CHECKPOINT, "--json", "--", *self.flags, "--diffusion-config", config, *flags]

    def serve(self, name: str, words: list[str], limit_s: float, *, anyway: bool = False) -> Status:
        """Start, follow with `serve status` until it is ready or gone. The stages go into NAME-stages.jsonl.

        anyway: where labtui refuses, because an estimate says no, it is told to start all the same.
        """
        self.lab(f"{name}-start", "serve", "start", *words)
        if anyway and self.recorder.code != 0:
            self.lab(f"{name}-start-anyway", "serve", "start", "--anyway", *words)
        return self.follow(name, ("ready", "stopped"), limit_s)

    def follow(self, name: str, until: tuple[str, ...], limit_s: float) -> Status:
        deadline = time.monotonic() + min(limit_s, self.recorder.left_s - 10)
        last = ""
        while True:
            status: Status = {}
            text = self.recorder.command(
                f"{name}-status", [sys.executable, "-m", "labtui", "serve", "status", "--json"], 20, quiet=True
            )
            try:
                status = json.loads(text)
            except ValueError:
                self.recorder.say(f"{name}: status is no JSON: {text[:200]}")
            self.recorder.line(f"{name}-stages.jsonl", status)
            now = f"{status.get('state')} · {status.get('stage')}"
            if now != last:
                self.recorder.say(f"{name}: {now} after {status.get('since_s')} s")
                last = now
            self.url = status.get("url") or self.url
            if status.get("log"):
                self.log = Path(status["log"])
                self.recorder.copy(self.log, f"{name}.log")
            if status.get("state") in until or time.monotonic() > deadline:
                return status
            time.sleep(1)

    def pages(self, name: str) -> None:
        fetch = [sys.executable, "-c", FETCH, f"{self.url}/metrics"]
        self.recorder.command(f"{name}-metrics", fetch, 15, quiet=True)
        self.recorder.command(f"{name}-nvidia-smi", ["nvidia-smi"], 15, quiet=True)

    def stop(self, name: str) -> None:
        self.lab(f"{name}-stop", "serve", "stop", "--json", limit_s=45)
        if self.log is not None:
            self.recorder.copy(self.log, f"{name}.log")
        self.recorder.command(f"{name}-left-processes", ["ps", "-eo", "pid,ppid,stat,args"], 10, quiet=True)
        self.recorder.command(
            f"{name}-left-memory",
            ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader"],
            15,
        )

    # --- the steps

    def look(self) -> None:
        self.lab("doctor", "doctor")
        self.lab("doctor-json", "doctor", "--json")
        for checkpoint in ("bf16", "fp8"):
            self.lab(f"plan-{checkpoint}", "serve", "plan", "--checkpoint", checkpoint, "--json")
        self.lab("plan-default", "serve", "plan")
        self.lab("plan-folder", "serve", "plan", *self.plan_words())

    def first(self) -> None:
        status = self.serve("first", self.plan_words(), 330)
        self.pages("first-idle")
        if status.get("state") != "ready":
            self.lab("first-diagnose", "diagnose", str(self.recorder.folder / "first.log"), "--json")
            raise SystemExit("the first launch did not become ready")

    def measure(self, name: str = "first", runs: int = 5, warmup: int = 2) -> None:
        for task in ("coding", "vision"):
            self.lab(
                f"{name}-{task}", "run", task, "--runs", str(runs), "--warmup", str(warmup), "--seed", "11", "--json",
                limit_s=150,
            )  # fmt: skip
        self.pages(f"{name}-measured")

    def streams(self) -> None:
        self.load("streams", "streams", "--out", str(self.recorder.folder / "streams.json"), limit_s=120)
        self.pages("first-streams")

    def compare(self) -> None:
        words = ["same-load", "--out", str(self.recorder.folder / "same-load.json"), "--streams"]
        self.load("same-load", *words, str(self.recorder.folder), limit_s=90)
        endpoint = json.loads(self.load("endpoint", "endpoint", limit_s=20))
        self.recorder.environment["OPENAI_API_KEY"] = endpoint["api_key"]
        self.recorder.command(
            "vllm-bench-serve",
            [
                sys.executable, "-m", "vllm.entrypoints.cli.main", "bench", "serve", "--backend", "openai-chat",
                "--base-url", endpoint["root"], "--endpoint", "/v1/chat/completions", "--model", endpoint["model"],
                "--tokenizer", str(self.model), "--dataset-name", "random", "--random-input-len", "4096",
                "--random-output-len", "512", "--ignore-eos", "--max-concurrency", "1", "--num-prompts", "10",
                "--num-warmups", "1", "--percentile-metrics", "ttft,tpot,itl,e2el", "--save-result", "--save-detailed",
                "--result-dir", str(self.recorder.folder), "--result-filename", "vllm-bench-serve.json",
                "--disable-tqdm",
            ],
            120,
        )  # fmt: skip
        self.pages("first-compared")

    def stop_first(self) -> None:
        self.stop("first")

    def crowded(self) -> None:
        """More requests at once than the sampler has memory for."""
        flags = [
            "--gpu-memory-utilization",
            str(TOO_MUCH),
            "--max-num-seqs",
            str(TOO_MANY),
            "--enforce-eager",
            *AS_FIRST,
        ]
        words = self.plan_words(*flags, "--limit-mm-per-prompt", '{"image": 0, "video": 0}')
        self.lab("crowded-plan", "serve", "plan", *words)
        status = self.serve("crowded", words, 130, anyway=True)
        if status.get("state") == "ready":
            self.load("crowded-load", "crowd", "--count", str(TOO_MANY), limit_s=60)
            status = self.follow("crowded", ("stopped",), 15)
        self.after_death("crowded")

    def too_long(self) -> None:
        """A context for which no KV cache is left."""
        flags = ["--gpu-memory-utilization", str(TOO_LITTLE), "--max-model-len", "262144", *AS_FIRST]
        words = self.plan_words(*flags)
        self.lab("too-long-plan", "serve", "plan", *words)
        self.serve("too-long", words, 130, anyway=True)
        causes = self.after_death("too-long")
        found = re.search(r"needs ([\d.]+) GiB, ([\d.]+) GiB are there", json.dumps(causes))
        if found:
            short = float(found.group(1)) - float(found.group(2))
            enough = ceil((TOO_LITTLE + short / H200_GIB) * 100) / 100
            (self.recorder.folder / RAISED).write_text(str(enough))
            self.recorder.say(f"too-long: of its fixes a higher utilization is tried next: {enough}")

    def after_death(self, name: str) -> Any:
        self.lab(f"{name}-after", "serve", "status", "--json")
        text = self.lab(f"{name}-diagnose", "diagnose", str(self.recorder.folder / f"{name}.log"), "--json")
        self.recorder.say(f"{name}: {text[:700]}")
        self.stop(name)
        try:
            return json.loads(text)
        except ValueError:
            return {}

    def second(self) -> None:
        """The launch that the diagnosis of the one before asks for, with the other cap on denoising steps."""
        raised = self.recorder.folder / RAISED
        utilization = raised.read_text() if raised.exists() else "0.5"
        flags = ["--gpu-memory-utilization", utilization, "--max-model-len", "262144", *AS_FIRST]
        self.serve("second", self.plan_words(*flags, cap=self.caps[1]), 200, anyway=True)
        self.pages("second-idle")

    def measure_second(self) -> None:
        self.measure("second", runs=3, warmup=1)

    def streams_second(self) -> None:
        self.load("streams-second", "streams", "--out", str(self.recorder.folder / "streams-second.json"), limit_s=100)
        self.pages("second-streams")

    def stop_second(self) -> None:
        self.stop("second")

    def keep(self) -> None:
        """All runs as labtui keeps them, one computed again from its chunks, and a copy of the store."""
        text = self.lab("runs", "runs", "--limit", "200", "--json")
        for run in json.loads(text)[:1]:
            self.lab("recomputed", "show", run["id"], "--recompute")
        (self.recorder.folder / "lab.db").unlink(missing_ok=True)
        self.lab("store-backup", "store", "backup", str(self.recorder.folder / "lab.db"))


STEPS: Mapping[str, tuple[Callable[[Session], None], float]] = {
    "look": (Session.look, 20),
    "first": (Session.first, 120),
    "measure": (Session.measure, 40),
    "streams": (Session.streams, 30),
    "compare": (Session.compare, 60),
    "stop-first": (Session.stop_first, 8),
    "crowded": (Session.crowded, 75),
    "too-long": (Session.too_long, 60),
    "second": (Session.second, 25),
    "measure-second": (Session.measure_second, 40),
    "streams-second": (Session.streams_second, 50),
    "stop-second": (Session.stop_second, 8),
    "keep": (Session.keep, 15),
}
"""Each with the seconds that it needs at least."""


def main() -> None:
    words = sys.argv[1:]
    own, flags = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="where everything is written")
    parser.add_argument("--model", type=Path, required=True, help="the model folder")
    parser.add_argument("--bundle", type=Path, help="a .tar.gz of it all, rewritten after each step")
    parser.add_argument("--steps", default=",".join(STEPS), help="which of: %(default)s")
    parser.add_argument("--within", type=float, default=3600, help="seconds for all steps")
    parser.add_argument("--caps", default="16,48", help="most denoising steps of the first and the second launch")
    chosen = parser.parse_args(own)
    first, second = (int(part) for part in chosen.caps.split(","))
    recorder = Recorder(chosen.work, chosen.bundle, chosen.within)
    session = Session(recorder, chosen.model, flags, (first, second))
    with recorder:
        for name in chosen.steps.split(","):
            step, needs_s = STEPS[name]
            if recorder.left_s < needs_s:
                recorder.say(f"-- {name} is left out: {recorder.left_s:.0f} s are left, it needs {needs_s:.0f}")
                continue
            recorder.step(name, lambda step=step: step(session))  # type: ignore[misc]


if __name__ == "__main__":
    main()
