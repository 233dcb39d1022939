"""Where the operators and the hiding stand aside: machines that this one is not."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from labtui.serving.vllm_cpu.child.labtui_vllm_cpu import companions


class Torch:
    """A torch build as far as `settle` looks at it; `refuses` is what its linker cannot load."""

    def __init__(self, *, cuda: str | None = None, hip: str | None = None, refuses: tuple[str, ...] = ()) -> None:
        self.version = SimpleNamespace(cuda=cuda, hip=hip)
        self.ops = SimpleNamespace(load_library=self._load)
        self.library = SimpleNamespace(Library=self._library)
        self.refuses = refuses
        self.loaded: list[str] = []
        self.defined: list[str] = []

    def _load(self, path: str) -> None:
        self.loaded.append(path)
        if any(f"/{package}/" in path for package in self.refuses):
            raise OSError("libtorch_cuda.so: cannot open shared object file")

    def _library(self, namespace: str, kind: str) -> SimpleNamespace:
        return SimpleNamespace(define=lambda schema: self.defined.append(f"{namespace}::{schema.split('(')[0]}"))


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """The three packages as folders with a native library each, in front of those installed here."""
    for package, native in companions.NATIVE.items():
        library = tmp_path / package / f"{native}.so"
        library.parent.mkdir(parents=True)
        library.touch()
        (tmp_path / package / "__init__.py").touch()
        monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for package in companions.NATIVE:
        if sys.modules.get(package, 0) is None:
            del sys.modules[package]


def test_a_cuda_or_rocm_build_of_torch_is_not_touched(packages):
    for torch in (Torch(cuda="13.0", refuses=tuple(companions.NATIVE)), Torch(hip="7", refuses=("torchvision",))):
        companions.settle(torch)
        assert torch.loaded == torch.defined == []


def test_builds_that_fit_are_left_as_they_are(packages):
    torch = Torch()
    companions.settle(torch)
    assert torch.defined == []
    assert not any(name in sys.modules for name in ("torchaudio", "torchcodec"))


def test_only_what_does_not_load_is_hidden(packages):
    torch = Torch(refuses=("torchvision", "torchcodec"))
    companions.settle(torch)
    assert torch.defined == ["torchvision::nms", "torchvision::qnms"]
    assert sys.modules["torchcodec"] is None
    assert "torchaudio" not in sys.modules


def test_packages_without_the_library_are_not_judged(packages):
    for package, native in companions.NATIVE.items():
        (packages / package / f"{native}.so").unlink()
    torch = Torch(refuses=tuple(companions.NATIVE))
    companions.settle(torch)
    assert torch.loaded == torch.defined == []
