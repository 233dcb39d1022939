"""How a GPU's memory is shared out when vLLM serves a block-diffusion model. Pure arithmetic, everything in GiB.

The KV formula reproduces what vLLM printed: 0.3726 GiB a request at 8,192 tokens and 0.9196 at 65,536 with an fp8
cache and 2,048 batched tokens (public logs), and 1.7219 at 8,192 with a bf16 cache and 8,192 batched tokens in flight
twice (vLLM 0.26 on an H200: 68.74 GiB for 39.92 requests).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

from labtui.serving.checkpoints import Architecture

Fit = Literal["PASS", "TIGHT", "NO"]

GIB = 2.0**30
CANVAS = 256
VOCABULARY = 262_144
GLOBAL_BLOCK_TOKENS = 32
SLIDING_BLOCK_TOKENS = 16

ACTIVATION_GIB = 1.5
"""Peak activations and memory outside torch: 1.29 + 0.22 GiB in a vLLM 0.26 start on an H200."""
CONTEXT_GIB = 0.8
"""The CUDA context, which no setting covers: 0.67 GiB in a vLLM 0.26 start on an H200, and a little room."""
ALLOCATOR_MARGIN_GIB = 0.25
"""What fragmentation costs the sampler's large buffers. An estimate."""
DRIVER_GIB = 0.6
"""What the driver keeps of the memory that it reports: 140.4 against 139.8 GiB that vLLM saw on an H200."""
DIFFUSION_SEQUENCES = 8
"""How many sequences vLLM runs at once for a diffusion model where nothing else is asked for."""

