"""Turns examples into tensors: chat prefix, one canvas of the answer, pictures as patches, a weight for each token."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info
from transformers import AutoTokenizer
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

from exercises.drawings.barrier import COLOURS
from exercises.drawings.vehicles import KINDS
from exercises.practice import tokenizer as tokens
from exercises.practice.data import PictureExample, TextExample, draw_picture_example, draw_text_example
from exercises.practice.model import CANVAS, PICTURE_PROCESSOR

LONG_PREFIX = 128
"""Examples with longer prefixes get a pass of their own, so that the short ones are not padded to their length."""

_COMMITTED_AS_VLLM = 0.75
_PADDING_WEIGHT = 0.3
_TELLING_WEIGHT = 5.0
_TELLING_WORDS = ("Yes", "No", "lower", "higher", *COLOURS, *KINDS)


@dataclass(frozen=True, slots=True)
class Batch:
    """The pictures' examples come first. weight: (batch, canvas), telling: (batch, canvas) bool, see Encoder.

    committed: (batch, prefix) bool, the tokens of earlier canvases where they are to be embedded as vLLM does.
    """

    prefix: Tensor
    prefix_length: Tensor
    committed: Tensor
    clean: Tensor
    weight: Tensor
    telling: Tensor
    pixels: Tensor
    patch_positions: Tensor

    def to(self, device: torch.device) -> Batch:
        return Batch(*(getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Encoded:
    """committed: how many tokens at the prefix's end are those of earlier canvases, embedded as vLLM does."""

    prefix: list[int]
    clean: list[int]
    committed: int = 0
    pixels: Tensor | None = None
    patch_positions: Tensor | None = None


class Encoder:
    """folder: a checkpoint folder with its tokenizer.

    The words of a picture's answer that tell one picture from another weigh more than the rest, which is the same under
    every picture; the padding after the answer weighs less.
    """

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.pictures: Any = Gemma4ImageProcessorPil(**PICTURE_PROCESSOR)
        self.pad, self.turn_end = self._id(tokens.PAD), self._id(tokens.TURN_END)
        self.image_start, self.image, self.image_end = map(
            self._id, (tokens.IMAGE_START, tokens.IMAGE, tokens.IMAGE_END)
        )
        self.telling = torch.tensor(sorted(self._telling_tokens()))

    def prefix_of(self, messages: list[dict[str, Any]]) -> list[int]:
        encoded = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        return list(encoded if isinstance(encoded, list) else encoded["input_ids"])

    def canvases_of(self, answer: str) -> list[list[int]]:
        ids = [*self.tokenizer.encode(answer, add_special_tokens=False), self.turn_end]
        ids += [self.pad] * (-len(ids) % CANVAS)
        return [ids[start : start + CANVAS] for start in range(0, len(ids), CANVAS)]

    def text(self, example: TextExample, rng: random.Random) -> Encoded:
        """One canvas of the answer, behind the prompt and the canvases before it."""
        prefix = self.prefix_of([*_system(example.system), {"role": "user", "content": example.prompt}])
        canvases = self.canvases_of(example.answer)
        at = rng.randrange(len(canvases))
        before = [token for canvas in canvases[:at] for token in canvas]
        committed = len(before) if rng.random() < _COMMITTED_AS_VLLM else 0
        return Encoded(prefix + before, canvases[at], committed)

    def picture(self, example: PictureExample) -> Encoded:
        parts: list[dict[str, str]] = [{"type": "image"}, {"type": "text", "text": example.question}]
        if example.question_first:
            parts.reverse()
        prefix = self.prefix_of([*_system(example.system), {"role": "user", "content": parts}])
        processed = self.pictures(images=[example.image], return_tensors="pt")
        soft = int(processed["num_soft_tokens_per_image"][0])
        at = prefix.index(self.image)
        prefix[at : at + 1] = [self.image_start, *[self.image] * soft, self.image_end]
        (clean,) = self.canvases_of(example.answer)
        return Encoded(prefix, clean, 0, processed["pixel_values"][0], processed["image_position_ids"][0])

    def batch(self, pictures: list[Encoded], texts: list[Encoded]) -> Batch:
        every = [*pictures, *texts]
        longest = max(len(encoded.prefix) for encoded in every)
        prefix = torch.full((len(every), longest), self.pad)
        committed = torch.zeros(len(every), longest, dtype=torch.bool)
        for row, encoded in enumerate(every):
            end = len(encoded.prefix)
            prefix[row, :end] = torch.tensor(encoded.prefix)
            committed[row, end - encoded.committed : end] = True
        clean = torch.tensor([encoded.clean for encoded in every])
        telling = torch.isin(clean, self.telling)
        telling[len(pictures) :] = False
        weight = torch.ones(clean.shape).masked_fill(clean == self.pad, _PADDING_WEIGHT)
        weight[telling] = _TELLING_WEIGHT
        pixels = [encoded.pixels for encoded in pictures if encoded.pixels is not None]
        places = [encoded.patch_positions for encoded in pictures if encoded.patch_positions is not None]
        return Batch(
            prefix=prefix,
            prefix_length=torch.tensor([len(encoded.prefix) for encoded in every]),
            committed=committed,
            clean=clean,
            weight=weight,
            telling=telling,
            pixels=torch.stack(pixels) if pixels else torch.empty(0),
            patch_positions=torch.stack(places) if places else torch.empty(0),
        )

    def _id(self, token: str) -> int:
        return int(self.tokenizer.convert_tokens_to_ids(token))

    def _telling_tokens(self) -> set[int]:
        found = set()
        for word in _TELLING_WORDS:
            for text in (word, f" {word}"):
                found.update(self.tokenizer.encode(text, add_special_tokens=False))
        return found - set(self.tokenizer.encode(" ", add_special_tokens=False))


class Batches(IterableDataset[Sequence[Batch]]):
    """Endless new batches, each in one or two parts by length. Each worker of a DataLoader draws its own."""

    def __init__(self, folder: Path, size: int, pictures: int, seed: int) -> None:
        super().__init__()
        self.folder, self.size, self.pictures, self.seed = folder, size, pictures, seed

    def __iter__(self) -> Iterator[Sequence[Batch]]:
        torch.set_num_threads(1)
        worker = get_worker_info()
        rng = random.Random(f"{self.seed}/{worker.id if worker else 0}")
        encoder = Encoder(self.folder)
        while True:
            pictures = [encoder.picture(draw_picture_example(rng)) for _ in range(self.pictures)]
            texts = [encoder.text(draw_text_example(rng), rng) for _ in range(self.size - self.pictures)]
            short = [text for text in texts if len(text.prefix) <= LONG_PREFIX]
            long = [text for text in texts if len(text.prefix) > LONG_PREFIX]
            parts = [(pictures, short), ([], long)]
            yield tuple(encoder.batch(*part) for part in parts if any(part))


def _system(text: str | None) -> list[dict[str, Any]]:
    return [] if text is None else [{"role": "system", "content": text}]
