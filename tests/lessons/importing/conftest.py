from collections.abc import Callable
from pathlib import Path

import pytest

from lessons.checking import check_lesson
from lessons.importing.importer import Imported, import_page
from lessons.loading import load_lesson
from lessons.model import Lesson

PAGES = Path(__file__).parents[2] / "fixtures" / "pages"


@pytest.fixture(scope="session")
def seed_text() -> str:
    return (PAGES / "diffusiongemma.txt").read_text(encoding="utf-8")


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., tuple[Imported, Lesson]]:
    """Imports a text; what comes out must pass the check and load."""
    count = 0

    def make(text: str | bytes, **more) -> tuple[Imported, Lesson]:
        nonlocal count
        count += 1
        content = text if isinstance(text, bytes) else text.encode()
        found = import_page(content, "page.txt", tmp_path / f"lesson-{count}", **more)
        assert check_lesson(found.path) == []
        return found, load_lesson(found.path)

    return make
