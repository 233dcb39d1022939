from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.serving.budget import (
    CONTEXT_GIB,
    Budget,
    Request,
    cpu_budget,
    gpu_budget,
    kv_per_request_gib,
    sampler_for,
)
from labtui.serving.checkpoints import Architecture, table

GEMMA = table().architectures["gemma4-26b-a4b"]
RANK = {"NO": 0, "TIGHT": 1, "PASS": 2}


def kv(length: int, batched: int, flight: int, cache_bytes: int, gpus: int = 1) -> float:
    return kv_per_request_gib(GEMMA, Request(length, batched, cache_bytes, flight), gpus)


@pytest.mark.parametrize(
    ("length", "batched", "flight", "cache_bytes", "printed_gib", "printed_requests"),
    [
        # Two public logs (one batch in flight, fp8 cache, 2,048 batched tokens).
        (8192, 2048, 1, 1, 73.37, 196.90),
        (65536, 2048, 1, 1, 73.98, 80.45),
        # vLLM 0.26 on an H200, tests/fixtures/logs/vllm-cuda-0.26: bf16 cache, asynchronous scheduling.
        (8192, 8192, 2, 2, 68.74, 39.92),
        (8192, 8192, 2, 2, 91.52, 53.15),
        (262144, 8192, 2, 2, 68.74, 8.26),
    ],
)
def test_a_request_takes_what_vllm_printed(
    length: int, batched: int, flight: int, cache_bytes: int, printed_gib: float, printed_requests: float
) -> None:
    assert kv(length, batched, flight, cache_bytes) == pytest.approx(printed_gib / printed_requests, rel=5e-4)


@pytest.mark.parametrize(
    ("length", "batched", "flight", "cache_bytes", "gib"),
    [
        (8192, 2048, 1, 1, 0.37),
        (65536, 2048, 1, 1, 0.92),
        (262144, 8192, 1, 2, 6.8),
        (262144, 8192, 2, 2, 8.3),
        (131072, 2048, 2, 1, 1.7),
        (16384, 2048, 2, 1, 0.65),
        (8192, 2048, 2, 1, 0.6),
    ],
)
def test_the_worked_examples_of_one_request(
    length: int, batched: int, flight: int, cache_bytes: int, gib: float
) -> None:
    assert kv(length, batched, flight, cache_bytes) == pytest.approx(gib, abs=0.05)


def test_the_longest_context_that_an_h200_printed_is_the_longest_that_fits() -> None:
    """fail-kv-too-small.log: 4.43 GiB are there, "the estimated maximum model length is 58016"."""
    assert kv(58016, 8192, 2, 2) <= 4.435 < kv(58016 + 512, 8192, 2, 2)


@pytest.mark.parametrize(
    ("weights", "utilization", "printed"),
    [
        (48.58, 0.85, 68.74),
        (25.8, 0.85, 91.52),
        (48.58, 0.42, 8.62),
        (48.58, 0.39, 4.43),
        (47.5, 0.97, 86.6),
    ],
)
def test_the_cache_that_is_left_is_what_an_h200_printed(weights: float, utilization: float, printed: float) -> None:
    budget = plain(total=139.8, weights=weights, utilization=utilization)
    assert budget.kv_available_gib == pytest.approx(printed, abs=0.05)


@pytest.mark.parametrize(("utilization", "used_gib"), [(0.85, 123.24), (0.42, 63.88)])
def test_what_lies_outside_the_share_is_what_an_h200_showed(utilization: float, used_gib: float) -> None:
    """nvidia-smi after 4 canvases at once, less the share: CUDA context and sampler (docs/measurements.md)."""
    sampler = sampler_for((0, 26), diffusion=True)
    planned = CONTEXT_GIB + sampler.once_gib + 4 * sampler.per_sequence_gib
    assert used_gib - utilization * 139.8 == pytest.approx(planned, abs=0.6)


def test_the_death_of_24_canvases_at_once_is_foreseen() -> None:
    """fail-sampler-while-warming-up.log"""
    budget = plain(total=139.8, weights=47.5, utilization=0.97, vllm=(0, 26), wanted=24)
    assert budget.fit != "PASS" and budget.safe_sequences < 24


@pytest.mark.parametrize(
    ("usable", "weights", "utilization", "request_gib", "kv_available", "outside", "old_sequences", "new_sequences"),
    [
        (79.2, 48.1, 0.85, 8.3, 17.7, 11.1, 4, 8),
        (79.2, 26.0, 0.85, 8.3, 39.8, 11.1, 4, 8),
        (47.4, 26.0, 0.85, 1.7, 12.8, 6.3, 2, 8),
        (44.4, 26.0, 0.85, 1.7, 10.2, 5.9, 2, 8),
        (31.4, 18.2, 0.80, 1.7, 5.4, 5.5, 2, 8),
        (23.5, 18.2, 0.90, 0.65, 1.5, 1.5, 0, 2),
    ],
)
def test_the_worked_examples_of_cards(
    usable: float,
    weights: float,
    utilization: float,
    request_gib: float,
    kv_available: float,
    outside: float,
    old_sequences: int,
    new_sequences: int,
) -> None:
    new = plain(total=usable, weights=weights, utilization=utilization, request_gib=request_gib, vllm=(0, 32))
    assert new.kv_available_gib == pytest.approx(kv_available, abs=0.1)
    assert new.outside_gib == pytest.approx(outside, abs=0.1)
    assert new.safe_sequences == new_sequences
    old = plain(total=usable, weights=weights, utilization=utilization, request_gib=request_gib, vllm=(0, 24))
    assert old.safe_sequences == old_sequences


