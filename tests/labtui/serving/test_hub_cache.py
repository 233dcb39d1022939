from __future__ import annotations

import json
from pathlib import Path

import pytest

from labtui.serving.hub_cache import cached_model, hub_cache_folder, snapshot_complete

MODEL = "google/diffusiongemma-26B-A4B-it"


def cache_with(cache: Path, files: list[str], shards: list[str] | None = None, blobs: int = 0) -> Path:
    folder = cache / ("models--" + MODEL.replace("/", "--"))
    snapshot = folder / "snapshots" / "abc123"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc123\n")
    (folder / "blobs").mkdir()
    (folder / "blobs" / "half.incomplete").write_bytes(b"x" * blobs)
    for name in files:
        (snapshot / name).write_text("{}")
    if shards is not None:
        index = {"weight_map": {f"layer{number}": name for number, name in enumerate(shards)}}
        (snapshot / "model.safetensors.index.json").write_text(json.dumps(index))
    return snapshot


def test_nothing_in_the_cache(tmp_path: Path) -> None:
    assert cached_model(MODEL, tmp_path) is None


@pytest.mark.parametrize(
    ("files", "shards", "complete"),
    [
        (["config.json", "model.safetensors"], None, True),
        (["config.json", "a.safetensors", "b.safetensors"], ["a.safetensors", "b.safetensors"], True),
        (["config.json", "a.safetensors"], ["a.safetensors", "b.safetensors"], False),
        (["config.json"], None, False),
        (["model.safetensors"], None, False),
    ],
)
def test_complete_means_every_weight_file(
    tmp_path: Path, files: list[str], shards: list[str] | None, complete: bool
) -> None:
    cache_with(tmp_path, files, shards)
    found = cached_model(MODEL, tmp_path)
    assert found is not None
    assert (found.complete, found.revision) == (complete, "abc123")


def test_half_files_count_as_arrived(tmp_path: Path) -> None:
    cache_with(tmp_path, ["config.json"], blobs=4096)
    found = cached_model(MODEL, tmp_path)
    assert found is not None
    assert (found.bytes, found.complete) == (4096, False)


def test_a_broken_index_is_not_complete(tmp_path: Path) -> None:
    snapshot = cache_with(tmp_path, ["config.json", "a.safetensors"])
    (snapshot / "model.safetensors.index.json").write_text("[")
    assert not snapshot_complete(snapshot)


def test_a_download_that_has_only_begun(tmp_path: Path) -> None:
    (tmp_path / "models--a--b").mkdir()
    found = cached_model("a/b", tmp_path)
    assert found is not None
    assert (found.revision, found.complete, found.bytes) == (None, False, 0)


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert hub_cache_folder() == tmp_path / ".cache" / "huggingface" / "hub"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert hub_cache_folder() == Path("/x/huggingface/hub")
    monkeypatch.setenv("HF_HOME", "/h")
    assert hub_cache_folder() == Path("/h/hub")
    monkeypatch.setenv("HF_HUB_CACHE", "/c")
    assert hub_cache_folder() == Path("/c")
