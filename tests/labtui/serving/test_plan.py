from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labtui.errors import USAGE, LabError
from labtui.serving.gpu import Gpu
from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import Plan, default_checkpoint, make_plan, plan_to_json

RANK = {"NO": 0, "TIGHT": 1, "PASS": 2}
DESIGN_KEYS = {"checkpoint", "command", "env", "fit", "why", "budget"}
BUDGET_KEYS = {
    "weights_gib",
    "kv_available_gib",
    "kv_per_request_gib",
    "outside_gib",
    "sampler_per_sequence_gib",
    "safe_sequences",
}

CUDA_VLLM = Vllm("0.32.0", cpu=False, program=("/opt/venv/bin/vllm",))
CPU = Machine((), 16.0, Vllm("0.32.0", cpu=True, program=("/opt/venv/bin/vllm",)))
H200 = Gpu(0, "NVIDIA H200", 140.4, 139.9, (9, 0), "580.159.04", "13.0")


def box(*cards: Gpu, vllm: Vllm | None = CUDA_VLLM) -> Machine:
    return Machine(cards, 100.0, vllm, flashinfer=True)


def card(total: float, capability: tuple[int, int] = (9, 0), name: str = "NVIDIA") -> Gpu:
    return Gpu(0, name, total, total, capability)


def value(plan: Plan, flag: str) -> str | None:
    words = plan.argv
    return words[words.index(flag) + 1] if flag in words else None


@pytest.mark.parametrize(
    ("checkpoint", "vram", "fit", "kv_available", "one_request", "outside", "sequences"),
    [
        ("bf16", 80, "PASS", 17.7, 8.3, 11.1, 8),
        ("fp8", 80, "PASS", 39.8, 8.3, 11.1, 8),
        ("fp8", 48, "PASS", 12.8, 1.7, 6.3, 8),
        ("bf16", 48, "NO", None, None, None, None),
        ("nvfp4-nvidia", 32, "PASS", 5.4, 1.7, 5.5, 8),
        ("fp8", 32, "TIGHT", 0.8, 0.6, 2.3, 4),
        ("nvfp4-nvidia", 24, "TIGHT", 1.5, 0.65, 1.5, 2),
        ("fp8", 24, "NO", None, None, None, None),
    ],
)
def test_the_cards_of_the_worked_examples(
    checkpoint: str,
    vram: float,
    fit: str,
    kv_available: float | None,
    one_request: float | None,
    outside: float | None,
    sequences: int | None,
) -> None:
    data = plan_to_json(make_plan(checkpoint, vram_gib=vram, machine=CPU))
    assert data["fit"] == fit
    if kv_available is not None:
        budget = data["budget"]
        assert budget["kv_available_gib"] == pytest.approx(kv_available, abs=0.5)
        assert budget["kv_per_request_gib"] == pytest.approx(one_request, abs=0.06)
        assert budget["outside_gib"] == pytest.approx(outside, abs=0.1)
        assert budget["safe_sequences"] == sequences


def test_the_recipe_on_one_h100_has_the_flags_of_the_recipe() -> None:
    plan = make_plan("bf16", vram_gib=80, machine=CPU)
    assert plan.argv[1:3] == ["serve", "google/diffusiongemma-26B-A4B-it"]
    assert value(plan, "--max-model-len") == "262144"
    assert value(plan, "--max-num-seqs") == "4"
    assert value(plan, "--gpu-memory-utilization") == "0.85"
    assert json.loads(value(plan, "--diffusion-config") or "") == {"canvas_length": 256}
    assert value(plan, "--host") == "127.0.0.1"
    assert "--hf-overrides" not in plan.argv
    assert "--max-num-batched-tokens" not in plan.argv
    assert all(flag.why for flag in plan.flags)


