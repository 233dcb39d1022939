"""What the first sitting left: fp8 with FlashAttention 4 at both caps, sweeps, and the shorter context as the remedy.

On the practice checkpoint the same steps run without a GPU and without fp8, to try the script beforehand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from driving import Driver
from results import sweep_rows, trial_id, trial_row

FP8_TOO_LITTLE = 0.23
"""Utilization at which fp8 weights (25.8 GiB) fit into an H200 and one request of 262,144 tokens does not."""
TOO_FEW_BYTES = 1_500_000
"""Of KV cache, for one request of 1,024 tokens of the practice checkpoint."""
STREAMS = "1,2,3,4"


class Fp8(Driver):
    @property
    def precision(self) -> list[str]:
        return [] if self.practice else ["--quantization", "fp8"]

    def look(self) -> None:
        self.lab("doctor", "doctor")
        self.lab("fp8-plan", "serve", "plan", *self.plan_words(*self.precision))

    def serve_capped(self, number: int) -> None:
        name = self.name(number)
        status = self.serve(name, self.plan_words(*self.precision, cap=self.caps[number]), 330)
        self.pages(f"{name}-idle")
        self.result({"what": f"{name} ready", "ready after s": status.get("ready_after_s"), "state": status["state"]})
        if status.get("state") != "ready":
            self.lab(f"{name}-diagnose", "diagnose", str(self.recorder.folder / f"{name}.log"), "--json")
            raise RuntimeError(f"{name} did not become ready")

    def tasks(self, number: int) -> None:
        name = self.name(number)
        for task in ("coding", "vision"):
            text = self.lab(
                f"{name}-{task}", "run", task, "--runs", "6", "--warmup", "2", "--seed", "11", "--json", limit_s=90
            )
            self.result(trial_row(f"{name} {task}", text))
            (self.recorder.folder / f"{name}-{task}-trial.txt").write_text(trial_id(text) or "")
        self.pages(f"{name}-tasks")

    def streams(self, number: int) -> None:
        """One to four requests at once, by labtui's own sweep."""
        self.sweep(number, "concurrency", "coding", "--points", STREAMS, "--runs", "2")

    def kinds(self, number: int) -> None:
        self.sweep(number, "kinds", "--runs", "2")

    def steps(self, number: int) -> None:
        """vLLM takes a cap by request from 0.32 on. Before, this says so, and the two launches are the points."""
        self.sweep(number, "steps", "coding", "--points", ",".join(map(str, (*self.caps, sum(self.caps) // 2))))

    def sweep(self, number: int, axis: str, *words: str) -> None:
        name = f"{self.name(number)}-{axis}"
        task, options = ([words[0]], words[1:]) if not words[0].startswith("-") else ([], words)
        text = self.lab(name, "run", *task, "--sweep", axis, *options, "--seed", "23", "--json", limit_s=120)
        for row in sweep_rows(name, text):
            self.result(row)
        self.pages(name)

    def bundles(self, number: int) -> None:
        """The newest run of each task with its raw stream, each read back, and the server's log while it answered."""
        runs = json.loads(self.lab("bundle-runs", "runs", "--limit", "100", "--json"))
        for task in ("coding", "vision"):
            newest = next((run["id"] for run in runs if run["task"] == task), None)
            if newest is not None:
                file = self.recorder.folder / f"{self.name(number)}-{task}-bundle.json"
                self.lab(f"bundle-{task}", "show", newest, "--bundle", str(file))
                self.lab(f"bundle-{task}-read", "measure", str(file), "--json")
        if self.log is not None:
            self.recorder.copy(self.log, f"{self.name(number)}-requests.log")

    def stop_served(self, number: int) -> None:
        self.stop(self.name(number))

    def too_long(self) -> None:
        """More context than the cache has room for, then the launch that the diagnosis asks for."""
        if self.practice:
            flags = ["--kv-cache-memory-bytes", str(TOO_FEW_BYTES), "--max-model-len", "1024"]
        else:
            share = ["--gpu-memory-utilization", str(FP8_TOO_LITTLE), "--kv-cache-dtype", "auto"]
            flags = [*self.precision, *share, "--max-model-len", "262144", "--max-num-batched-tokens", "8192"]
        status = self.serve("too-long", self.plan_words(*flags), 120, anyway=True)
        self.lab("too-long-diagnose", "diagnose", str(self.recorder.folder / "too-long.log"), "--json")
        self.result({"what": "too long a context", "state": status.get("state")})

    def shorter(self) -> None:
        """`--fix` starts again with the one change that the diagnosis of the dead launch names."""
        text = self.lab("shorter-start", "serve", "start", "--fix", "--json", limit_s=60)
        if self.recorder.code != 0:
            text = self.lab("shorter-start-anyway", "serve", "start", "--fix", "--anyway", "--json", limit_s=60)
        if self.recorder.code != 0:
            raise RuntimeError(f"--fix did not start: {text[-200:]}")
        status = self.follow("shorter", ("ready", "stopped"), 150)
        self.lab(
            "shorter-answers", "run", "coding", "--runs", "1", "--warmup", "0", "--seed", "11", "--json", limit_s=60
        )
        self.result(
            {
                "what": "the shorter context",
                "state": status.get("state"),
                "ready after s": status.get("ready_after_s"),
                "answered": self.recorder.code in (0, 1),
            }
        )
        self.stop("shorter")

    def compare(self) -> None:
        """The two caps side by side. With random weights this is time, never quality."""
        first, second = ((self.recorder.folder / f"{self.name(at)}-coding-trial.txt").read_text() for at in (0, 1))
        self.lab("compared", "compare", first, second)
        self.lab("compared-json", "compare", first, second, "--json")

    def keep(self) -> None:
        self.lab("runs", "runs", "--limit", "500", "--json")
        self.lab("sweeps", "sweeps", "--json")
        (self.recorder.folder / "lab.db").unlink(missing_ok=True)
        self.lab("store-backup", "store", "backup", str(self.recorder.folder / "lab.db"))

    def name(self, number: int) -> str:
        return f"{'practice' if self.practice else 'fp8'}-{self.caps[number]}"


def _of(step: Callable[[Fp8, int], None], number: int) -> Callable[[Fp8], None]:
    return lambda session: step(session, number)


FP8_STEPS: Mapping[str, tuple[Callable[[Fp8], None], float, float]] = {
    "fp8-look": (Fp8.look, 10, 25),
    "fp8-start": (_of(Fp8.serve_capped, 0), 120, 300),
    "fp8-tasks": (_of(Fp8.tasks, 0), 30, 80),
    "fp8-streams": (_of(Fp8.streams, 0), 30, 80),
    "fp8-kinds": (_of(Fp8.kinds, 0), 20, 50),
    "fp8-bundles": (_of(Fp8.bundles, 0), 10, 25),
    "fp8-stop": (_of(Fp8.stop_served, 0), 5, 25),
    "fp8-start-again": (_of(Fp8.serve_capped, 1), 40, 140),
    "fp8-tasks-again": (_of(Fp8.tasks, 1), 40, 90),
    "fp8-streams-again": (_of(Fp8.streams, 1), 40, 75),
    "fp8-steps": (_of(Fp8.steps, 1), 30, 60),
    "fp8-stop-again": (_of(Fp8.stop_served, 1), 5, 20),
    "fp8-too-long": (Fp8.too_long, 40, 95),
    "fp8-shorter": (Fp8.shorter, 30, 100),
    "fp8-compare": (Fp8.compare, 5, 15),
    "fp8-keep": (Fp8.keep, 5, 20),
}
"""Each with the seconds that it needs at least, and the most that it gets; together 20 minutes at most."""
