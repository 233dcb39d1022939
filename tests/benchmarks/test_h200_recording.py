from __future__ import annotations

import importlib.util
import json
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "h200"


def script(name: str) -> ModuleType:
    """The scripts are run from their own folder, where they find each other."""
    spec = importlib.util.spec_from_file_location(f"h200_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def recorder(tmp_path: Path):
    return script("recording").Recorder(tmp_path / "work", tmp_path / "out" / "all.tar.gz", 600)


def test_a_command_is_kept_with_all_that_it_said(recorder) -> None:
    code = "import sys; print('figures'); sys.stderr.write('words'); sys.exit(3)"
    assert recorder.command("one", [sys.executable, "-c", code], 60) == "figures\n"
    assert recorder.code == 3
    assert (recorder.folder / "one.err").read_text() == "words"
    assert "one: exit 3" in (recorder.folder / "session.log").read_text()


def test_past_its_limit_a_command_is_killed_and_what_it_said_is_kept(recorder) -> None:
    code = "import threading; print('before', flush=True); threading.Event().wait()"
    assert recorder.command("slow", [sys.executable, "-c", code], 2) == "before\n"
    assert recorder.code is None
    assert "killed after 2 s" in (recorder.folder / "session.log").read_text()


def test_a_step_that_fails_ends_nothing_and_what_was_there_is_packed(recorder) -> None:
    recorder.line("stages.jsonl", {"state": "starting"})
    recorder.step("broken", lambda: 1 / 0)
    with tarfile.open(recorder.bundle) as archive:
        packed = archive.getnames()
        stages = archive.extractfile("stages.jsonl")
        assert stages is not None and json.loads(stages.read())["state"] == "starting"
    assert "session.log" in packed
    assert "ZeroDivisionError" in (recorder.folder / "session.log").read_text()


def test_the_key_is_not_in_the_bundle(recorder) -> None:
    (recorder.folder / "home").mkdir()
    (recorder.folder / "home" / "server.json").write_text("the key")
    recorder.command("endpoint", [sys.executable, "-c", "print('the key')"], 60)
    recorder.pack()
    with tarfile.open(recorder.bundle) as archive:
        assert not [name for name in archive.getnames() if name.startswith(("home", "endpoint"))]


def test_prompts_differ_with_every_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = script("loads")
    made = [loads.prompt(40, seed)[0]["content"] for seed in (-2, -1, 0, 1, 2)]
    assert len(set(made)) == 5
    assert all(len(text.split()) == 40 for text in made)
