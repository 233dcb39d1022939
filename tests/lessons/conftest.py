from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from lessons.checking import check_lesson
from lessons.scaffold import scaffold

BUILT_IN = Path(__file__).parents[2] / "lessons" / "diffusiongemma" / "lesson.toml"

# Machines that are busy with other things are slow at times; how long an example takes is no property of it.
settings.register_profile("lessons", deadline=None)
settings.load_profile("lessons")


@pytest.fixture(scope="session")
def built_in_text() -> str:
    return BUILT_IN.read_text(encoding="utf-8")


@pytest.fixture
def write_lesson(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "lesson.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def faults_after(write_lesson) -> Callable[[str, str], list[tuple[int, str]]]:
    """Changes one place of a faultless lesson; gives lines and messages of the faults."""

    def change(old: str, new: str) -> list[tuple[int, str]]:
        text = scaffold("sample")
        assert text.count(old) >= 1
        return [(fault.line, fault.message) for fault in check_lesson(write_lesson(text.replace(old, new, 1)))]

    return change


@pytest.fixture
def line_of() -> Callable[[str], int]:
    """The line of the faultless lesson on which that text begins."""

    def find(text: str) -> int:
        before, found, _ = scaffold("sample").partition(text)
        assert found
        return before.count("\n") + 1

    return find
