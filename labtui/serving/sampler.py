"""The settings of the block-diffusion sampler, which vLLM reads from one file only: generation_config.json.

Five of them can be changed by pointing --generation-config at a folder with an edited copy (read in vLLM 0.24 to 0.33,
models/diffusion_gemma.py); labtui writes that folder. The cap on steps is a key of --diffusion-config.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from labtui.errors import USAGE, LabError
from labtui.serving import hub_cache
from labtui.serving.checkpoints import Checkpoint

FILE = "generation_config.json"
STEPS = "max_denoising_steps"
BOUND = "entropy_bound"
HOLDER = "sampler_config"
PUBLISHED: Mapping[str, Any] = MappingProxyType(
    {
        "bos_token_id": 2,
        "eos_token_id": [1, 106, 50],
        "pad_token_id": 0,
        "max_new_tokens": 256,
        "max_denoising_steps": 48,
        "t_min": 0.4,
        "t_max": 0.8,
        "stability_threshold": 1,
        "confidence_threshold": 0.005,
        HOLDER: {"_cls_name": "EntropyBoundSamplerConfig", BOUND: 0.1},
    }
)
"""generation_config.json of DiffusionGemma 26B-A4B as public copies have it; its model card names the numbers."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A number that the sampler takes. least is allowed itself unless above is set."""

    words: str
    default: float
    least: float = 0.0
    above: bool = False
    whole: bool = False


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "t_min": Setting("temperature at the last step", 0.4),
        "t_max": Setting("temperature at the first step", 0.8),
        BOUND: Setting("how much joint entropy may be accepted in one step", 0.1, above=True),
        "confidence_threshold": Setting("mean entropy under which a canvas counts as settled", 0.005),
        "stability_threshold": Setting("steps that a canvas must stay the same before it is committed", 1, whole=True),
        STEPS: Setting("most denoising steps for a canvas", 48, least=1, whole=True),
    }
)


@dataclass(frozen=True, slots=True)
class SamplerChange:
    """What was changed, and the file that says it; folder is None where nothing of the file was changed.

    before: all settings as they would be without it; taken_from: the words for where those come from.
    """

    changed: Mapping[str, float]
    before: Mapping[str, float]
    taken_from: str
    folder: Path | None = None
    text: str = field(default="", repr=False)

    @property
    def values(self) -> dict[str, float]:
        return {**self.before, **self.changed}

    @property
    def max_steps(self) -> int | None:
        return int(self.changed[STEPS]) if STEPS in self.changed else None

    def write(self) -> None:
        """Raises LabError. The folder is named by its content, so what is there already is right."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / FILE).write_text(self.text, encoding="utf-8")
        except OSError as error:
            raise LabError(
                "The sampler's settings cannot be written",
                f"{self.folder}: {error.strerror or error}.",
                "Make that folder writable, or leave --sampler out.",
            ) from error

    def words(self) -> list[str]:
        """For a person: each change with what it replaces."""
        told = [
            f"sampler: {name} {value:g} instead of {self.before[name]:g}, {SETTINGS[name].words}"
            for name, value in self.changed.items()
        ]
        return [*told, f"the other sampler settings are those of {self.taken_from}"]


def read_settings(typed: Iterable[str]) -> dict[str, float]:
    """From "key=value" words. Raises LabError (exit 2) naming the nearest key or the bound that is broken."""
    found: dict[str, float] = {}
    for word in typed:
        name, equals, text = word.partition("=")
        name = name.strip().replace("-", "_")
        setting = SETTINGS.get(name)
        if setting is None:
            near = get_close_matches(name, SETTINGS, n=1)
            raise _wrong(
                f"The sampler has no setting {name!r}" if equals else f"{word!r} is no KEY=VALUE",
                f"It has {', '.join(SETTINGS)}.",
                f"Did you mean {near[0]}?" if near else "Write it like --sampler entropy_bound=0.2",
            )
        found[name] = _number(name, setting, text.strip())
    return found


def _number(name: str, setting: Setting, text: str) -> float:
    try:
        value = int(text) if setting.whole else float(text)
    except ValueError:
        kind = "a whole number" if setting.whole else "a number"
        raise _wrong(f"{name} must be {kind}, not {text!r}", setting.words.capitalize() + ".", "") from None
    low = value <= setting.least if setting.above else value < setting.least
    if low or not value < float("inf"):
        bound = f"above {setting.least:g}" if setting.above else f"{setting.least:g} or more"
        raise _wrong(f"{name} {text} cannot be", f"vLLM needs {bound}: {setting.words}.", f"Give {bound}.")
    return value


def edited(checkpoint: Checkpoint, changed: Mapping[str, float], folder: Path) -> SamplerChange | None:
    """None where nothing is changed. Raises LabError (exit 2) where the checkpoint has no such sampler.

    folder: the place for edited configurations, each in a folder of its own.
    """
    if not changed:
        return None
    if not checkpoint.diffusion:
        raise _wrong(
            f"{checkpoint.id} has no diffusion sampler",
            "It writes one token after the other.",
            "Leave --sampler out, or take a diffusion checkpoint.",
        )
    original, taken_from = _original(checkpoint)
    before = {name: _value(original, name) for name in SETTINGS}
    after = {**before, **changed}
    if after["t_min"] > after["t_max"]:
        raise _wrong(
            f"t_min {after['t_min']:g} is above t_max {after['t_max']:g}",
            "Temperature falls from t_max at the first step to t_min at the last.",
            "Give a smaller t_min or a larger t_max.",
        )
    in_file = {name: value for name, value in changed.items() if name != STEPS}
    frozen = MappingProxyType(dict(changed)), MappingProxyType(before)
    if not in_file:
        return SamplerChange(*frozen, taken_from)
    data = dict(original)
    for name, value in in_file.items():
        if name == BOUND:
            data[HOLDER] = {**data.get(HOLDER, {}), BOUND: value}
        else:
            data[name] = value
    text = json.dumps(data, indent=1, sort_keys=True) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return SamplerChange(*frozen, taken_from, folder / f"{checkpoint.id}-{digest}", text)


def _original(checkpoint: Checkpoint) -> tuple[dict[str, Any], str]:
    """The checkpoint's own file where it is on this machine, else the published one's numbers."""
    place = checkpoint.folder
    if place is None:
        cached = hub_cache.cached_model(checkpoint.model)
        if cached is not None and cached.revision is not None:
            place = cached.folder / "snapshots" / cached.revision
    if place is not None:
        try:
            data = json.loads((place / FILE).read_text(encoding="utf-8"))
            if isinstance(data, dict):
                return data, f"{place / FILE}"
        except (OSError, ValueError):
            pass
    return dict(PUBLISHED), "the model card, since the checkpoint's own file is not on this machine yet"


def _value(data: Mapping[str, Any], name: str) -> float:
    holder = data.get(HOLDER) or {} if name == BOUND else data
    value = holder.get(name)
    return float(value) if isinstance(value, int | float) else SETTINGS[name].default


def _wrong(title: str, cause: str, fix: str) -> LabError:
    return LabError(title, cause, fix or "labtui serve plan --help says which settings there are.", USAGE)
