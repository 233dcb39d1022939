"""Trains the practice checkpoint from nothing: `python -m exercises.practice.train --to DIR`.

The objective is that of uniform-state block diffusion: part of a canvas is replaced by random tokens, and the model
names the right token at every place. See README.md in this folder for the numbers.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from exercises.practice.broken_media import shut_out_broken_media

shut_out_broken_media()

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from exercises.practice.batches import Batch, Batches  # noqa: E402
from exercises.practice.data import corpus  # noqa: E402
from exercises.practice.denoiser import Denoiser  # noqa: E402
from exercises.practice.model import build_config, new_model, save_settings, save_weights  # noqa: E402
from exercises.practice.tokenizer import save_tokenizer, train_tokenizer  # noqa: E402

_WARMUP_STEPS = 200
_ALL_NOISE_TEXT = 0.35
_ALL_NOISE_PICTURE = 0.6
_AVERAGE_OVER_STEPS = 400


@dataclass(frozen=True, slots=True)
class Plan:
    """pictures: how many of a batch are pictures. minutes: None, or where to end even if steps are left."""

    steps: int
    minutes: float | None
    batch: int
    pictures: int
    rate: float
    seed: int
    workers: int
    device: torch.device

    def progress(self, step: int, seconds: float) -> float:
        by_time = seconds / (self.minutes * 60) if self.minutes else 0.0
        return max(step / self.steps, by_time)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    plan = Plan(
        steps=options.steps,
        minutes=options.minutes,
        batch=options.batch,
        pictures=round(options.batch * options.picture_share),
        rate=options.rate,
        seed=options.seed,
        workers=options.workers if options.workers is not None else max(1, min(14, (os.cpu_count() or 2) - 1)),
        device=device,
    )
    train(options.to, plan)
    return 0


def train(folder: Path, plan: Plan) -> None:
    """Writes a complete checkpoint folder; the weights at the end, in one go."""
    torch.backends.cuda.matmul.allow_tf32 = True
    tokenizer = train_tokenizer(corpus())
    save_tokenizer(tokenizer, folder)
    config = build_config(tokenizer)
    save_settings(config, folder)
    denoiser = Denoiser(new_model(config, plan.seed)).to(plan.device).train()
    count = sum(weight.numel() for weight in denoiser.parameters())
    print(f"{count / 1e6:.2f} M weights, vocabulary {tokenizer.get_vocab_size()}, on {plan.device}", flush=True)
    _fit(denoiser, _loader(folder, plan), plan)
    save_weights(denoiser.model, folder)
    print(f"saved {folder}, {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.2f} MB", flush=True)


def _fit(denoiser: Denoiser, batches: Iterable[Sequence[Batch]], plan: Plan) -> None:
    weights: list[Tensor] = [weight for weight in denoiser.parameters() if weight.requires_grad]
    average = [weight.detach().clone() for weight in weights]
    optimizer = torch.optim.AdamW(
        [
            {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": 0.01},
            {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=plan.rate,
        betas=(0.9, 0.98),
        fused=plan.device.type == "cuda",
    )
    torch.manual_seed(plan.seed)
    started = time.monotonic()
    for step, parts in enumerate(batches):
        progress = plan.progress(step, time.monotonic() - started)
        if progress >= 1:
            break
        rate = plan.rate * _share_of_rate(step, progress)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        weight = sum(float(part.weight.sum()) for part in parts)
        scores = [_learn(denoiser, part.to(plan.device), weight) for part in parts]
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, weights, 1 / min(step + 1, _AVERAGE_OVER_STEPS))
        if step % 50 == 0:
            print(f"{progress:4.0%} step {step} {time.monotonic() - started:5.0f} s, {_report(scores)}", flush=True)
    with torch.no_grad():
        for trained, mean in zip(weights, average, strict=True):
            trained.copy_(mean)


@dataclass(frozen=True, slots=True)
class _Score:
    """Of one part of a batch. right: (examples, canvas) bool."""

    loss: Tensor
    right: Tensor
    telling: Tensor
    pictures: int


def _learn(denoiser: Denoiser, batch: Batch, whole_weight: float) -> _Score:
    """Adds this part's gradient; whole_weight is the weight of all parts of the batch."""
    logits = _denoise_noisy(denoiser, batch)
    each = F.cross_entropy(logits.flatten(0, 1), batch.clean.flatten(), reduction="none").view_as(batch.weight)
    loss = (each * batch.weight).sum() / whole_weight
    torch.autograd.backward(loss)
    right = logits.detach().argmax(-1) == batch.clean
    return _Score(loss.detach(), right, batch.telling, batch.pixels.shape[0])


def _denoise_noisy(denoiser: Denoiser, batch: Batch) -> Tensor:
    """Noise the canvases, let the model guess once unseen in half of the steps, and return the guess that counts."""
    size, device = batch.clean.shape[0], batch.clean.device
    pictures = batch.pixels.shape[0]
    level = torch.rand(size, 1, device=device)
    all_noise = torch.full((size, 1), _ALL_NOISE_TEXT, device=device)
    all_noise[:pictures] = _ALL_NOISE_PICTURE
    level = torch.where(torch.rand(size, 1, device=device) < all_noise, 1.0, level)
    noise = torch.randint(0, denoiser.vocabulary, batch.clean.shape, device=device)
    canvas = torch.where(torch.rand(batch.clean.shape, device=device) < level, noise, batch.clean)
    pixels = (batch.pixels, batch.patch_positions) if pictures else (None, None)

    def guess(soft: Tensor | None) -> Tensor:
        logits: Tensor = denoiser(batch.prefix, batch.prefix_length, canvas, soft, batch.committed, *pixels)
        return logits

    if float(torch.rand(())) < 0.5:
        return guess(None)
    with torch.no_grad():
        soft = denoiser.soft_embedding(guess(None), 0.4 + 0.4 * float(torch.rand(())))
    return guess(soft)


def _share_of_rate(step: int, progress: float) -> float:
    warm = min(1.0, (step + 1) / _WARMUP_STEPS)
    return warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, progress))))


def _report(scores: list[_Score]) -> str:
    loss = sum(float(score.loss) for score in scores)
    every = torch.cat([score.right.flatten() for score in scores]).float()
    whole = torch.cat([score.right[score.pictures :].all(-1) for score in scores]).float()
    told = torch.cat([score.right[score.telling] for score in scores]).float()
    return (
        f"loss {loss:.4f}, tokens right {every.mean():.4f}, whole text canvases {whole.mean():.3f},"
        f" telling words of pictures {told.mean():.3f}"
    )


def _loader(folder: Path, plan: Plan) -> DataLoader[Sequence[Batch]]:
    return DataLoader(
        Batches(folder, plan.batch, plan.pictures, plan.seed),
        batch_size=None,
        num_workers=plan.workers,
        prefetch_factor=4 if plan.workers else None,
        pin_memory=False,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m exercises.practice.train", description=__doc__)
    parser.add_argument("--to", type=Path, required=True, help="the checkpoint folder to write")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--minutes", type=float, default=None, help="end after this long even if steps are left")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--picture-share", type=float, default=0.5)
    parser.add_argument("--rate", type=float, default=2.5e-3, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=None, help="processes that draw examples")
    return parser


if __name__ == "__main__":
    sys.exit(main())
