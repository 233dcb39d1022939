"""labtui's own commands, one after the other, on a machine with an NVIDIA GPU or with the practice checkpoint."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recording import Recorder
from results import rows_of, table

HERE = Path(__file__).parent
CHECKPOINT = "diffusiongemma-folder"
PRACTICE_CANVAS, CANVAS = 64, 256
FETCH = "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1], timeout=10).read().decode())"

Status = Mapping[str, Any]


class Driver:
    """model: the folder of DiffusionGemma; None: the practice checkpoint, to try the script where no GPU is.

    caps: most denoising steps of a canvas, in the first and in the second launch.
    """

    def __init__(self, recorder: Recorder, model: Path | None, flags: list[str], caps: tuple[int, int]) -> None:
        self.recorder = recorder
        self.model = model
        self.caps = caps
        self.practice = model is None
        self.random = model is not None and not any(model.glob("*.safetensors"))
        self.flags = [*(["--load-format", "dummy"] if self.random else []), *flags]
        self.url = "http://127.0.0.1:8000"
        self.log: Path | None = None
        kept = recorder.folder / "results.jsonl"
        self.results = rows_of(kept.read_text(encoding="utf-8")) if kept.exists() else []
        self._write_configuration()

    def _write_configuration(self) -> None:
        home = self.recorder.folder / "home"
        for kind in ("config", "data", "state"):
            (home / kind / "labtui").mkdir(parents=True, exist_ok=True)
            self.recorder.environment[f"XDG_{kind.upper()}_HOME"] = str(home / kind)
        if self.model is None:
            return
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
        canvas = PRACTICE_CANVAS if self.practice else CANVAS
        config = json.dumps({"canvas_length": canvas, "max_denoising_steps": cap or self.caps[0]})
        return [
            "--checkpoint",
            "practice" if self.practice else CHECKPOINT,
            "--json",
            "--",
            *self.flags,
            "--diffusion-config",
            config,
            *flags,
        ]

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

    def result(self, row: Mapping[str, Any]) -> None:
        """Kept at once: a line of results.jsonl, and the table of all so far."""
        self.recorder.line("results.jsonl", dict(row))
        self.results.append(dict(row))
        (self.recorder.folder / "results.md").write_text(table(self.results), encoding="utf-8")

    def pages(self, name: str) -> None:
        fetch = [sys.executable, "-c", FETCH, f"{self.url}/metrics"]
        self.recorder.command(f"{name}-metrics", fetch, 15, quiet=True)
        if self.practice:
            return
        self.recorder.command(f"{name}-nvidia-smi", ["nvidia-smi"], 15, quiet=True)

    def stop(self, name: str) -> None:
        self.lab(f"{name}-stop", "serve", "stop", "--json", limit_s=45)
        if self.log is not None:
            self.recorder.copy(self.log, f"{name}.log")
        self.recorder.command(f"{name}-left-processes", ["ps", "-eo", "pid,ppid,stat,args"], 10, quiet=True)
        if self.practice:
            return
        self.recorder.command(
            f"{name}-left-memory",
            ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader"],
            15,
        )
