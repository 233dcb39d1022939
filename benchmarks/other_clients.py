"""Benchmark programs of others, run as their own processes: what each says about the same prompts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from exercises.endpoint import Endpoint
from labtui.serving.vllm_cpu.environment import child_environment

LIMIT_S = 1800
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
"""Not for aiperf: offline it takes a folder for a name on the hub."""


class Unusable(Exception):
    """Why a client could not be run, in words."""


Result = tuple[list[float], dict[str, Any]]
Client = Callable[[Endpoint, Sequence[str], int, Path, Path | None], Result]


def vllm_bench_serve(
    endpoint: Endpoint, prompts: Sequence[str], max_tokens: int, folder: Path, others: Path | None
) -> Result:
    """Rates are output tokens ÷ (time to first token + all inter-token latencies), as it saves them by request."""
    program = Path(sys.executable).parent / "vllm"
    if not program.exists():
        raise Unusable("vLLM is not installed in this environment")
    if find_spec("pandas") is None:
        raise Unusable("it reads prompts with pandas, which Python does not find (benchmarks/README.md)")
    data = folder / "prompts.jsonl"
    data.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts))
    weights = str(endpoint.evidence.get("model") or endpoint.model)
    command = [
        *(str(program), "bench", "serve", "--backend", "openai-chat", "--base-url", endpoint.root),
        *("--endpoint", "/v1/chat/completions", "--model", endpoint.model, "--tokenizer", weights),
        *("--dataset-name", "custom", "--dataset-path", str(data), "--custom-output-len", str(max_tokens)),
        *("--skip-chat-template", "--disable-shuffle", "--num-prompts", str(len(prompts)), "--max-concurrency", "1"),
        *("--percentile-metrics", "ttft,tpot,itl,e2el", "--save-result", "--save-detailed", "--disable-tqdm"),
        *("--result-dir", str(folder), "--result-filename", "vllm.json"),
    ]
    _run(command, endpoint, {**child_environment(), **OFFLINE})
    saved = json.loads((folder / "vllm.json").read_text())
    rates = [
        tokens / (ttft + sum(itl))
        for tokens, ttft, itl in zip(saved["output_lens"], saved["ttfts"], saved["itls"], strict=True)
        if tokens and ttft
    ]
    return rates, {
        "output throughput": f"{saved['output_throughput']:.1f} tok/s",
        "median TPOT": f"{saved['median_tpot_ms']:.2f} ms",
        "median ITL": f"{saved['median_itl_ms']:.2f} ms",
    }


def guidellm(endpoint: Endpoint, prompts: Sequence[str], max_tokens: int, folder: Path, others: Path | None) -> Result:
    program = _program("guidellm", others)
    data = folder / "guidellm.jsonl"
    # With a wanted number of output tokens it asks the server to ignore the end of an answer.
    data.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts))
    report = folder / "guidellm.json"
    weights = str(endpoint.evidence.get("model") or endpoint.model)
    backend = {"kind": "openai_http", "target": endpoint.root, "model": endpoint.model, "api_key": endpoint.api_key}
    command = [
        *(str(program), "run", "--backend", json.dumps({name: value for name, value in backend.items() if value})),
        *("--profile", "kind=synchronous", "--constraint", f"kind=max_requests,count={len(prompts)}"),
        *("--tokenizer", json.dumps({"kind": "hf_auto", "model": weights})),
        *("--data", json.dumps({"kind": "json_file", "path": str(data)})),
        *("--output", json.dumps({"kind": "json", "path": str(report)}), "--disable-console"),
    ]
    _run(command, endpoint, OFFLINE)
    (benchmark,) = json.loads(report.read_text())["benchmarks"]
    done = benchmark["requests"]["successful"]
    rates = [
        one["output_tokens"] / one["request_latency"] for one in done if one["output_tokens"] and one["request_latency"]
    ]
    metrics = benchmark["metrics"]

    def median(name: str) -> float:
        return float(metrics[name]["successful"]["median"])

    return rates, {
        "output tok/s": f"{median('output_tokens_per_second'):.1f}",
        "median TPOT": f"{median('time_per_output_token_ms'):.2f} ms",
        "median ITL": f"{median('inter_token_latency_ms'):.2f} ms",
    }


def aiperf(endpoint: Endpoint, prompts: Sequence[str], max_tokens: int, folder: Path, others: Path | None) -> Result:
    program = _program("aiperf", others)
    data = folder / "aiperf.jsonl"
    data.write_text("".join(json.dumps({"text": prompt}) + "\n" for prompt in prompts))
    weights = str(endpoint.evidence.get("model") or endpoint.model)
    out = folder / "aiperf"
    command = [
        *(str(program), "profile", "--model", endpoint.model, "--url", endpoint.root, "--endpoint-type", "chat"),
        *("--streaming", "--tokenizer", weights, "--input-file", str(data), "--custom-dataset-type", "single_turn"),
        *("--request-count", str(len(prompts)), "--concurrency", "1", "--use-server-token-count"),
        *("--extra-inputs", f"max_tokens:{max_tokens}", "--artifact-dir", str(out), "--ui", "none"),
        *(["--api-key", endpoint.api_key] if endpoint.api_key else []),
    ]
    _run(command, endpoint, {})
    lines = (out / "profile_export.jsonl").read_text().splitlines()
    metrics = [json.loads(line)["metrics"] for line in lines]
    rates = [
        one["output_sequence_length"]["value"] / (one["request_latency"]["value"] / 1000)
        for one in metrics
        if one.get("output_sequence_length") and one.get("request_latency")
    ]
    summary = json.loads((out / "profile_export_aiperf.json").read_text())
    named = {
        "per user": ("output_token_throughput_per_user", "tok/s"),
        "median ITL": ("inter_token_latency", "ms"),
    }
    also = {
        name: f"{summary[key]['p50']:.2f} {unit}" if summary.get(key) else "nothing"
        for name, (key, unit) in named.items()
    }
    return rates, also


CLIENTS: Mapping[str, Client] = {"vllm bench serve": vllm_bench_serve, "guidellm": guidellm, "aiperf": aiperf}


def _program(name: str, others: Path | None) -> Path:
    if others is None:
        raise Unusable("no environment was named with --others")
    program = others.expanduser().resolve() / "bin" / name
    if not program.exists():
        raise Unusable(f"it is not in {others}")
    return program


def _run(command: Sequence[str], endpoint: Endpoint, more: Mapping[str, str]) -> None:
    environment = {**os.environ, **more, "NO_COLOR": "1"}
    if endpoint.api_key:
        environment["OPENAI_API_KEY"] = endpoint.api_key
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Unusable(f"it was not done after {LIMIT_S} s") from None
    if done.returncode:
        words = re.sub(r"\s+", " ", (done.stderr or done.stdout)[-600:])
        if endpoint.api_key:
            words = words.replace(endpoint.api_key, "[api key]")
        raise Unusable(f"it ended with {done.returncode}: {words}")
