"""The practice checkpoint's shape, and the folder that vLLM and transformers read it from.

It is a DiffusionGemmaForBlockDiffusion with every part of the real one (mixture of experts, sliding and full attention,
self-conditioning, a Gemma 4 vision tower), only smaller: the weights must stay under 12 MB.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

from exercises.practice import tokenizer as tokens

CANVAS = 64
HIDDEN = 192
# vLLM's CPU attention takes few head sizes (32, 64, 80, ...); 32 is the smallest.
HEAD = 32
LAYERS = ("sliding_attention", "sliding_attention", "sliding_attention", "full_attention")
VISION_HIDDEN = 96
VISION_LAYERS = 3
PATCH = 4
POOL = 3
SOFT_TOKENS = 70
"""Most picture tokens: a picture is scaled to at most SOFT_TOKENS * (POOL * PATCH)² pixels, about 108×84 for 4:3."""

PICTURE_PROCESSOR: dict[str, Any] = {
    "patch_size": PATCH,
    "max_soft_tokens": SOFT_TOKENS,
    "pooling_kernel_size": POOL,
    "do_resize": True,
    "do_rescale": True,
    "do_normalize": False,
    "do_convert_rgb": True,
    "resample": 3,
}

# The real model's defaults (google/diffusiongemma, generation_config.json).
DENOISING: dict[str, Any] = {
    "max_denoising_steps": 48,
    "t_min": 0.4,
    "t_max": 0.8,
    "stability_threshold": 1,
    "confidence_threshold": 0.005,
    "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 0.1},
}


def build_config(tokenizer: Tokenizer) -> DiffusionGemmaConfig:
    def token(text: str) -> int:
        number = tokenizer.token_to_id(text)
        assert number is not None, text
        return number

    text = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": HIDDEN,
        "intermediate_size": 2 * HIDDEN,
        "num_hidden_layers": len(LAYERS),
        "num_attention_heads": HIDDEN // HEAD,
        "num_key_value_heads": 2,
        "num_global_key_value_heads": 2,
        "head_dim": HEAD,
        "global_head_dim": HEAD,
        "max_position_embeddings": 4096,
        "sliding_window": 1024,
        "layer_types": list(LAYERS),
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 100_000.0},
        },
        "num_experts": 2,
        "top_k_experts": 2,
        "moe_intermediate_size": 128,
        "final_logit_softcapping": 30.0,
        "pad_token_id": token(tokens.PAD),
        "eos_token_id": token(tokens.EOS),
        "bos_token_id": token(tokens.BOS),
    }
    vision = {
        "hidden_size": VISION_HIDDEN,
        "intermediate_size": 2 * VISION_HIDDEN,
        "num_hidden_layers": VISION_LAYERS,
        "num_attention_heads": VISION_HIDDEN // HEAD,
        "num_key_value_heads": VISION_HIDDEN // HEAD,
        "head_dim": HEAD,
        "patch_size": PATCH,
        "pooling_kernel_size": POOL,
        "position_embedding_size": 64,
        "default_output_length": SOFT_TOKENS,
    }
    config = DiffusionGemmaConfig(
        text_config=text,
        vision_config=vision,
        boi_token_id=token(tokens.IMAGE_START),
        eoi_token_id=token(tokens.IMAGE_END),
        image_token_id=token(tokens.IMAGE),
        canvas_length=CANVAS,
    )
    config.eos_token_id = [token(tokens.EOS), token(tokens.TURN_END)]
    config.architectures = ["DiffusionGemmaForBlockDiffusion"]
    config.dtype = "float32"
    return config


def new_model(config: DiffusionGemmaConfig, seed: int) -> DiffusionGemmaForBlockDiffusion:
    """Random weights, on the CPU, in float32."""
    torch.manual_seed(seed)
    model = DiffusionGemmaForBlockDiffusion(config)
    # transformers starts the vision tower's position table at ones, which drowns the patches (about 0.1) for good.
    embedder = model.model.encoder.vision_tower.patch_embedder
    with torch.no_grad():
        embedder.position_embedding_table.normal_(0.0, 0.3)
        embedder.input_proj.weight.mul_(5.0)
        model.model.encoder.embed_vision.embedding_projection.weight.mul_(2.0)
    return model


def save_weights(model: DiffusionGemmaForBlockDiffusion, folder: Path) -> None:
    """Writes model.safetensors. The encoder's text layers are the decoder's (tied), so each tensor is written once."""
    written: set[tuple[int, tuple[int, ...]]] = set()
    state = {}
    for name, tensor in model.state_dict().items():
        place = (tensor.data_ptr(), tuple(tensor.shape))
        if tensor.numel() > 1 and place in written:
            continue
        written.add(place)
        state[name] = tensor.detach().cpu().contiguous()
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


def save_settings(config: DiffusionGemmaConfig, folder: Path) -> None:
    """Writes every file of the checkpoint but the weights and the tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    text: Any = config.text_config
    pictures = {"image_processor_type": "Gemma4ImageProcessor", **PICTURE_PROCESSOR}
    _write_json(
        folder / "generation_config.json",
        {
            "_from_model_config": False,
            "bos_token_id": text.bos_token_id,
            "eos_token_id": config.eos_token_id,
            "pad_token_id": text.pad_token_id,
            **DENOISING,
        },
    )
    _write_json(folder / "preprocessor_config.json", {"processor_class": "Gemma4Processor", **pictures})
    _write_json(
        folder / "processor_config.json",
        {
            "processor_class": "Gemma4Processor",
            "image_seq_length": SOFT_TOKENS,
            "audio_seq_length": 8,
            "audio_ms_per_token": 40,
            "image_processor": pictures,
            # The processor builds these two as well, though the checkpoint takes neither sound nor video.
            "feature_extractor": {
                "feature_extractor_type": "Gemma4AudioFeatureExtractor",
                "feature_size": 128,
                "sampling_rate": 16_000,
                "padding_value": 0.0,
            },
            "video_processor": {
                "video_processor_type": "Gemma4VideoProcessor",
                "patch_size": PATCH,
                "max_soft_tokens": SOFT_TOKENS,
                "pooling_kernel_size": POOL,
            },
        },
    )


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
