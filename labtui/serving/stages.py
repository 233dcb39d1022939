"""Where a starting vLLM stands, read from its log.

The patterns are those of vLLM 0.24 to 0.33. An unknown line changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Matched = re.Match[str]

PREFIX = re.compile(
    r"^(?:\((?P<process>[\w-]+) pid=(?P<pid>\d+)\) )*"
    r"(?:(?P<level>[A-Z]+) (?P<time>\d\d-\d\d \d\d:\d\d:\d\d) \[(?P<source>[^\]]+)\] )?"
)


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a start. words: what a person reads. order: a start never goes back."""

    id: str
    words: str
    order: int


_WORDS: Mapping[str, str] = {
    "launch": "starting Python",
    "config": "reading the configuration",
    "engine": "starting the engine",
    "load": "preparing the model",
    "download": "downloading weights",
    "weights": "loading weights",
    "resident": "weights are loaded",
    "compile": "compiling",
    "profile": "measuring memory",
    "kv-cache": "making the KV cache",
    "autotune": "tuning kernels",
    "graphs": "capturing CUDA graphs",
    "engine-ready": "warming the engine up",
    "api": "starting the API",
    "complete": "start-up complete",
}
STAGES: Mapping[str, Stage] = {name: Stage(name, words, order) for order, (name, words) in enumerate(_WORDS.items())}

Fact = Callable[[Matched], float | int | str]


@dataclass(frozen=True, slots=True)
class Sign:
    """A log line that shows a stage, a fact, or both. share: the group with the percentage that is done."""

    pattern: re.Pattern[str]
    stage: str | None = None
    share: str | None = None
    facts: Mapping[str, Fact] | None = None


def _number(group: str) -> Fact:
    return lambda match: float(match.group(group).replace(",", ""))


def _whole(group: str) -> Fact:
    return lambda match: int(match.group(group).replace(",", ""))


def _text(group: str) -> Fact:
    return lambda match: match.group(group)


def _sign(pattern: str, stage: str | None = None, *, share: str | None = None, **facts: Fact) -> Sign:
    return Sign(re.compile(pattern), stage, share, facts or None)


