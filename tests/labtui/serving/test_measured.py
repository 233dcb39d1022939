from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from labtui.launch_record import record_launch
from labtui.serving.gpu import Gpu
from labtui.serving.machine import Machine, Vllm
from labtui.serving.measured import measured_launches
from labtui.serving.plan import Plan, make_plan
from labtui.serving.stages import StageTracker
from labtui.serving.state import ServerState
from labtui.serving.status import Status
from store.launches import Launch
from store.opening import Store

from .conftest import LOGS

H200 = Gpu(0, "NVIDIA H200", 140.4, 139.9, (9, 0))
BOX = Machine((H200,), 200.0, Vllm("0.26.0", cpu=False, program=("vllm",)), flashinfer=True)
LOG = LOGS / "vllm-cuda-0.26" / "startup-bf16-triton-cold.log"


def launch(plan: Plan, facts: dict[str, object], card: str = "NVIDIA H200") -> Launch:
    return Launch(
        id="l-1",
        checkpoint=plan.checkpoint.id,
        plan_key=plan.key,
        command=tuple(plan.argv),
        started_at=datetime(2026, 11, 30, 19, 0, tzinfo=UTC),
        ready_at=None,
        ready_after_s=80.0,
        ended_at=None,
        ended=None,
        vllm_version="0.26.0",
        memory={**facts, "card": card},
    )


@pytest.fixture(scope="module")
def facts() -> dict[str, object]:
    tracker = StageTracker()
    tracker.feed_all(LOG.read_text(encoding="utf-8").splitlines())
    return dict(tracker.facts)


def test_the_log_of_a_real_start_tells_all_that_a_budget_needs(facts: dict[str, object]) -> None:
    wanted = {"weights_gib": 48.58, "activation_gib": 1.29, "non_torch_gib": 0.22, "graphs_gib": 0.42}
    assert {name: facts[name] for name in wanted} == wanted
    assert (facts["device_total_gib"], facts["device_free_gib"], facts["utilization"]) == (139.8, 139.29, 0.85)


def test_the_second_budget_says_what_vllm_printed_at_the_first_launch(facts: dict[str, object]) -> None:
    plan = make_plan("bf16", machine=BOX, port=8123)
    again = make_plan("bf16", machine=BOX, port=8123, measured=measured_launches([launch(plan, facts)]))
    assert again.budget is not None
    # 68.74 GiB is what that start printed as "Available KV cache memory".
    assert again.budget.kv_available_gib == pytest.approx(68.74, abs=0.02)
    assert again.budget.weights_gib == 48.58
    assert any("measured, not estimated: weights 48.58, activations 1.51, CUDA graphs 0.42" in why for why in again.why)
    assert any("2026-11-30" in why for why in again.why)


def test_other_batches_keep_the_measured_weights_only(facts: dict[str, object]) -> None:
    plan = make_plan("bf16", machine=BOX, port=8123)
    other = make_plan(
        "bf16", machine=BOX, measured=measured_launches([launch(plan, facts)]),
        extra_flags=["--max-num-batched-tokens", "4096"],
    )  # fmt: skip
    assert any("measured, not estimated: weights 48.58 GiB" in why for why in other.why)
    assert other.budget is not None and other.budget.activation_gib == 1.5


@pytest.mark.parametrize(
    "choices",
    [
        {"checkpoint_id": "fp8"},
        {"extra_flags": ["--quantization", "fp8"]},
        {"extra_flags": ["--load-format", "dummy"]},
        {"vram_gib": 140.4},
    ],
)
def test_what_was_measured_of_other_weights_is_not_used(facts: dict[str, object], choices: dict[str, object]) -> None:
    seen = measured_launches([launch(make_plan("bf16", machine=BOX), facts)])
    plan = make_plan(**{"checkpoint_id": "bf16", "machine": BOX, "measured": seen, **choices})  # type: ignore[arg-type]
    assert not any("measured, not estimated" in why for why in plan.why)


def test_nor_on_another_card(facts: dict[str, object]) -> None:
    seen = measured_launches([launch(make_plan("bf16", machine=BOX), facts, card="NVIDIA H100")])
    assert not any("measured" in why for why in make_plan("bf16", machine=BOX, measured=seen).why)


def test_a_launch_without_figures_says_nothing(facts: dict[str, object]) -> None:
    plan = make_plan("bf16", machine=BOX)
    assert measured_launches([launch(plan, {}), launch(plan, {"weights_gib": -0.01})]) == ()


def test_a_card_that_others_used_too_tells_no_context(facts: dict[str, object]) -> None:
    plan = make_plan("bf16", machine=BOX)
    one = measured_launches([launch(plan, {**facts, "device_free_gib": 100.0})])[0]
    assert one.context_gib is None


def test_the_record_keeps_figures_and_card_and_gives_them_back(tmp_path: Path, facts: dict[str, object]) -> None:
    plan = make_plan("bf16", machine=BOX, port=8123)
    state = ServerState(
        "x", "launched", plan.url, plan.served_name, "bf16", False, 1.0, command=tuple(plan.argv), plan_key=plan.key,
        hardware=("NVIDIA H200, 140.4 GiB, driver 580.1",),
    )  # fmt: skip
    status = Status("ready", ready_after_s=81.0, vllm_version="0.26.0", facts=facts)  # type: ignore[arg-type]
    with Store.open(tmp_path / "store.db") as store:
        record_launch(store, state, status)
        seen = measured_launches(store.launches.list(5))
    assert seen[0].card == "NVIDIA H200"
    again = make_plan("bf16", machine=replace(BOX), measured=seen)
    assert again.budget is not None and again.budget.weights_gib == 48.58
