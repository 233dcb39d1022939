"""The shipped weights, loaded through transformers in a process of their own (its import needs help, broken_media)."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import exercises.practice
from exercises.practice.python_answers import FUNCTIONS
from exercises.practice.small_talk import UNKNOWN
from exercises.practice.svg_answers import SCENES

CHECKPOINT = Path(exercises.practice.__file__).parent / "checkpoint"
CHILD = Path(__file__).with_name("loaded_checkpoint_child.py")
REPOSITORY = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers comes with the extras cpu and gpu"
)

PROMPTS = (
    "Write an SVG of two tectonic plates that push together.",
    "Write an SVG of a smiley that winks.",
    "Write a Python function that computes the greatest common divisor.",
    "Tell me a story about a castle and a tomato.",
)


def run_child(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", "HF_HUB_OFFLINE": "1", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    last = run_child(str(CHILD), str(CHECKPOINT), json.dumps(PROMPTS), "6").splitlines()[-1]
    loaded: dict[str, Any] = json.loads(last)
    return loaded


def test_it_is_a_real_diffusiongemma(seen: dict[str, Any]) -> None:
    assert seen["architectures"] == ["DiffusionGemmaForBlockDiffusion"]
    assert 2_000_000 < seen["parameters"] < 3_000_000


def test_it_answers_what_it_was_taught(seen: dict[str, Any]) -> None:
    gcd = next(function for function in FUNCTIONS if function.name == "gcd")
    taught = [SCENES[0].svg, SCENES[-1].svg, gcd.answer, UNKNOWN]
    right = [said["text"] == text for said, text in zip(seen["texts"], taught, strict=True)]
    assert right.count(True) >= 3, seen["texts"]


def test_it_reads_pictures_that_it_never_saw(seen: dict[str, Any]) -> None:
    right = [said["text"].startswith("Yes" if said["passes"] else "No") for said in seen["pictures"]]
    assert right.count(True) >= 5, seen["pictures"]
    assert {said["passes"] for said in seen["pictures"]} == {True, False}


def test_canvases_converge_early(seen: dict[str, Any]) -> None:
    """More than 10 tokens a forward pass on answers of several canvases: no autoregressive model gets beyond 1."""
    assert seen["texts"][0]["tokens_per_forward"] > 10


def test_training_computes_what_encoder_and_decoder_compute(seen: dict[str, Any]) -> None:
    assert seen["one_pass_differs_by"] < 1e-3


def test_training_writes_a_whole_checkpoint(tmp_path: Path) -> None:
    made = tmp_path / "made"
    said = run_child(
        *("-m", "exercises.practice.train", "--to", str(made)),
        *("--steps", "2", "--batch", "4", "--workers", "0"),
    )
    assert "telling words of pictures" in said
    assert sorted(path.name for path in made.iterdir()) == sorted(path.name for path in CHECKPOINT.iterdir())
    assert (made / "tokenizer.json").read_bytes() == (CHECKPOINT / "tokenizer.json").read_bytes()
    assert (made / "config.json").read_bytes() == (CHECKPOINT / "config.json").read_bytes()
