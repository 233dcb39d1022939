"""What one measured request leaves behind. Pure data: no I/O, no arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class NotMeasurable:
    """A value of its own: never shown as 0, never as infinity."""

    reason: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """One content chunk of a stream: for a block-diffusion model, one canvas.

    at_s: seconds from the request being sent to the arrival of the chunk.
    tokens: completion tokens that this chunk brought, None where the server did not say.
    characters: length of its text, content and reasoning together.
    """

    at_s: float
    tokens: int | None
    characters: int = 0


@dataclass(frozen=True, slots=True)
class CounterWindow:
    """Differences of vLLM's counters over a window that started and ended idle.

    forwards counts denoising and commit passes together (vllm:diffusion_num_denoising_steps).
    """

    forwards: float
    canvas_positions: float
    committed_tokens: float
    generation_tokens: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that a speed is computed from, and all that is needed to compute it again."""

    chunks: tuple[Chunk, ...]
    prompt_tokens: int | None
    completion_tokens: int | None
    counters: CounterWindow | NotMeasurable = field(default_factory=lambda: NotMeasurable("no metrics page was read"))


@dataclass(frozen=True, slots=True)
class Speed:
    """Speeds as the design defines them; exercises/speed.py computes them from a Timeline.

    after_first_canvas_note: what must be known beside that rate, such as canvases that came in the same instant.
    """

    prompt_tokens: int | NotMeasurable
    completion_tokens: int | NotMeasurable
    wall_s: float | NotMeasurable
    first_canvas_s: float | NotMeasurable
    canvases: int
    end_to_end_tps: float | NotMeasurable
    after_first_canvas_tps: float | NotMeasurable
    steps_per_canvas: float | NotMeasurable
    canvas_fill: float | NotMeasurable
    after_first_canvas_note: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a checker found out about an answer. A fact, never a taste."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    passed: bool
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One request, measured.

    evidence: what is needed to repeat or doubt the run, JSON-ready: prompt, max_tokens, model, server version,
    command (no secrets), hardware, finish_reason, ended ("complete", "cancelled", "broken"), counters before and after.
    """

    id: str
    task: str
    task_set: str
    checkpoint: str
    practice: bool
    started_at: str
    valid: bool
    invalid_reason: str | None
    timeline: Timeline
    speed: Speed
    check: Check
    output: str
    reasoning: str = ""
    warmup: bool = False
    trial: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
