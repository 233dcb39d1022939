"""What can be served: the table in checkpoints.toml, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from labtui.errors import USAGE, LabError

TABLE = Path(__file__).with_name("checkpoints.toml")
FORMAT_VERSION = 1
PACKAGE_PREFIX = "package:"
PRACTICE_FOLDER = "exercises/practice/checkpoint"

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Architecture:
    """The shape that decides how much KV cache a request takes."""

    global_layers: int
    global_kv_heads: int
    global_head_dim: int
    sliding_layers: int
    sliding_kv_heads: int
    sliding_head_dim: int
    sliding_window: int
    attention_heads: int
    hidden_size: int
    vocabulary: int
    context: int
    source: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Architecture:
        """From a Gemma 4 or DiffusionGemma config.json. Raises KeyError where the shape is another one."""
        text = config.get("text_config", config)
        layers = list(text["layer_types"])
        head_dim = int(text["head_dim"])
        kv_heads = int(text["num_key_value_heads"])
        sliding = layers.count("sliding_attention")
        return cls(
            global_layers=len(layers) - sliding,
            global_kv_heads=int(text.get("num_global_key_value_heads") or kv_heads),
            global_head_dim=int(text.get("global_head_dim") or head_dim),
            sliding_layers=sliding,
            sliding_kv_heads=kv_heads,
            sliding_head_dim=head_dim,
            sliding_window=int(text["sliding_window"]),
            attention_heads=int(text["num_attention_heads"]),
            hidden_size=int(text["hidden_size"]),
            vocabulary=int(text["vocab_size"]),
            context=int(text["max_position_embeddings"]),
            source="config.json",
        )


@dataclass(frozen=True, slots=True)
class CardDefaults:
    """First settings to try on a card with at least from_gib of memory."""

    from_gib: float
    gpu_memory_utilization: float
    max_model_len: int
    kv_cache_dtype: str
    max_num_batched_tokens: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One set of weights. disk_gb is decimal, resident_gib and host_memory_gib are binary.

    model: a Hugging Face id, a folder, or "package:" and a folder of this installation.
    """

    id: str
    title: str
    model: str
    practice: bool
    disk_gb: float
    resident_gib: float
    min_vllm: str
    source: str
    diffusion: bool = True
    precision: str = "bf16"
    architecture: str | None = None
    canvas: int | None = None
    served_name: str | None = None
    max_num_seqs: int = 4
    max_model_len: int | None = None
    cpu: bool = False
    min_compute_capability: str | None = None
    native_compute_capability: str | None = None
    host_memory_gib: float | None = None
    disk_estimated: bool = False
    resident_estimated: bool = False

    @property
    def name(self) -> str:
        """The name that requests use."""
        return self.served_name or self.model_argument

    @property
    def folder(self) -> Path | None:
        """Where the weights lie, for a checkpoint that is not on the hub."""
        if self.model.startswith(PACKAGE_PREFIX):
            return Path(__file__).parents[2] / self.model.removeprefix(PACKAGE_PREFIX)
        return Path(self.model).expanduser() if self.model.startswith(("/", "./", "../", "~")) else None

    @property
    def model_argument(self) -> str:
        return str(self.folder) if self.folder is not None else self.model


@dataclass(frozen=True, slots=True)
class Table:
    checkpoints: Mapping[str, Checkpoint]
    architectures: Mapping[str, Architecture]
    cards: tuple[CardDefaults, ...]


def checkpoints(extra: Iterable[Path] = ()) -> Mapping[str, Checkpoint]:
    """All checkpoints by id, those of extra tables replacing built-in ones. Raises LabError on a broken table."""
    return table(tuple(extra)).checkpoints


def find_checkpoint(checkpoint_id: str, extra: Iterable[Path] = ()) -> Checkpoint:
    known = checkpoints(extra)
    if checkpoint_id in known:
        return known[checkpoint_id]
    near = get_close_matches(checkpoint_id, known, n=1)
    raise LabError(
        f"There is no checkpoint called {checkpoint_id!r}",
        f"The table has {', '.join(known)}.",
        f"Did you mean {near[0]}?" if near else "Choose one of these.",
        USAGE,
    )


@cache
def table(extra: tuple[Path, ...] = ()) -> Table:
    found: dict[str, Checkpoint] = {}
    architectures: dict[str, Architecture] = {}
    cards: list[CardDefaults] = []
    for path in (TABLE, *extra):
        data = _read(path)
        for name, values in data.get("architecture", {}).items():
            architectures[name] = _entry(Architecture, values, path, f"architecture.{name}")
        cards.extend(_entry(CardDefaults, values, path, "card") for values in data.get("card", ()))
        for values in data.get("checkpoint", ()):
            checkpoint = _entry(Checkpoint, values, path, f"checkpoint {values.get('id', '?')!r}")
            if checkpoint.architecture is not None and checkpoint.architecture not in architectures:
                raise _broken(
                    path, f"checkpoint {checkpoint.id!r} names the unknown architecture {checkpoint.architecture!r}"
                )
            found[checkpoint.id] = _labelled(checkpoint, found.get(checkpoint.id))
    return Table(MappingProxyType(found), MappingProxyType(architectures), tuple(cards))


def _labelled(checkpoint: Checkpoint, replaced: Checkpoint | None) -> Checkpoint:
    """No table can take the practice label off: not from an entry that has it, not from the practice weights."""
    folder = checkpoint.folder
    weights = folder is not None and folder.resolve() == (Path(__file__).parents[2] / PRACTICE_FOLDER).resolve()
    if weights or (replaced is not None and replaced.practice):
        return replace(checkpoint, practice=True)
    return checkpoint


def _read(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _broken(path, error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _broken(path, str(error)) from error
    if data.get("format_version") != FORMAT_VERSION:
        raise _broken(path, f"format_version is {data.get('format_version')!r}, this program reads {FORMAT_VERSION}")
    return data


def _entry(kind: type[Entry], values: Mapping[str, Any], path: Path, where: str) -> Entry:
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            raise _broken(path, f"{where} has the unknown key {key!r}" + (f"; nearest is {near[0]!r}" if near else ""))
    try:
        return kind(**values)
    except TypeError as error:
        missing = str(error).partition("argument")[2].lstrip("s:").strip() or str(error)
        raise _broken(path, f"{where} lacks {missing}") from error


def _broken(path: Path, what: str) -> LabError:
    return LabError(
        "The table of checkpoints cannot be used",
        f"{path}: {what}.",
        "Correct that line, or take the file out of your configuration.",
        USAGE,
    )
