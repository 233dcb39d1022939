from __future__ import annotations

import json

import pytest

from labtui.serving.checkpoints import checkpoints
from labtui.serving.run_conditions import run_conditions, step_cap

PRACTICE = checkpoints()["practice"]
SERVE = ["vllm", "serve", PRACTICE.model_argument]


def test_the_practice_checkpoint_has_its_cap_from_its_own_file():
    known = run_conditions("practice", SERVE, None, {})
    assert known["max_denoising_steps"] == {"steps": 48, "source": "generation_config.json"}
    assert known["diffusion"] is True and known["weights_gib"] is None
    assert "CPU" in known["weights_gib_reason"]


@pytest.mark.parametrize("read", [-2.11, 0.03, float("nan"), 0.0, None])
def test_what_vllm_reads_on_a_cpu_is_no_size_of_the_weights(read):
    known = run_conditions("practice", SERVE, None, {"weights_gib": read})
    assert known["weights_gib"] is None and known["weights_gib_reason"]


@pytest.mark.parametrize("read", [-2.11, 0.0, float("nan"), float("inf")])
def test_a_size_that_no_weights_have_is_not_kept(read):
    known = run_conditions("fp8", [], None, {"weights_gib": read})
    assert known["weights_gib"] == checkpoints()["fp8"].resident_gib


@pytest.mark.parametrize("flag", [["--diffusion-config", "{}"], ["--diffusion-config={}"], ["-dc", "{}"]])
def test_the_flag_goes_before_the_file(flag):
    told = json.dumps({"canvas_length": 64, "max_denoising_steps": 16})
    command = [*SERVE, *(part.replace("{}", told) for part in flag)]
    assert step_cap(PRACTICE, command, None) == {"steps": 16, "source": "--diffusion-config"}


def test_another_generation_config_folder_is_read(tmp_path):
    (tmp_path / "generation_config.json").write_text('{"max_denoising_steps": 12}')
    assert step_cap(PRACTICE, [*SERVE, "--generation-config", str(tmp_path)], None)["steps"] == 12
    (tmp_path / "generation_config.json").write_text("{}")
    assert step_cap(PRACTICE, [*SERVE, f"--generation-config={tmp_path}"], None)["source"] == "vLLM's default"
    (tmp_path / "generation_config.json").write_text("[")
    assert step_cap(PRACTICE, [*SERVE, f"--generation-config={tmp_path}"], None)["steps"] is None


def test_a_model_of_the_hub_is_looked_up_in_its_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    fp8 = checkpoints()["fp8"]
    assert step_cap(fp8, ["vllm", "serve"], "abc")["steps"] is None
    snapshot = tmp_path / ("models--" + fp8.model.replace("/", "--")) / "snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot / "generation_config.json").write_text('{"max_denoising_steps": 48}')
    assert step_cap(fp8, ["vllm", "serve"], "abc") == {"steps": 48, "source": "generation_config.json"}


def test_what_the_log_measured_goes_before_the_table():
    assert run_conditions("fp8", [], None, {"weights_gib": 26.5})["weights_gib"] == 26.5
    assert "max_denoising_steps" not in run_conditions("fp8", [], None, {})
    assert run_conditions("somebody/else", SERVE, None, {}) == {}
    assert run_conditions("gemma4", ["vllm", "serve"], None, {}) == {"diffusion": False, "weights_gib": 48.58}
