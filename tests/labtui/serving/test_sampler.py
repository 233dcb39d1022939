from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.errors import USAGE, LabError
from labtui.serving.checkpoints import checkpoints
from labtui.serving.plan import make_plan, plan_to_json
from labtui.serving.sampler import SETTINGS, SamplerChange, edited, read_settings

from .conftest import MACHINE


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def change(tmp_path: Path, checkpoint: str = "practice", **settings: float) -> SamplerChange:
    made = edited(checkpoints()[checkpoint], settings, tmp_path)
    assert made is not None
    return made


def test_an_edited_copy_differs_in_what_was_asked_for_and_in_nothing_else(tmp_path: Path) -> None:
    made = change(tmp_path, entropy_bound=0.25, t_max=0.9)
    made.write()
    assert made.folder is not None
    own = checkpoints()["practice"].folder
    assert own is not None
    before = json.loads((own / "generation_config.json").read_text())
    after = json.loads((made.folder / "generation_config.json").read_text())
    assert after["sampler_config"] == {**before["sampler_config"], "entropy_bound": 0.25}
    assert after["t_max"] == 0.9
    unchanged = set(before) - {"sampler_config", "t_max"}
    assert {key: after[key] for key in unchanged} == {key: before[key] for key in unchanged}
    assert before["sampler_config"]["entropy_bound"] == 0.1, "the checkpoint itself is not touched"


def test_the_cap_on_steps_needs_no_file(tmp_path: Path) -> None:
    made = change(tmp_path, max_denoising_steps=16)
    assert (made.folder, made.max_steps) == (None, 16)
    made.write()
    assert list(tmp_path.iterdir()) == []


def test_without_the_checkpoints_own_file_the_published_numbers_are_the_rest(tmp_path: Path) -> None:
    made = change(tmp_path, "bf16", t_min=0.3)
    data = json.loads(made.text)
    assert (data["t_min"], data["t_max"], data["sampler_config"]["entropy_bound"]) == (0.3, 0.8, 0.1)
    assert "EntropyBound" in data["sampler_config"]["_cls_name"]
    assert "model card" in made.words()[-1]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("entropy_bund=1", "Did you mean entropy_bound?"),
        ("entropy_bound", "must be a number"),
        ("entropy_bound=0", "above 0"),
        ("t_min=-1", "0 or more"),
        ("t_min=nan", "0 or more"),
        ("t_max=inf", "0 or more"),
        ("max_denoising_steps=0", "1 or more"),
        ("max_denoising_steps=1.5", "whole number"),
    ],
)
def test_what_vllm_would_refuse_is_refused_first(word: str, said: str) -> None:
    with pytest.raises(LabError) as raised:
        read_settings([word])
    error = raised.value
    assert error.exit_code == USAGE
    assert said in f"{error.title} {error.cause} {error.fix}"


def test_temperatures_that_cross_and_a_model_without_canvases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="above t_max"):
        change(tmp_path, t_min=0.9)
    with pytest.raises(LabError, match="no diffusion sampler"):
        change(tmp_path, "gemma4", t_min=0.3)


def test_a_plan_carries_shows_and_does_not_set_it_twice(tmp_path: Path) -> None:
    asked = ["entropy_bound=0.2", "max-denoising-steps=16"]
    plan = make_plan("practice", machine=MACHINE, sampler=asked, state_dir=tmp_path, port=8123)
    folder = plan.argv[plan.argv.index("--generation-config") + 1]
    assert folder.startswith(str(tmp_path))
    assert json.loads(plan.argv[plan.argv.index("--diffusion-config") + 1])["max_denoising_steps"] == 16
    assert any("entropy_bound 0.2 instead of 0.1" in reason for reason in plan.why)
    assert plan_to_json(plan)["sampler"]["settings"]["entropy_bound"] == 0.2
    assert plan.key != make_plan("practice", machine=MACHINE, state_dir=tmp_path, port=8123).key
    for own in (["--generation-config", "vllm"], ["--diffusion-config", '{"canvas_length": 64}']):
        with pytest.raises(LabError, match="set twice"):
            make_plan("practice", machine=MACHINE, sampler=asked, state_dir=tmp_path, extra_flags=own)


@given(st.sampled_from(sorted(SETTINGS)), st.floats(0.001, 100))
def test_what_is_read_is_within_its_bounds_or_refused(name: str, value: float) -> None:
    setting = SETTINGS[name]
    try:
        read = read_settings([f"{name}={value!r}"])[name]
    except LabError:
        assert setting.whole
    else:
        assert read == value and read >= setting.least
