"""`serve plan --json` for the cards that people have, against the worked examples of the budget (docs/serving.md).

The examples: https://github.com/vllm-project/recipes, vLLM issue 50699, and docs/measurements.md.
"""

from __future__ import annotations

import pytest

from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import make_plan as make
from labtui.serving.plan import plan_to_json

# Fit, KV cache, one request, outside the share, requests that may denoise together with vLLM 0.32 and with 0.24.
EXAMPLES = {
    ("bf16", 80): ("PASS", 17.4, 8.3, 11.1, 8, 4),
    ("bf16", 48): ("NO", -9.8, 1.7, 6.3, 8, 2),
    ("bf16", 32): ("NO", -25.0, 1.7, 5.5, 8, 2),
    ("bf16", 24): ("NO", -29.0, 0.65, 1.5, 2, 0),
    ("fp8", 80): ("PASS", 40.2, 8.3, 11.1, 8, 4),
    ("fp8", 48): ("PASS", 13.0, 1.7, 6.3, 8, 2),
    ("fp8", 32): ("TIGHT", 0.96, 0.65, 2.3, 4, 2),
    ("fp8", 24): ("NO", -6.2, 0.65, 1.5, 2, 0),
    ("nvfp4", 80): ("PASS", 49.0, 8.3, 11.1, 8, 4),
    ("nvfp4", 48): ("PASS", 21.8, 1.7, 6.3, 8, 2),
    ("nvfp4", 32): ("PASS", 6.6, 1.7, 5.5, 8, 2),
    ("nvfp4", 24): ("TIGHT", 2.6, 0.65, 1.5, 2, 0),
    ("nvfp4-nvidia", 80): ("PASS", 47.8, 8.3, 11.1, 8, 4),
    ("nvfp4-nvidia", 48): ("PASS", 20.6, 1.7, 6.3, 8, 2),
    ("nvfp4-nvidia", 32): ("PASS", 5.5, 1.7, 5.5, 8, 2),
    ("nvfp4-nvidia", 24): ("TIGHT", 1.4, 0.65, 1.5, 2, 0),
    ("gemma4", 80): ("PASS", 17.4, 5.8, 11.1, 4, 4),
    ("gemma4", 48): ("NO", -9.8, 1.7, 6.3, 4, 4),
    ("gemma4", 32): ("NO", -25.0, 1.7, 5.5, 4, 4),
    ("gemma4", 24): ("NO", -29.0, 0.65, 1.5, 4, 4),
}


def machine(version: str) -> Machine:
    return Machine((), 16.0, Vllm(version, cpu=False, program=("vllm",)))


@pytest.mark.parametrize(("checkpoint", "card"), EXAMPLES, ids=lambda one: str(one))
def test_the_json_of_a_plan_says_what_the_examples_say(checkpoint: str, card: int) -> None:
    fit, kv, request, outside, new, _ = EXAMPLES[checkpoint, card]
    data = plan_to_json(make(checkpoint, vram_gib=card, machine=machine("0.32.0"), port=8123))
    budget = data["budget"]
    assert data["fit"] == fit, data["why"]
    assert budget["kv_available_gib"] == pytest.approx(kv, abs=0.06)
    assert budget["kv_per_request_gib"] == pytest.approx(request, abs=0.05)
    assert budget["outside_gib"] == pytest.approx(outside, abs=0.06)
    assert budget["safe_sequences"] == new


@pytest.mark.parametrize(("checkpoint", "card"), EXAMPLES, ids=lambda one: str(one))
def test_the_sampler_of_0_24_takes_more(checkpoint: str, card: int) -> None:
    old = EXAMPLES[checkpoint, card][5]
    plan = make(checkpoint, vram_gib=card, machine=machine("0.24.0"), port=8123, extra_flags=["--max-num-seqs", "4"])
    assert plan.budget is not None
    assert plan.budget.safe_sequences == old, plan.why