def test_the_practice_plan_serves_on_the_cpu() -> None:
    plan = make_plan(machine=CPU)
    assert plan.checkpoint.id == "practice"
    assert plan.on_cpu
    assert plan.fit == "PASS"
    assert value(plan, "--served-model-name") == "practice"
    assert json.loads(value(plan, "--diffusion-config") or "") == {"canvas_length": 64}
    assert "--enforce-eager" in plan.argv
    assert value(plan, "--kv-cache-memory-bytes") == str(128 << 20)
    assert "VLLM_CPU_KVCACHE_SPACE" not in plan.env, "it would silently go before the flag"
    assert (plan.env["VLLM_ENABLE_V1_MULTIPROCESSING"], plan.env["OMP_NUM_THREADS"]) == ("0", "1")
    assert plan.env["TORCH_COMPILE_DISABLE"] == "1"
    assert plan.env["HF_HUB_OFFLINE"] == "1"
    assert "vllm_cpu" in plan.env["PYTHONPATH"]
    assert any("practice numbers" in line for line in plan.why)


def test_what_the_person_set_for_the_cpu_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    plan = make_plan(machine=CPU)
    assert (plan.env["VLLM_CPU_KVCACHE_SPACE"], plan.env["OMP_NUM_THREADS"]) == ("2", "8")
    assert "--kv-cache-memory-bytes" not in plan.argv
    assert plan.budget is not None and plan.budget.kv_available_gib == 2


def test_a_cache_that_is_too_small_for_one_request_is_said_before() -> None:
    plan = make_plan(machine=CPU, extra_flags=["--kv-cache-memory-bytes", "100000"])
    assert plan.fit == "NO"
    assert "too small" in plan.why[0]


def test_the_practice_plan_on_a_gpu_box_has_no_cpu_settings() -> None:
    plan = make_plan("practice", machine=box(H200))
    assert not plan.on_cpu
    assert "VLLM_CPU_KVCACHE_SPACE" not in plan.env
    assert "PYTHONPATH" not in plan.env


def test_too_little_main_memory_for_practice_is_said() -> None:
    plan = make_plan("practice", machine=replace(CPU, memory_available_gib=1.0))
    assert plan.fit == "NO"
    assert "main memory" in plan.why[0]


@pytest.mark.parametrize(
    ("machine", "vram", "expected"),
    [
        (CPU, None, "practice"),
        (box(H200), None, "bf16"),
        (box(card(47.99)), None, "fp8"),
        (box(card(31.84)), None, "nvfp4-nvidia"),
        (box(card(24.0)), None, "nvfp4-nvidia"),
        (box(card(16.0)), None, "practice"),
        (CPU, 80, "bf16"),
    ],
)
def test_the_default_is_the_largest_that_fits(machine: Machine, vram: float | None, expected: str) -> None:
    assert default_checkpoint(machine, vram) == expected


def test_json_has_the_shape_of_the_design() -> None:
    data = plan_to_json(make_plan("bf16", vram_gib=80, machine=CPU))
    assert data.keys() >= DESIGN_KEYS
    assert data["budget"].keys() >= BUDGET_KEYS
    assert json.loads(json.dumps(data)) == data
    assert isinstance(data["command"], list)


def test_what_is_not_known_is_null_with_its_reason() -> None:
    data = plan_to_json(make_plan("bf16", machine=CPU))
    assert data["fit"] == "NO"
    assert data["budget"]["kv_available_gib"] is None
    assert "no NVIDIA GPU" in data["budget"]["kv_available_gib_reason"]
    assert data["budget"]["weights_gib"] == 48.58


