"""The first sitting: bf16, the same load by other clients, two launches that fail on purpose, another cap on steps."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

from driving import Driver

TOO_LITTLE = 0.39
"""Utilization at which the weights fit into an H200 and one request of 262,144 tokens does not."""
TOO_MUCH = 0.97
TOO_MANY = 24
"""A utilization and a number of requests at once for which the sampler of vLLM 0.26 has no room on an H200."""
H200_GIB = 139.8
AS_FIRST = ("--kv-cache-dtype", "auto", "--max-num-batched-tokens", "8192")
"""What the first launch gets by itself: said, so that a plan short of memory does not turn to other settings."""
RAISED = "raised-utilization.txt"


class Bf16(Driver):
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
            raise RuntimeError("the first launch did not become ready")

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


BF16_STEPS: Mapping[str, tuple[Callable[[Bf16], None], float, float]] = {
    "look": (Bf16.look, 20, 60),
    "first": (Bf16.first, 120, 340),
    "measure": (Bf16.measure, 40, 310),
    "streams": (Bf16.streams, 30, 130),
    "compare": (Bf16.compare, 60, 240),
    "stop-first": (Bf16.stop_first, 8, 60),
    "crowded": (Bf16.crowded, 75, 260),
    "too-long": (Bf16.too_long, 60, 260),
    "second": (Bf16.second, 25, 220),
    "measure-second": (Bf16.measure_second, 40, 310),
    "streams-second": (Bf16.streams_second, 50, 110),
    "stop-second": (Bf16.stop_second, 8, 60),
    "keep": (Bf16.keep, 15, 90),
}
"""Each with the seconds that it needs at least, and the most that it gets."""
