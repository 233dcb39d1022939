"""The practice checkpoint's tokenizer: byte pairs with byte fallback, Gemma's special tokens and turn markers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

VOCABULARY = 1024
PAD, EOS, BOS, UNK, MASK = "<pad>", "<eos>", "<bos>", "<unk>", "<mask>"
TURN_START, TURN_END = "<|turn>", "<turn|>"
IMAGE_START, IMAGE, IMAGE_END = "<|image>", "<|image|>", "<image|>"

# transformers' Gemma 4 processor looks every one of these up, also those of media that this checkpoint does not take.
SPECIAL = (
    *(PAD, EOS, BOS, UNK, MASK, TURN_START, TURN_END, "<|think|>", "<|channel>", "<channel|>"),
    *(IMAGE_START, IMAGE, IMAGE_END, "<|audio>", "<|audio|>", "<audio|>", "<|video|>"),
    *("<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>'),
)

CHAT_TEMPLATE = """\
{{ bos_token }}
{%- for message in messages -%}
{{ '<|turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' }}
{%- if message['content'] is string -%}
{{ message['content'] | trim }}
{%- elif message['content'] -%}
{%- for part in message['content'] -%}
{%- if part['type'] in ('image', 'image_url') -%}{{ '<|image|>' }}
{%- elif part['type'] == 'text' -%}{{ part['text'] | trim }}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
{{ '<turn|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|turn>model\\n' }}{%- endif -%}
"""

_SPACE = "\u2581"
_PIECES = rf"\n+{_SPACE}*|{_SPACE}?[A-Za-z_]+|[0-9]{{1,3}}|{_SPACE}+|[^A-Za-z0-9{_SPACE}\n]{{1,3}}"


def train_tokenizer(texts: Iterable[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token=UNK, byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", _SPACE)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECES), behavior="isolated")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()],
    )
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[*SPECIAL, *byte_tokens],
        initial_alphabet=[*map(chr, range(33, 127)), _SPACE, "\n"],
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    # The trainer makes the byte tokens special too, and special tokens are dropped from decoded text: undone here.
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] in SPECIAL]
    plain: Tokenizer = Tokenizer.from_str(json.dumps(state))
    return plain


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    markers = {
        "image_token": IMAGE,
        "boi_token": IMAGE_START,
        "eoi_token": IMAGE_END,
        "audio_token": "<|audio|>",
        "boa_token": "<|audio>",
        "eoa_token": "<audio|>",
        "sot_token": TURN_START,
        "eot_token": TURN_END,
    }
    settings = {
        "tokenizer_class": "GemmaTokenizer",
        "bos_token": BOS,
        "eos_token": EOS,
        "pad_token": PAD,
        "unk_token": UNK,
        "mask_token": MASK,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
        "padding_side": "left",
        **markers,
        "model_specific_special_tokens": markers,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
