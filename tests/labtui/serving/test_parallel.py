from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from labtui.errors import USAGE, LabError
from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import make_plan

NEW = Machine((), 16.0, Vllm("0.32.0", cpu=False, program=("vllm",)))
OLD = replace(NEW, vllm=Vllm("0.24.0", cpu=False, program=("vllm",)))


def flags(plan_argv: list[str]) -> dict[str, str]:
    return dict(pairwise(plan_argv))


def test_a_plan_over_two_machines_names_every_part() -> None:
    plan = make_plan("gemma4", vram_gib=80, gpus=4, pipeline=2, copies=2, ray=True, machine=NEW)
    made = flags(plan.argv)
    assert made["--tensor-parallel-size"] == "4"
    assert made["--pipeline-parallel-size"] == "2"
    assert made["--data-parallel-size"] == "2"
    assert made["--distributed-executor-backend"] == "ray"
    assert plan.gpus == 16
    assert plan.budget is not None and plan.budget.weights_gib == pytest.approx(48.58 / 8)
    assert any("4 by tensors × 2 by layers × 2 copies" in reason for reason in plan.why)


def test_copies_do_not_make_the_weights_smaller() -> None:
    one = make_plan("bf16", vram_gib=80, machine=NEW)
    two = make_plan("bf16", vram_gib=80, copies=2, machine=NEW)
    assert one.budget is not None and two.budget is not None
    assert two.budget.weights_gib == one.budget.weights_gib
    assert two.gpus == 2


def test_the_persons_own_flag_counts() -> None:
    plan = make_plan("bf16", vram_gib=48, machine=NEW, extra_flags=["-tp", "2"])
    assert plan.gpus == 2
    assert plan.fit == "PASS"
    assert "--tensor-parallel-size" not in plan.argv, "it stands there as it was typed"


@pytest.mark.parametrize(
    ("checkpoint", "choices", "machine", "said"),
    [
        ("bf16", {"gpus": 3}, NEW, "attention heads"),
        ("gemma4", {"pipeline": 31}, NEW, "30 layers"),
        ("bf16", {"gpus": 2}, OLD, "0.26"),
        ("bf16", {"pipeline": 2}, NEW, "tensors instead"),
        ("bf16", {"copies": 0}, NEW, "--copies 1"),
        ("practice", {"extra_flags": ["-tp", "2"]}, NEW, "made for the CPU"),
    ],
)
def test_what_vllm_would_refuse_after_a_minute_is_refused_at_once(
    checkpoint: str, choices: dict[str, object], machine: Machine, said: str
) -> None:
    with pytest.raises(LabError) as raised:
        make_plan(checkpoint, vram_gib=80, machine=machine, **choices)
    assert raised.value.exit_code == USAGE
    assert said in f"{raised.value.title} {raised.value.cause} {raised.value.fix}"


def test_a_default_for_the_big_ones_does_not_hinder_practice() -> None:
    assert make_plan("practice", gpus=4, machine=NEW).gpus == 1


def test_four_bits_over_several_gpus_are_warned_of() -> None:
    plan = make_plan("nvfp4", vram_gib=32, gpus=2, machine=NEW)
    assert any("NVFP4 over several GPUs" in reason for reason in plan.why)