def test_the_shell_reads_the_pasteable_line_as_the_same_command() -> None:
    plan = make_plan("practice", machine=CPU, extra_flags=["--chat-template", "it's a $HOME `file`"])
    words = shlex.split(plan.pasteable())
    assert words[len(plan.env) :] == plan.argv
    shown = subprocess.run(
        ["bash", "-c", f"PATH=/nowhere; vllm() {{ printf '%s\\n' \"$@\"; }}; {_without_path(plan)}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split("\n")[:-1] == plan.argv[1:]


def _without_path(plan: Plan) -> str:
    return plan.pasteable().replace(plan.argv[0], "vllm", 1)


def test_no_secret_of_the_environment_is_in_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("VLLM_API_KEY", "sk-secret")
    monkeypatch.setenv("LABTUI_API_KEY", "lt-secret")
    text = json.dumps(plan_to_json(make_plan("practice", machine=CPU)))
    assert "secret" not in text


# --- the person's own flags


def test_own_flags_replace_ours_and_feed_the_budget() -> None:
    plan = make_plan("bf16", vram_gib=80, machine=CPU, extra_flags=["--max-model-len", "8k", "--max_num_seqs=2"])
    assert plan.argv.count("--max-model-len") == 1
    assert plan.argv[-3:] == ["--max-model-len", "8k", "--max_num_seqs=2"]
    assert "--max-num-seqs" not in plan.argv
    assert plan.budget is not None
    assert plan.budget.wanted_sequences == 2
    assert plan.budget.kv_per_request_gib < 2


def test_a_length_as_an_option_is_a_flag_like_any_other() -> None:
    plan = make_plan("bf16", vram_gib=80, machine=CPU, max_model_len=4096, extra_flags=["--max-model-len", "8192"])
    assert plan.argv.count("--max-model-len") == 1
    assert value(plan, "--max-model-len") == "4096"


def test_flags_that_do_nothing_or_harm_are_explained() -> None:
    plan = make_plan(
        "bf16",
        vram_gib=80,
        machine=CPU,
        extra_flags=["--hf-overrides", '{"diffusion_sampler": "entropy_bound"}', "--max-num-seqs", "256"],
    )
    text = " ".join(plan.why)
    assert "changes nothing" in text
    assert "runs 8" in text


@pytest.mark.parametrize("flags", [["--api-key", "sk-1"], ["--api-key=sk-1"], ["--hf-token", "hf_1"]])
def test_a_secret_on_the_command_line_is_refused(flags: list[str]) -> None:
    with pytest.raises(LabError) as raised:
        make_plan("practice", machine=CPU, extra_flags=flags)
    assert raised.value.exit_code == USAGE
    assert "sk-1" not in str(raised.value) + raised.value.fix


@pytest.mark.parametrize("flags", [["--host", "0.0.0.0"], ["--host=0.0.0.0"]])
def test_opening_the_server_to_others_needs_a_word(flags: list[str]) -> None:
    with pytest.raises(LabError, match="opens the server") as raised:
        make_plan("practice", machine=CPU, extra_flags=flags)
    assert "--expose" in raised.value.fix
    plan = make_plan("practice", machine=CPU, extra_flags=flags, expose=True)
    assert any("reachable from other machines" in line for line in plan.why)
    assert sum(word.startswith("--host") for word in plan.argv) == 1
    assert "0.0.0.0" not in plan.url


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(LabError, match="not an address of this machine") as raised:
        make_plan("practice", machine=CPU, extra_flags=["--host", "203.0.113.7"], expose=True)
    assert raised.value.exit_code == USAGE


def test_words_that_belong_to_no_flag_are_refused() -> None:
    with pytest.raises(LabError, match="no vLLM flag"):
        make_plan("practice", machine=CPU, extra_flags=["nonsense"])


# --- port


def test_the_next_free_port_is_taken_unless_one_is_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        plan = make_plan("practice", machine=CPU, port=taken)
        assert (plan.port, plan.port_asked) == (taken, True)
    plan = make_plan("practice", machine=CPU)
    assert not plan.port_asked
    assert plan.port >= 8000


@pytest.mark.parametrize("port", [0, -1, 70000])
def test_a_port_that_cannot_be_is_refused(port: int) -> None:
    with pytest.raises(LabError, match="There is no port"):
        make_plan("practice", machine=CPU, port=port)


def test_the_port_does_not_make_another_plan() -> None:
    assert make_plan("practice", machine=CPU, port=8123).key == make_plan("practice", machine=CPU, port=8124).key
    other = make_plan("practice", machine=CPU, port=8123, extra_flags=["--max-num-seqs", "2"])
    assert other.key != make_plan("practice", machine=CPU, port=8123).key


# --- cards


def test_several_gpus_share_the_weights() -> None:
    one = make_plan("bf16", vram_gib=48, machine=CPU)
    two = make_plan("bf16", vram_gib=48, gpus=2, machine=CPU)
    assert (one.fit, two.fit) == ("NO", "PASS")
    assert value(two, "--tensor-parallel-size") == "2"


@pytest.mark.parametrize("gpus", [3, 6, 0])
def test_gpus_that_cannot_share_the_heads_are_refused(gpus: int) -> None:
    with pytest.raises(LabError) as raised:
        make_plan("bf16", vram_gib=48, gpus=gpus, machine=CPU)
    assert raised.value.exit_code == USAGE


def test_a_gpu_that_is_too_old_is_said_and_one_that_unpacks_too() -> None:
    old = make_plan("bf16", machine=box(card(80, (7, 5), "Tesla T4")))
    assert old.fit == "NO"
    assert "7.5" in old.why[0]
    ampere = make_plan("nvfp4-nvidia", machine=box(card(47.99, (8, 6), "RTX A6000")))
    assert ampere.fit in ("PASS", "TIGHT")
    assert "slower" in ampere.why[0]
    assert "--kv-cache-dtype" not in ampere.argv


def test_a_vllm_without_flashinfer_is_told_so() -> None:
    assert make_plan("bf16", machine=replace(box(H200), flashinfer=False)).env["VLLM_USE_FLASHINFER_SAMPLER"] == "0"
    assert "VLLM_USE_FLASHINFER_SAMPLER" not in make_plan("bf16", machine=box(H200)).env


def test_a_complete_model_in_the_cache_is_served_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert "HF_HUB_OFFLINE" not in make_plan("bf16", vram_gib=80, machine=CPU).env
    folder = tmp_path / "models--google--diffusiongemma-26B-A4B-it"
    snapshot = folder / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    (snapshot / "config.json").write_text("{}")
    (snapshot / "model.safetensors").write_bytes(b"")
    plan = make_plan("bf16", vram_gib=80, machine=CPU)
    assert plan.env["HF_HUB_OFFLINE"] == "1"
    assert plan.revision == "abc"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["bf16", "fp8", "nvfp4", "nvfp4-nvidia", "gemma4"]),
    st.floats(12, 200),
    st.floats(0, 60),
    st.sampled_from(["0.24.0", "0.26.0", "0.32.0"]),
)
def test_a_larger_card_never_fits_less(checkpoint: str, vram: float, more: float, version: str) -> None:
    machine = replace(CPU, vllm=Vllm(version, cpu=False, program=("vllm",)))
    small = make_plan(checkpoint, vram_gib=vram, machine=machine, port=8000)
    large = make_plan(checkpoint, vram_gib=vram + more, machine=machine, port=8000)
    assert RANK[large.fit] >= RANK[small.fit]


