"""vLLM's command line as data: a flag with its value and its reason, and the flags that a person added."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labtui.errors import USAGE, LabError

SHORT_NAMES = {
    "-dc": "--diffusion-config",
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-q": "--quantization",
    "-O": "--optimization-level",
    "-cc": "--compilation-config",
}
SECRET_FLAGS = {"--api-key": "LABTUI_API_KEY", "--hf-token": "HF_TOKEN"}


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of the command. value is None for a switch. why: what it does, and why it has this value.

    origin: where the value comes from: "recipe" (the table of cards, from vLLM's recipe), "checkpoint" (the table of
    checkpoints), "labtui", or "you".
    """

    name: str
    value: str | None
    why: str
    origin: str = "labtui"

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.name,) if self.value is None else (self.name, self.value)


@dataclass(frozen=True, slots=True)
class OwnFlag:
    """A flag that the person added, kept exactly as it was typed, with its long name."""

    name: str
    values: tuple[str, ...]
    typed: tuple[str, ...]


def read_own_flags(typed: Sequence[str]) -> tuple[OwnFlag, ...]:
    """Raises LabError where a word belongs to no flag, or where a secret would land in the command line."""
    found: list[OwnFlag] = []
    for word in typed:
        if _is_flag(word):
            name, equals, value = word.partition("=")
            found.append(OwnFlag(long_name(name), (value,) if equals else (), (word,)))
        elif found:
            last = found.pop()
            found.append(OwnFlag(last.name, (*last.values, word), (*last.typed, word)))
        else:
            raise LabError(
                f"{word!r} is no vLLM flag",
                "What follows -- goes to vLLM, and that word belongs to no flag.",
                "Write flags as vLLM takes them: -- --max-num-seqs 2",
                USAGE,
            )
    for flag in found:
        if flag.name in SECRET_FLAGS:
            raise LabError(
                f"{flag.name} would show a secret",
                "Everybody on this machine can read a command line, and vLLM may log it.",
                f"Put it in the environment: {SECRET_FLAGS[flag.name]}=... labtui serve start",
                USAGE,
            )
    return tuple(found)


def long_name(name: str) -> str:
    """vLLM takes underscores, and a dotted key for a JSON flag: --diffusion-config.canvas_length is its flag."""
    if name in SHORT_NAMES:
        return SHORT_NAMES[name]
    return "--" + name.removeprefix("--").partition(".")[0].replace("_", "-") if name.startswith("--") else name


def own_value(own: Iterable[OwnFlag], name: str) -> str | None:
    """The last value that the person gave for the flag."""
    values = [flag.values[-1] for flag in own if flag.name == name and flag.values]
    return values[-1] if values else None


def own_number(own: Iterable[OwnFlag], name: str, kind: type[int] | type[float]) -> int | float | None:
    """As vLLM reads numbers: 8k is 8,000 and 8K is 8,192. None where the flag is absent or vLLM decides (auto)."""
    text = own_value(own, name)
    if text is None or text in ("auto", "-1"):
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmM]?)", text)
    if match is None:
        raise LabError(f"{name} {text} is no number", "vLLM would refuse it.", f"Give {name} a number.", USAGE)
    factor = {"": 1, "k": 1000, "K": 1024, "m": 1000**2, "M": 1024**2}[match.group(2)]
    return kind(float(match.group(1)) * factor)


def remarks_on(own: Iterable[OwnFlag]) -> list[str]:
    """What a person should know about flags that do not do what public guides say."""
    remarks = []
    for flag in own:
        if flag.name == "--hf-overrides" and any("diffusion_" in word for word in flag.typed):
            remarks.append(
                "--hf-overrides with diffusion_* keys changes nothing in vLLM 0.24 to 0.33: the sampler reads "
                "generation_config.json only. Steps are set by --diffusion-config, the rest by --generation-config DIR"
            )
        if flag.name == "--max-num-seqs":
            number = own_number((flag,), "--max-num-seqs", int)
            if number is not None and number >= 128:
                remarks.append(
                    f"--max-num-seqs {number}: at 128 and above vLLM cannot tell it from its own default and runs 8"
                )
        if flag.name == "--load-format" and flag.values == ("dummy",):
            remarks.append(
                "--load-format dummy: the weights are random, so what it writes means nothing and no answer is right; "
                "memory and the time of a denoising step are real"
            )
        if flag.name == "--attention-backend" and "FLASHINFER" in " ".join(flag.values).upper():
            remarks.append(
                "--attention-backend FLASHINFER is refused for DiffusionGemma: take TRITON_ATTN or FLASH_ATTN"
            )
        if flag.name == "--diffusion-config" and flag.values and "canvas_length" not in flag.typed[-1]:
            remarks.append("--diffusion-config without canvas_length leaves the block size unset: give it too")
    return remarks


def json_value(value: dict[str, object]) -> str:
    return json.dumps(value, separators=(", ", ": "))


def _is_flag(word: str) -> bool:
    return word.startswith("--") or re.match(r"-[A-Za-z]", word) is not None
