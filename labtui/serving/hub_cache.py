"""What lies in the Hugging Face cache, read from the files alone: is a model complete, how much has arrived.

vLLM hides the progress bar of the download, so the bytes in the cache are the only sign of it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model in the cache. bytes: all that has arrived, half files included."""

    folder: Path
    revision: str | None
    complete: bool
    bytes: int


def hub_cache_folder() -> Path:
    """As huggingface_hub finds it: HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, ~/.cache."""
    if own := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(own).expanduser()
    if home := os.environ.get("HF_HOME"):
        return Path(home).expanduser() / "hub"
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache).expanduser() if cache else Path.home() / ".cache") / "huggingface" / "hub"


def cached_model(model: str, cache: Path | None = None) -> CachedModel | None:
    """None where nothing of the model is in the cache. model: "organization/name"."""
    folder = (cache or hub_cache_folder()) / ("models--" + model.replace("/", "--"))
    if not folder.is_dir():
        return None
    revision = _revision(folder)
    snapshot = folder / "snapshots" / revision if revision else None
    complete = snapshot is not None and snapshot_complete(snapshot)
    return CachedModel(folder, revision, complete, _size(folder / "blobs"))


def snapshot_complete(snapshot: Path) -> bool:
    """A config and every weight file that the index names (or the one file that there is) are present."""
    if not (snapshot / "config.json").exists():
        return False
    index = snapshot / "model.safetensors.index.json"
    if index.exists():
        try:
            files = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (OSError, ValueError, KeyError, AttributeError):
            return False
        return all((snapshot / name).exists() for name in files)
    return any(snapshot.glob("*.safetensors"))


def _revision(folder: Path) -> str | None:
    try:
        return (folder / "refs" / "main").read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _size(blobs: Path) -> int:
    total = 0
    try:
        for entry in os.scandir(blobs):
            try:
                total += entry.stat().st_size
            except OSError:
                continue
    except OSError:
        return total
    return total
