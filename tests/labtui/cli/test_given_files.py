"""What a command is given to read may be a device, a pipe that nobody writes to, or far too much."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from labtui.errors import USAGE

READERS = {
    "measure": ("measure",),
    "diagnose": ("diagnose",),
    "verdict": ("verdict", "diffusiongemma", "--file"),
    "attach": ("serve", "attach", "http://127.0.0.1:9", "--key-file"),
    "import of progress": ("progress", "import"),
    "import of a page": ("lesson", "import"),
    "lesson check": ("lesson", "check"),
}
readers = pytest.mark.parametrize("arguments", READERS.values(), ids=READERS)


def refusal(lab, *arguments: str) -> str:
    """What the command says; it fails the test where the command does not return by itself."""
    results: list = []
    worker = threading.Thread(target=lambda: results.append(lab(*arguments)), daemon=True)
    worker.start()
    worker.join(60)
    assert results, "it still reads"
    assert results[0].exit_code in ((1, USAGE) if arguments[:2] == ("lesson", "check") else (USAGE,))
    return str(results[0].output)


@readers
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(lab, tmp_path, arguments) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert str(tmp_path / "pipe") in refusal(lab, *arguments, str(tmp_path / "pipe"))


@readers
def test_a_device_without_an_end_is_refused(lab, arguments) -> None:
    assert "/dev/zero" in refusal(lab, *arguments, "/dev/zero")


@readers
def test_a_folder_is_refused(lab, tmp_path, arguments) -> None:
    assert str(tmp_path) in refusal(lab, *arguments, str(tmp_path))


def test_a_verdict_has_a_largest_size(lab, tmp_path, store) -> None:
    file = tmp_path / "verdict.md"
    file.write_text("word " * 30_000)
    assert "larger than 100 kB" in refusal(lab, "verdict", "diffusiongemma", "--file", str(file))
    result = lab("verdict", "diffusiongemma", "word " * 30_000)
    assert result.exit_code == USAGE
    assert "100 kB is the most" in result.stderr
    result = lab("verdict", "diffusiongemma", "--file", "-", given="word " * 30_000)
    assert result.exit_code == USAGE
    assert store.verdicts.latest("diffusiongemma") is None


def test_a_log_larger_than_the_limit_is_refused(lab, tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    with log.open("wb") as file:
        file.truncate(65 * 2**20)
    assert "larger than 64 MiB" in refusal(lab, "diagnose", str(log))


@pytest.mark.parametrize(
    "arguments",
    [
        ("lesson", "new", ""),
        ("lesson", "import", "page.txt", "--to", ""),
        ("export", "--to", ""),
        ("store", "backup", ""),
        ("progress", "export", ""),
        ("show", "x", "--bundle", ""),
        ("runs", "--store", ""),
    ],
)
def test_an_empty_path_is_not_the_current_folder(lab, tmp_path, monkeypatch, arguments) -> None:
    monkeypatch.chdir(tmp_path)
    result = lab(*arguments)
    assert result.exit_code == USAGE
    assert "the path is empty" in result.stderr
    assert not [one for one in tmp_path.iterdir() if one != lab.home]
