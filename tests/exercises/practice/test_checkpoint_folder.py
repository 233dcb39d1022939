from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

import exercises.practice
from exercises.practice.data import answers
from exercises.practice.phrasing import KNOWN_PICTURE, UNSEEN_PYTHON, UNSEEN_SVG

CHECKPOINT = Path(exercises.practice.__file__).parent / "checkpoint"
MEGABYTE = 1_000_000


def read_json(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((CHECKPOINT / name).read_text("utf-8"))
    return value


def render(messages: list[dict[str, Any]]) -> str:
    jinja2 = pytest.importorskip("jinja2")
    template = jinja2.Template((CHECKPOINT / "chat_template.jinja").read_text("utf-8"))
    text: str = template.render(messages=messages, bos_token="<bos>", add_generation_prompt=True)
    return text


def test_the_folder_is_complete_and_small() -> None:
    names = {path.name for path in CHECKPOINT.iterdir()}
    assert names == {
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "preprocessor_config.json",
        "processor_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert sum(path.stat().st_size for path in CHECKPOINT.iterdir()) < 12 * MEGABYTE


def test_the_weights_are_those_of_the_config() -> None:
    with (CHECKPOINT / "model.safetensors").open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        tensors = json.loads(file.read(length))
    config = read_json("config.json")
    embedding = tensors["model.encoder.language_model.embed_tokens.weight"]
    assert embedding["dtype"] == "F32"
    assert embedding["shape"] == [config["text_config"]["vocab_size"], config["text_config"]["hidden_size"]]
    assert any(name.startswith("model.encoder.vision_tower.") for name in tensors)
    assert any(".self_conditioning." in name for name in tensors)


def test_it_is_sampled_as_the_real_model_is() -> None:
    """Values of google/diffusiongemma's generation_config.json."""
    settings = read_json("generation_config.json")
    assert settings["max_denoising_steps"] == 48
    assert settings["sampler_config"]["entropy_bound"] == 0.1
    assert (settings["t_min"], settings["t_max"]) == (0.4, 0.8)
    assert (settings["stability_threshold"], settings["confidence_threshold"]) == (1, 0.005)


def test_the_tokenizer_gives_every_answer_back() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(CHECKPOINT / "tokenizer.json"))
    texts = [*answers(), *KNOWN_PICTURE, *UNSEEN_SVG, *UNSEEN_PYTHON, "Grüße, 你好 \t 🙂", "  two  spaces\n\n\nlines "]
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert tokenizer.decode(ids) == text


def test_coding_answers_are_longer_than_a_canvas() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(CHECKPOINT / "tokenizer.json"))
    canvas = read_json("config.json")["canvas_length"]
    scenes = [text for text in answers() if "<svg" in text and len(text) > 400]
    assert len(scenes) >= 12
    for text in scenes:
        assert 2 * canvas < len(tokenizer.encode(text).ids) < 6 * canvas


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        ([{"role": "user", "content": " hi "}], "<bos><|turn>user\nhi<turn|>\n<|turn>model\n"),
        (
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            "<bos><|turn>system\nBe brief.<turn|>\n<|turn>user\nhi<turn|>\n<|turn>model\n",
        ),
        (
            [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "Hello!"},
                {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Pass or not?"}]},
            ],
            "<bos><|turn>user\nhi<turn|>\n<|turn>model\nHello!<turn|>\n"
            "<|turn>user\n<|image|>Pass or not?<turn|>\n<|turn>model\n",
        ),
        ([{"role": "user", "content": None}], "<bos><|turn>user\n<turn|>\n<|turn>model\n"),
        ([{"role": "user", "content": []}], "<bos><|turn>user\n<turn|>\n<|turn>model\n"),
    ],
)
def test_the_chat_template_takes_what_clients_send(messages: list[dict[str, Any]], wanted: str) -> None:
    assert render(messages) == wanted
