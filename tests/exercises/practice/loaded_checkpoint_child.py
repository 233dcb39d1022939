"""Run by test_trained_weights.py in a process of its own: loads the shipped weights and prints what it saw as JSON."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from exercises.drawings.barrier import draw_barrier
from exercises.practice.broken_media import shut_out_broken_media

shut_out_broken_media()

import torch  # noqa: E402
from transformers import DiffusionGemmaForBlockDiffusion  # noqa: E402

from exercises.practice.batches import Encoder  # noqa: E402
from exercises.practice.data import PictureExample, TextExample, picture_answer  # noqa: E402
from exercises.practice.denoiser import Denoiser  # noqa: E402
from exercises.practice.model import CANVAS  # noqa: E402


def main(folder: Path, prompts: list[str], pictures: int) -> dict[str, Any]:
    torch.manual_seed(4)
    encoder = Encoder(folder)
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return {
            "architectures": model.config.architectures,
            "parameters": sum(weight.numel() for weight in model.parameters()),
            "texts": [answer(model, encoder, text_prefix(encoder, prompt)) for prompt in prompts],
            "pictures": [picture(model, encoder, random.Random(900 + n)) for n in range(pictures)],
            # Last: it replaces the experts' way of computing.
            "one_pass_differs_by": one_pass_differs_by(model, encoder, prompts[0]),
        }


def text_prefix(encoder: Encoder, prompt: str) -> list[int]:
    return encoder.text(TextExample(prompt, ""), random.Random(0)).prefix


def answer(model: Any, encoder: Encoder, prefix: list[int], **pictures: torch.Tensor) -> dict[str, Any]:
    made = model.generate(input_ids=torch.tensor([prefix]), max_new_tokens=512, **pictures)
    text = encoder.tokenizer.decode(made.sequences[0][len(prefix) :], skip_special_tokens=True)
    return {"text": text.strip(), "tokens_per_forward": float(made.tokens_per_forward[0])}


def picture(model: Any, encoder: Encoder, rng: random.Random) -> dict[str, Any]:
    scene = draw_barrier(rng, 320, 240)
    taught = picture_answer(scene)
    encoded = encoder.picture(PictureExample(scene.image, "Does the vehicle pass under the bar?", taught, False))
    assert encoded.pixels is not None and encoded.patch_positions is not None
    said = answer(
        model,
        encoder,
        encoded.prefix,
        pixel_values=encoded.pixels[None],
        image_position_ids=encoded.patch_positions[None],
    )
    return {**said, "passes": scene.passes}


def one_pass_differs_by(model: Any, encoder: Encoder, prompt: str) -> float:
    """The largest difference between the logits that training computes and those of encoder and decoder in turn."""
    prefix = text_prefix(encoder, prompt)
    canvas = torch.randint(0, model.config.text_config.vocab_size, (1, CANVAS))
    served = model(input_ids=torch.tensor([prefix]), decoder_input_ids=canvas).logits
    # Padded at the right, as in a batch with a longer example.
    padded = torch.tensor([[*prefix, encoder.pad, encoder.pad]])
    trained = Denoiser(model)(padded, torch.tensor([len(prefix)]), canvas, None)
    return float((served - trained).abs().max())


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]))))
