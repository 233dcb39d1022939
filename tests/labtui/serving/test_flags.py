from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.errors import LabError
from labtui.serving.flags import long_name, own_number, own_value, read_own_flags, remarks_on


def test_values_stay_with_their_flag_as_they_were_typed() -> None:
    own = read_own_flags(["--lora-modules", "a=1", "b=2", "-tp", "2", "--seed=-3", "--enforce-eager"])
    assert [flag.name for flag in own] == ["--lora-modules", "--tensor-parallel-size", "--seed", "--enforce-eager"]
    assert [word for flag in own for word in flag.typed] == [
        "--lora-modules", "a=1", "b=2", "-tp", "2", "--seed=-3", "--enforce-eager",
    ]  # fmt: skip
    assert own[0].values == ("a=1", "b=2")
    assert own[2].values == ("-3",)


def test_negative_numbers_are_values() -> None:
    assert read_own_flags(["--max-model-len", "-1"])[0].values == ("-1",)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("--max_num_seqs", "--max-num-seqs"),
        ("--diffusion-config.canvas_length", "--diffusion-config"),
        ("-dc", "--diffusion-config"),
        ("-x", "-x"),
    ],
)
def test_the_names_that_vllm_takes(typed: str, name: str) -> None:
    assert long_name(typed) == name


@pytest.mark.parametrize(
    ("text", "number"), [("8k", 8000), ("8K", 8192), ("4096", 4096), ("1M", 1 << 20), ("auto", None)]
)
def test_numbers_as_vllm_reads_them(text: str, number: int | None) -> None:
    assert own_number(read_own_flags(["--max-model-len", text]), "--max-model-len", int) == number


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(LabError, match="is no number"):
        own_number(read_own_flags(["--max-model-len", "many"]), "--max-model-len", int)


def test_the_last_value_counts() -> None:
    own = read_own_flags(["--port", "1", "--port", "2"])
    assert own_value(own, "--port") == "2"
    assert own_value(own, "--host") is None


@pytest.mark.parametrize(
    ("typed", "remark"),
    [
        (["--hf-overrides", '{"diffusion_entropy_bound": 0.1}'], "changes nothing"),
        (["--hf-overrides", '{"rope_theta": 1}'], None),
        (["--max-num-seqs", "128"], "runs 8"),
        (["--max-num-seqs", "127"], None),
        (["--attention-backend", "flashinfer"], "refused"),
        (["--diffusion-config", '{"max_denoising_steps": 16}'], "canvas_length"),
        (["--diffusion-config.max_denoising_steps", "16"], "canvas_length"),
        (["--diffusion-config", '{"canvas_length": 256}'], None),
        (["--load-format", "dummy"], "random"),
        (["--load-format", "safetensors"], None),
    ],
)
def test_remarks_on_flags_that_do_not_do_what_guides_say(typed: list[str], remark: str | None) -> None:
    remarks = remarks_on(read_own_flags(typed))
    assert remarks == [] if remark is None else remark in remarks[0]


@given(st.lists(st.text(min_size=1, max_size=12), max_size=8))
def test_no_words_are_lost_or_invented(words: list[str]) -> None:
    try:
        own = read_own_flags(words)
    except LabError:
        return
    assert [word for flag in own for word in flag.typed] == words
