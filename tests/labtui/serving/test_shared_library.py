"""Held against the real files of this environment, where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from labtui.serving import software_findings
from labtui.serving.shared_library import Needs, find_library, needs_of, symbol_versions
from labtui.serving.software_findings import cuda_runtime, standard_cxx

HEAD = b"\x7fELF\x02\x01"


@pytest.fixture(scope="module")
def psutil_part() -> Path:
    import psutil

    return next(Path(psutil.__file__).parent.glob("*.so"))


def test_what_a_real_library_needs(psutil_part: Path) -> None:
    needs = needs_of(psutil_part)
    assert "libc.so.6" in needs.libraries
    assert any(one.startswith("GLIBC_2") for one in needs.symbols)


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF\x02\x01", HEAD + b"\xff" * 200], ids=range(4))
def test_a_file_that_is_no_library_needs_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.so"
    file.write_bytes(content)
    assert needs_of(file) == Needs()
    assert needs_of(tmp_path / "absent.so") == Needs()


def test_the_library_path_comes_before_the_system(tmp_path: Path) -> None:
    (tmp_path / "libstdc++.so.6").write_bytes(b"GLIBCXX_3.4\0GLIBCXX_3.4.9\0CXXABI_1.3.5")
    found = find_library("libstdc++.so.6", library_path=str(tmp_path))
    assert found == tmp_path / "libstdc++.so.6"
    assert symbol_versions(found) == {"GLIBCXX_3.4", "GLIBCXX_3.4.9", "CXXABI_1.3.5"}
    assert find_library("libnobodyhasthis.so.1") is None


def test_an_old_libstdcxx_is_found_before_it_is_met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report: CXXABI_1.3.15 not found on an Ubuntu 22.04 image (saturncloud images 483)."""
    (tmp_path / "libstdc++.so.6").write_bytes(b"GLIBCXX_3.4.30\0CXXABI_1.3.13")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setattr(software_findings, "compiled_parts", lambda: [Path("_C.abi3.so")])
    wanted = Needs((), ("CXXABI_1.3.13", "CXXABI_1.3.15", "GLIBC_2.17"))
    monkeypatch.setattr(software_findings, "needs_of", lambda file: wanted)
    (one,) = standard_cxx()
    assert one.blocking and one.overridable
    assert "CXXABI_1.3.15" in one.cause and str(tmp_path) in one.title
    (tmp_path / "libstdc++.so.6").write_bytes(b"CXXABI_1.3.13\0CXXABI_1.3.15")
    assert [one.ok for one in standard_cxx()] == [True]


def test_a_cuda_runtime_of_another_major_is_found_before_it_is_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report: libcudart.so.13 cannot be opened beside a torch for CUDA 12 (vllm issue 52300)."""
    monkeypatch.setattr(software_findings, "compiled_parts", lambda: [Path("_C.abi3.so")])
    monkeypatch.setattr(software_findings, "needs_of", lambda file: Needs(("libcudart.so.13",)))
    monkeypatch.setattr(software_findings, "torch_cuda", lambda: "12.9")
    monkeypatch.setattr(software_findings, "_pip_library_folders", lambda: [tmp_path])
    monkeypatch.setattr(software_findings, "find_library", lambda name: None)
    (missing,) = cuda_runtime()
    assert missing.blocking and "CUDA 12.9" in missing.cause and "LD_LIBRARY_PATH" not in missing.fix
    (tmp_path / "libcudart.so.13").touch()
    (beside,) = cuda_runtime()
    assert f"LD_LIBRARY_PATH={tmp_path}" in beside.fix
    monkeypatch.setattr(software_findings, "torch_cuda", lambda: "13.0")
    assert [one.ok for one in cuda_runtime()] == [True]


@pytest.mark.skipif(not software_findings.compiled_parts(), reason="vLLM is not installed")
def test_the_installed_vllm_and_torch_are_read() -> None:
    assert software_findings.torch_cuda() is not None
    assert all("libc.so.6" in needs_of(file).libraries for file in software_findings.compiled_parts())
    assert [one.ok for one in standard_cxx()] == [True]