SIGNS: tuple[Sign, ...] = (
    _sign(r"version (?P<v>\d+\.\d+\S*)\s*$", "config", version=_text("v")),
    _sign(r"vLLM server version (?P<v>\S+?),", "config", version=_text("v")),
    _sign(r"^non-default args: ", "config"),
    _sign(r"^Resolved architecture: (?P<a>\S+)", "config", architecture=_text("a")),
    _sign(r"^Using max model len (?P<n>\d+)", "config", max_model_len=_whole("n")),
    _sign(
        r"Initializing a V1 LLM engine \(v(?P<v>[^)]+)\) with config",
        "engine",
        version=_text("v"),
    ),
    _sign(r"world_size=\d+ rank=\d+", "engine"),
    _sign(r"^Using V2 Model Runner", "load"),
    _sign(r"^(?:Loading model from scratch|Starting to load model)", "load"),
    _sign(r"Using AttentionBackendEnum\.(?P<b>\w+) backend", "load", attention_backend=_text("b")),
    _sign(r"Using (?P<b>\w+) attention backend out of", "load", attention_backend=_text("b")),
    _sign(r"Time spent downloading weights for \S+: (?P<s>[\d.]+) seconds", "weights", download_s=_number("s")),
    _sign(
        r"Checkpoint size: (?P<g>[\d.]+) GiB\. Available RAM",
        "weights",
        checkpoint_gib=_number("g"),
    ),
    _sign(r"Loading (?:safetensors|pt) checkpoint shards:\s+(?P<p>\d+)%", "weights", share="p"),
    _sign(r"Loading safetensors using \w+ loader:\s+(?P<p>\d+)%", "weights", share="p"),
    _sign(r"Prefetching checkpoint files: (?P<p>\d+)%", "weights", share="p"),
    _sign(r"Loading weights took (?P<s>[\d.]+) seconds", "weights", weights_read_s=_number("s")),
    _sign(
        r"Model loading took (?P<g>-?[\d.]+) GiB(?: memory)? and (?P<s>[\d.]+) seconds",
        "resident",
        weights_gib=_number("g"),
        load_s=_number("s"),
    ),
    _sign(r"Using cache directory: \S+ for vLLM's torch.compile", "compile"),
    _sign(r"Dynamo bytecode transform time", "compile"),
    _sign(r"Compiling a graph for compile range", "compile"),
    _sign(r"Warming up model for the compilation", "compile"),
    _sign(r"Directly load AOT compilation from path", "compile"),
    _sign(r"torch\.compile took (?P<s>[\d.]+) s in total", "compile", compile_s=_number("s")),
    _sign(r"Initial profiling/warmup run took", "profile"),
    _sign(r"Available KV cache memory: (?P<g>-?[\d.]+) GiB", "profile", kv_available_gib=_number("g")),
    _sign(
        r"(?P<d>\w+) KV cache size: (?P<n>[\d,]+) tokens",
        "kv-cache",
        kv_tokens=_whole("n"),
    ),
    _sign(
        r"Maximum concurrency for (?P<l>[\d,]+) tokens per request: (?P<x>[\d.]+)x",
        "kv-cache",
        max_concurrency=_number("x"),
        max_model_len=_whole("l"),
    ),
    _sign(r"\[Autotuner\]: Autotuning process starts", "autotune"),
    _sign(r"\[AutoTuner\]: Tuning .*?(?P<p>\d+)%", "autotune", share="p"),
    _sign(r"Capturing CUDA graphs \(\w+\):\s+(?P<p>\d+)%", "graphs", share="p"),
    # The warm-up that follows says nothing, and took 33 s on an H200 where nothing was compiled yet.
    _sign(
        r"Graph capturing finished in (?P<s>\d+) secs, took (?P<g>-?[\d.]+) GiB",
        "engine-ready",
        graphs_s=_number("s"),
        graphs_gib=_number("g"),
    ),
    _sign(
        r"Free memory on device \((?P<f>[\d.]+)/(?P<t>[\d.]+) GiB\) on startup\. "
        r"Desired GPU memory utilization is \((?P<u>[\d.]+),",
        device_free_gib=_number("f"),
        device_total_gib=_number("t"),
        utilization=_number("u"),
    ),
    _sign(
        r"Actual usage is (?P<w>[\d.]+) GiB for weight, (?P<a>[\d.]+) GiB for peak activation, "
        r"(?P<o>[\d.]+) GiB for non-torch memory(?:, and (?P<c>-?[\d.]+) GiB for CUDAGraph memory)?",
        activation_gib=_number("a"),
        non_torch_gib=_number("o"),
    ),
    _sign(
        r"init engine \(profile, create kv cache, warmup model\) took (?P<s>[\d.]+) s",
        "engine-ready",
        engine_s=_number("s"),
    ),
    _sign(r"^Supported tasks: ", "api"),
    _sign(r"Starting vLLM server on (?P<u>http\S+)", "api", url=_text("u")),
    _sign(r"Application startup complete\.", "complete"),
)

_MULTIMODAL = re.compile(r"Multi-modal warmup completed in (?P<s>[\d.]+)s")
_SHUTDOWN = re.compile(
    r"\[shutdown\]|^(?:INFO:\s+)?Shutting down$|EngineCore encountered a fatal error|EngineDeadError|"
    r"engine core exited unexpectedly|Engine core initialization failed|EngineCore failed to start"
)


class StageTracker:
    """Reads lines in the order they were written.

    share: 0 to 1 of the current stage, None where vLLM says nothing. ending: vLLM has begun to shut down or died.
    facts: what the log measured, by name (weights_gib, kv_available_gib, kv_tokens, activation_gib, version, ...).
    """

    def __init__(self) -> None:
        self.stage: Stage = STAGES["launch"]
        self.share: float | None = None
        self.ending = False
        self.facts: dict[str, float | int | str] = {}

    @property
    def complete(self) -> bool:
        return self.stage.id == "complete"

    def feed(self, line: str) -> bool:
        """True where the line told something."""
        prefix = PREFIX.match(line)
        message = line[prefix.end() :] if prefix else line
        told = False
        for sign in SIGNS:
            match = sign.pattern.search(message)
            if match is None:
                continue
            told = True
            self._note(sign, match)
        if match := _MULTIMODAL.search(message):
            self.facts["multimodal_warmup_s"] = float(match.group("s"))
            told = True
        if _SHUTDOWN.search(message):
            self.ending = told = True
        return told

    def feed_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.feed(line)

    def _note(self, sign: Sign, match: Matched) -> None:
        for name, read in (sign.facts or {}).items():
            self.facts[name] = read(match)
        if sign.stage is None:
            return
        stage = STAGES[sign.stage]
        if stage.order < self.stage.order:
            return
        if stage.order > self.stage.order:
            self.stage, self.share = stage, None
        if sign.share is not None:
            share = min(1.0, int(match.group(sign.share)) / 100)
            # Several workers, and graphs of two kinds one after the other, count up more than once.
            self.share = share