@settings(max_examples=40, deadline=None)
@given(st.floats(20, 200), st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8]))
def test_more_gpus_never_fit_less(vram: float, a: int, b: int) -> None:
    few, many = sorted((a, b))
    assert (
        RANK[make_plan("bf16", vram_gib=vram, gpus=many, machine=CPU, port=8000).fit]
        >= RANK[make_plan("bf16", vram_gib=vram, gpus=few, machine=CPU, port=8000).fit]
    )


def test_planning_does_not_import_vllm() -> None:
    code = "import sys; from labtui.serving.plan import make_plan; make_plan('practice'); print('vllm' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.strip() == "False"


def test_a_cache_in_fp8_is_said_where_labtui_chose_it_and_not_where_you_did() -> None:
    def about(plan: Plan) -> list[str]:
        return [why for why in plan.why if "the KV cache is kept in fp8" in why]

    small = make_plan("fp8", machine=CPU, vram_gib=48)
    assert ("--kv-cache-dtype", "fp8") in [(flag.name, flag.value) for flag in small.flags]
    assert len(about(small)) == 1
    for other in (
        make_plan("fp8", machine=CPU, vram_gib=48, extra_flags=["--kv-cache-dtype", "fp8"]),
        make_plan("bf16", machine=CPU, vram_gib=141),
        make_plan("practice", machine=CPU),
    ):
        assert about(other) == []
