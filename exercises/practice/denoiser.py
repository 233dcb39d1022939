"""One pass over [prefix ; canvas] that gives what encoder and decoder give one after the other.

Served, DiffusionGemma first encodes the prefix causally into a key-value cache and then denoises the canvas, which sees
the whole cache and itself. Both use the same weights, so training does the two in one pass under a mask.
"""

from __future__ import annotations

import math
from types import MethodType
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import DiffusionGemmaForBlockDiffusion


class Denoiser(nn.Module):
    def __init__(self, model: DiffusionGemmaForBlockDiffusion) -> None:
        super().__init__()
        self.model = model
        # transformers annotates these as unions of everything they may be before they are loaded.
        self.config = cast(Any, model.config)
        self.decoder = cast(Any, model.model.decoder)
        self.encoder = cast(Any, model.model.encoder)
        self.config._attn_implementation = "sdpa"
        self.config.text_config._attn_implementation = "sdpa"
        self.vocabulary = int(self.config.text_config.vocab_size)
        self.scale = math.sqrt(self.config.text_config.hidden_size)
        for layer in self.decoder.layers:
            layer.experts.forward = MethodType(_all_experts, layer.experts)

    def forward(
        self,
        prefix: Tensor,
        prefix_length: Tensor,
        canvas: Tensor,
        soft: Tensor | None,
        committed: Tensor | None = None,
        pixels: Tensor | None = None,
        patch_positions: Tensor | None = None,
    ) -> Tensor:
        """Logits of shape (batch, canvas, vocabulary).

        prefix: token ids (batch, longest prefix), padded at the right; prefix_length: (batch,).
        canvas: token ids (batch, canvas). soft: the soft embedding of the step before, or None in a first step.
        committed: bool (batch, longest prefix), tokens of earlier canvases that are to be embedded as vLLM does.
        pixels (pictures, patches, patch pixels) and patch_positions (pictures, patches, 2) in the order of their image
        tokens in the prefix.
        """
        embed = self.decoder.embed_tokens.weight
        before = F.embedding(prefix, embed) * self.scale
        if committed is not None:
            # vLLM 0.32 also runs the pass that commits a canvas through the self-conditioning (with no signal), whose
            # last norm rescales the embeddings; transformers' encoder does not. A model this small feels it.
            normed = self.decoder.self_conditioning(before, torch.zeros_like(before))
            before = torch.where(committed.unsqueeze(-1), normed, before)
        if pixels is not None:
            features = self.encoder.get_image_features(pixels, patch_positions, return_dict=True).pooler_output
            is_picture = (prefix == self.config.image_token_id).unsqueeze(-1)
            before = before.masked_scatter(is_picture, features.to(before.dtype))
        noisy = F.embedding(canvas, embed) * self.scale
        noisy = self.decoder.self_conditioning(noisy, torch.zeros_like(noisy) if soft is None else soft)

        hidden = torch.cat([before, noisy], dim=1)
        positions, mask = _positions_and_mask(prefix.shape[1], prefix_length, canvas.shape[1])
        rotary = {kind: self.decoder.rotary_emb(hidden, positions, kind) for kind in self.decoder.unique_layer_types}
        for layer, kind in zip(self.decoder.layers, self.config.text_config.layer_types, strict=True):
            hidden = layer(
                hidden,
                position_embeddings=rotary[kind],
                attention_mask=mask,
                position_ids=positions,
                past_key_values=None,
            )
        logits = self.model.lm_head(self.decoder.norm(hidden[:, prefix.shape[1] :])).float()
        cap = float(self.config.text_config.final_logit_softcapping)
        return torch.tanh(logits / cap) * cap

    def soft_embedding(self, logits: Tensor, temperature: float) -> Tensor:
        """What the sampler hands to the next step: the mean embedding under the logits at that temperature."""
        mean: Tensor = torch.softmax(logits / temperature, dim=-1) @ self.decoder.embed_tokens.weight
        return mean * self.scale


def _positions_and_mask(longest: int, prefix_length: Tensor, canvas: int) -> tuple[Tensor, Tensor]:
    device, batch, total = prefix_length.device, prefix_length.shape[0], longest + canvas
    places = torch.arange(longest, device=device)
    after = prefix_length[:, None] + torch.arange(canvas, device=device)[None]
    positions = torch.cat([places.expand(batch, longest), after], dim=1)
    seen = torch.zeros(batch, total, total, dtype=torch.bool, device=device)
    seen[:, :longest, :longest] = places[:, None] >= places[None]
    seen[:, longest:, :longest] = (places[None] < prefix_length[:, None])[:, None]
    seen[:, longest:, longest:] = True
    mask = torch.zeros(batch, 1, total, total, device=device).masked_fill(~seen[:, None], float("-inf"))
    return positions, mask


def _all_experts(experts: Any, hidden: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
    """Every expert on every token. All experts are chosen for all tokens here, so sorting tokens only costs time."""
    out = torch.zeros_like(hidden)
    for expert in range(experts.num_experts):
        share = (weights * (chosen == expert)).sum(-1, keepdim=True).to(hidden.dtype)
        gate, up = F.linear(hidden, experts.gate_up_proj[expert]).chunk(2, dim=-1)
        out = out + F.linear(experts.act_fn(gate) * up, experts.down_proj[expert]) * share
    return out