def test_bf16_does_not_fit_into_48_gib_and_says_how_much_is_missing() -> None:
    budget = plain(total=47.4, weights=48.58, request_gib=1.74)
    assert budget.fit == "NO"
    assert "11.5 GiB too small" in budget.why[0]


def test_the_public_out_of_memory_at_eight_sequences_is_foreseen() -> None:
    """A 32 GB card, NVFP4, 0.75, eight sequences, the early sampler: it started, and died at the first full batch."""
    budget = plain(total=31.4, weights=17.0, utilization=0.75, request_gib=0.6, vllm=(0, 24), wanted=8)
    assert budget.safe_sequences < 8
    assert budget.fit == "TIGHT"


def test_the_sampler_of_0_26_takes_a_part_once() -> None:
    budget = plain(total=79.2, weights=48.1, vllm=(0, 26))
    assert budget.sampler.once_gib == 2.5
    assert budget.sampler.per_sequence_gib == 0.4
    assert plain(total=23.5, weights=18.2, utilization=0.9, request_gib=0.6, vllm=(0, 26)).fit == "NO"


def test_an_autoregressive_model_needs_no_such_room() -> None:
    assert sampler_for((0, 32), diffusion=False).per_sequence_gib == 0


def test_the_shape_is_read_from_a_config() -> None:
    config = {
        "text_config": {
            "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
            "head_dim": 256,
            "global_head_dim": 512,
            "num_key_value_heads": 8,
            "num_global_key_value_heads": 2,
            "sliding_window": 1024,
            "num_attention_heads": 16,
            "hidden_size": 2816,
            "vocab_size": 262144,
            "max_position_embeddings": 262144,
        }
    }
    shape = Architecture.from_config(config)
    assert (shape.sliding_layers, shape.global_layers, shape.global_kv_heads, shape.global_head_dim) == (5, 1, 2, 512)


def test_on_the_cpu_main_memory_decides() -> None:
    def fit(available: float, kv_space: float = 1.0) -> str:
        return cpu_budget(
            available_gib=available,
            host_memory_gib=3.0,
            kv_space_gib=kv_space,
            weights_gib=0.03,
            kv_request_gib=0.01,
            sampler=sampler_for((0, 32), diffusion=True, canvas=64, vocabulary=960),
            wanted_sequences=4,
        ).fit

    assert [fit(2.5), fit(3.5), fit(8.0), fit(8.0, kv_space=0.001)] == ["NO", "TIGHT", "PASS", "NO"]


totals = st.floats(8, 300)
weights = st.floats(1, 120)
utilizations = st.floats(0.3, 0.98)
versions = st.sampled_from([(0, 24, 0), (0, 26, 0), (0, 32, 0), (0, 33, 1)])


@given(totals, st.floats(0, 100), weights, utilizations, st.integers(1, 16), versions)
def test_more_memory_never_fits_less(
    total: float, more: float, weights: float, utilization: float, wanted: int, vllm: tuple[int, ...]
) -> None:
    small = plain(total=total, weights=weights, utilization=utilization, wanted=wanted, vllm=vllm)
    large = plain(total=total + more, weights=weights, utilization=utilization, wanted=wanted, vllm=vllm)
    assert RANK[large.fit] >= RANK[small.fit]
    assert large.safe_sequences >= small.safe_sequences
    assert large.kv_available_gib >= small.kv_available_gib


@given(totals, weights, st.floats(0, 50), utilizations, versions)
def test_heavier_weights_never_fit_better(
    total: float, weights: float, more: float, utilization: float, vllm: tuple[int, ...]
) -> None:
    light = plain(total=total, weights=weights, utilization=utilization, vllm=vllm)
    heavy = plain(total=total, weights=weights + more, utilization=utilization, vllm=vllm)
    assert RANK[heavy.fit] <= RANK[light.fit]


lengths = st.integers(1, 262144)
batches = st.integers(256, 16384)


@given(lengths, lengths, batches, st.sampled_from([1, 2]), st.sampled_from([1, 2, 4]))
def test_a_longer_request_never_takes_less(a: int, b: int, batched: int, flight: int, cache_bytes: int) -> None:
    short, long = sorted((a, b))
    assert kv(short, batched, flight, cache_bytes) <= kv(long, batched, flight, cache_bytes)


@given(lengths, batches, st.sampled_from([1, 2]))
def test_fp8_halves_the_cache_and_more_gpus_never_raise_it(length: int, batched: int, flight: int) -> None:
    assert kv(length, batched, flight, 1) == pytest.approx(kv(length, batched, flight, 2) / 2)
    shares = [kv(length, batched, flight, 2, gpus) for gpus in (1, 2, 4, 8)]
    assert shares == sorted(shares, reverse=True)


@given(totals, weights, utilizations, versions)
def test_the_parts_add_up_to_the_card(total: float, weights: float, utilization: float, vllm: tuple[int, ...]) -> None:
    budget = plain(total=total, weights=weights, utilization=utilization, vllm=vllm)
    whole = budget.weights_gib + budget.activation_gib + budget.kv_available_gib + budget.outside_gib + 0.8
    assert whole == pytest.approx(total)
    assert budget.fit == "NO" or budget.kv_available_gib >= budget.kv_per_request_gib
    assert budget.why


def plain(
    *,
    total: float,
    weights: float,
    utilization: float = 0.85,
    request_gib: float = 1.74,
    vllm: tuple[int, ...] = (0, 32),
    wanted: int = 4,
) -> Budget:
    return gpu_budget(
        total_gib=total,
        utilization=utilization,
        weights_gib=weights,
        kv_request_gib=request_gib,
        sampler=sampler_for(vllm, diffusion=True),
        wanted_sequences=wanted,
    )