UNCERTAINTY_GIB = 0.5
"""A smaller remainder than this may be gone in the next release: called TIGHT."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """Memory that a denoising step takes outside --gpu-memory-utilization, in GiB.

    vLLM's own memory profile runs the sampler with one row a sequence instead of a whole canvas, so this is not in it
    (https://github.com/vllm-project/vllm/issues/50699). From 0.26 the warm-up before readiness runs whole canvases, as
    many as --max-num-seqs: too many end the start. Measured on an H200 with 4 canvases, context included: 4.4 and
    5.2 GiB where 4.9 were planned (docs/measurements.md).
    """

    per_sequence_gib: float
    once_gib: float
    explanation: str


def sampler_for(
    vllm: tuple[int, ...], *, diffusion: bool, canvas: int = CANVAS, vocabulary: int = VOCABULARY
) -> Sampler:
    """By vLLM version. Every buffer has canvas × vocabulary elements, so the sizes scale with both."""
    if not diffusion:
        return Sampler(0.0, 0.0, "an autoregressive model samples one row a sequence")
    scale = canvas * vocabulary / (CANVAS * VOCABULARY)
    if vllm < (0, 26):
        return Sampler(2.2 * scale, 0.0, "before vLLM 0.26 the sampler keeps six fp32 copies of all logits")
    if vllm < (0, 32):
        explanation = "from vLLM 0.26 the sampler works in tiles: 2.5 GiB once, and the logits of each sequence"
        return Sampler(0.4 * scale, 2.5 * scale, explanation)
    return Sampler(0.5 * scale, 0.0, "from vLLM 0.32 the sampler keeps bf16 logits, their fp32 softcap and one softmax")


@dataclass(frozen=True, slots=True)
class Request:
    """What one request of full length is served with. cache_bytes: 2 for bf16, 1 for fp8, 4 for float32."""

    max_model_len: int
    max_num_batched_tokens: int
    cache_bytes: int = 2
    batches_in_flight: int = 2


def kv_per_request_gib(architecture: Architecture, request: Request, gpus: int = 1) -> float:
    """KV cache of one request of full length on each of the GPUs.

    Global layers keep every token, in blocks of 32. Sliding layers keep their window and what is being computed,
    in blocks of 16, and one block more; a batch that is scheduled ahead counts again (asynchronous scheduling, 0.26+).
    """
    length = request.max_model_len
    global_heads = ceil(architecture.global_kv_heads / gpus)
    sliding_heads = ceil(architecture.sliding_kv_heads / gpus)
    global_token = 2 * global_heads * architecture.global_head_dim * request.cache_bytes
    sliding_token = 2 * sliding_heads * architecture.sliding_head_dim * request.cache_bytes
    whole = ceil(length / GLOBAL_BLOCK_TOKENS) * GLOBAL_BLOCK_TOKENS * global_token * architecture.global_layers
    kept = min(
        architecture.sliding_window - 1 + request.max_num_batched_tokens * request.batches_in_flight,
        length,
    )
    blocks = ceil(kept / SLIDING_BLOCK_TOKENS) + 1
    sliding = blocks * SLIDING_BLOCK_TOKENS * sliding_token * architecture.sliding_layers
    return (whole + sliding) / GIB


@dataclass(frozen=True, slots=True)
class Budget:
    """One GPU's share. total_gib is what CUDA sees, a little less than the driver reports."""

    total_gib: float
    utilization: float
    weights_gib: float
    activation_gib: float
    kv_available_gib: float
    kv_per_request_gib: float
    outside_gib: float
    sampler: Sampler
    memory_sequences: int
    safe_sequences: int
    wanted_sequences: int
    fit: Fit
    why: tuple[str, ...]


def gpu_budget(
    *,
    total_gib: float,
    utilization: float,
    weights_gib: float,
    kv_request_gib: float,
    sampler: Sampler,
    wanted_sequences: int,
    activation_gib: float = ACTIVATION_GIB,
    context_gib: float = CONTEXT_GIB,
) -> Budget:
    """Share out one GPU and say whether it fits.

    kv_available = utilization × total - weights - activations
    outside      = (1 - utilization) × total - CUDA context; every denoising request needs a sampler's room there
    NO: one request of full length has no room. TIGHT: a remainder is smaller than what is uncertain, or fewer requests
    than wanted can denoise together. PASS: neither.
    """
    kv_available = utilization * total_gib - weights_gib - activation_gib
    outside = (1 - utilization) * total_gib - context_gib
    if sampler.per_sequence_gib > 0:
        room = outside - ALLOCATOR_MARGIN_GIB - sampler.once_gib
        memory_sequences = max(0, floor(room / sampler.per_sequence_gib + 1e-9))
    else:
        memory_sequences = wanted_sequences if outside > 0 else 0
    safe = min(memory_sequences, max(DIFFUSION_SEQUENCES, wanted_sequences))

    share = f"{utilization:.2f} × {total_gib:.1f} GiB = {utilization * total_gib:.1f} GiB for vLLM"
    why = [
        f"{share}: weights {weights_gib:.1f}, activations {activation_gib:.1f}, KV cache {kv_available:.1f}",
        f"one request of full length takes {kv_request_gib:.2f} GiB of KV cache",
        f"outside it {outside:.1f} GiB stay free; {sampler.explanation}",
    ]
    fit: Fit
    if kv_available < kv_request_gib:
        fit = "NO"
        short = kv_request_gib - kv_available
        why.insert(0, f"the KV cache is {short:.1f} GiB too small for one request of full length")
    elif safe < 1:
        fit = "NO"
        why.insert(0, f"the sampler of one request needs more than the {outside:.1f} GiB that stay free")
    else:
        tight = []
        if kv_available - kv_request_gib < UNCERTAINTY_GIB:
            tight.append(f"only {kv_available - kv_request_gib:.1f} GiB of KV cache remain beside one full request")
        if safe < wanted_sequences:
            tight.append(f"{safe} of {wanted_sequences} requests may denoise together")
        fit = "TIGHT" if tight else "PASS"
        if tight:
            why.insert(0, "; ".join(tight))
        else:
            why.insert(0, f"fits: {kv_available:.1f} GiB for KV, {safe} requests may denoise together")
    return Budget(
        total_gib=total_gib,
        utilization=utilization,
        weights_gib=weights_gib,
        activation_gib=activation_gib,
        kv_available_gib=kv_available,
        kv_per_request_gib=kv_request_gib,
        outside_gib=outside,
        sampler=sampler,
        memory_sequences=memory_sequences,
        safe_sequences=safe,
        wanted_sequences=wanted_sequences,
        fit=fit,
        why=tuple(why),
    )


def cpu_budget(
    *,
    available_gib: float,
    host_memory_gib: float,
    kv_space_gib: float,
    weights_gib: float,
    kv_request_gib: float,
    sampler: Sampler,
    wanted_sequences: int,
) -> Budget:
    """The same question where vLLM runs on the CPU: the KV cache has a size of its own, the rest is main memory.

    host_memory: what the whole server was seen to take, its KV cache included.
    """
    outside = available_gib - host_memory_gib
    per_sequence = sampler.per_sequence_gib
    memory_sequences = max(0, floor(outside / per_sequence)) if per_sequence > 0 else wanted_sequences
    safe = min(memory_sequences, max(DIFFUSION_SEQUENCES, wanted_sequences)) if outside > 0 else 0
    takes = f"the server takes {host_memory_gib:.1f} GiB of main memory, {available_gib:.1f} GiB are free"
    fit: Fit
    if kv_space_gib < kv_request_gib:
        fit = "NO"
        lead = f"the KV cache of {kv_space_gib:.1f} GiB is too small for one request ({kv_request_gib:.2f} GiB)"
    elif outside <= 0:
        fit = "NO"
        lead = f"{-outside:.1f} GiB of main memory are missing"
    elif outside < 1:
        fit = "TIGHT"
        lead = f"only {outside:.1f} GiB of main memory would be left"
    else:
        fit = "PASS"
        lead = f"fits: {outside:.1f} GiB of main memory stay free"
    why = (lead, takes, f"KV cache {kv_space_gib:.1f} GiB, one request of full length takes {kv_request_gib:.3f} GiB")
    return Budget(
        total_gib=available_gib,
        utilization=1.0,
        weights_gib=weights_gib,
        activation_gib=0.0,
        kv_available_gib=kv_space_gib,
        kv_per_request_gib=kv_request_gib,
        outside_gib=outside,
        sampler=sampler,
        memory_sequences=memory_sequences,
        safe_sequences=safe,
        wanted_sequences=wanted_sequences,
        fit=fit,
        why=why,
    )
