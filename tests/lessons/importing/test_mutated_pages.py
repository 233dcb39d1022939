"""A thousand damaged pages: each gives a lesson that passes the check or one clear message, and never half a lesson."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessons.checking import check_lesson
from lessons.errors import LessonError
from lessons.importing.importer import import_page, to_json
from lessons.loading import load_lesson
from lessons.prompt import grounded_prompt
from lessons.walk import steps

PAGES = Path(__file__).parents[2] / "fixtures" / "pages"
CONTENTS = [path.read_bytes() for path in sorted(PAGES.glob("*.txt"))]
ODD_ROWS = [
    "01", "02", "99", "0:34", "9:99", "1:02:03", "- ", "-", "1. ", "5. Include:", "Example", "Thesis", "Misconceptions",
    "What to stop believing.", "Practice studio", "Put it into practice", "Source video:", "- URL: javascript:alert(1)",
    "- URL: https://[", "- 0:34 / Evidence 1: “”", '- 0:34 / Evidence 9: "same second, other words"', "“", "\x1b[2J",
    "\u202egnp.exe", "a\u2028b", "\0\0", "x" * 600, "y" * 25_000, "[" * 3_000, "(" * 3_000, "9" * 5_000, "A. " * 2_000,
    "https://example.org", "'''", '"""', "\\", "# not a heading", "<script>alert(1)</script>", "\ud7ff", "😀" * 40,
    "字" * 300, "Watch", "Transcript found", "Skill you build:", "Quality bar:", "Your task:", "\t", "\u00a0",
]  # fmt: skip


def assert_lesson_or_message(content: bytes, folder: Path) -> None:
    target = folder / "lessons" / "one"
    try:
        found = import_page(content, "page.txt", target)
    except LessonError as error:
        assert error.title.strip()
        assert error.cause.strip()
        assert error.fix.strip()
        assert error.cause.isprintable()
        assert error.exit_code in (1, 2)
        assert not target.exists()
    else:
        assert check_lesson(found.path) == []
        lesson = load_lesson(found.path)
        assert steps(lesson)
        assert grounded_prompt(lesson)
        rows = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for one in found.unplaced:
            assert 1 <= one.line <= len(rows)
            assert one.reason
        assert to_json(found)["anchors"] == len(lesson.anchors)
        found.path.unlink()
        target.rmdir()
    assert not list(folder.glob("lessons/*"))


@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_pages_with_rows_moved_lost_and_added(seed, tmp_path):
    rng = random.Random(f"pages/{seed}")
    for _ in range(100):
        rows = rng.choice(CONTENTS).decode("utf-8-sig").splitlines()
        for _ in range(rng.randint(1, 8)):
            at, to = rng.randrange(len(rows)), rng.randrange(len(rows))
            match rng.randrange(7):
                case 0:
                    del rows[at]
                case 1:
                    rows.insert(at, rng.choice(ODD_ROWS))
                case 2:
                    rows.insert(to, rows.pop(at))
                case 3:
                    rows[at] = rng.choice(ODD_ROWS)
                case 4:
                    rows[at] = rows[at][: rng.randint(0, len(rows[at]))]
                case 5:
                    rows[at] += rows[to]
                case 6:
                    low, high = sorted((at, to))
                    del rows[low : min(high, low + 30)]
            rows = rows or [""]
        content = rng.choice(["\n", "\r\n", "\n\n"]).join(rows)
        assert_lesson_or_message(content.encode(), tmp_path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_bytes_changed(tmp_path, data):
    content = bytearray(data.draw(st.sampled_from(CONTENTS)))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, max(0, len(content) - 1)))
        length = data.draw(st.sampled_from([0, 1, 2, 80, len(content)]))
        content[start : start + length] = data.draw(st.binary(max_size=4) | st.text(max_size=8).map(str.encode))
    assert_lesson_or_message(bytes(content), tmp_path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_anything(tmp_path, content):
    assert_lesson_or_message(content, tmp_path)


LONG_ROWS = ["[" * 19_000, "x. " * 6_000, "“" * 19_000, "1." * 9_000, "*_" * 9_000, "0:00 " * 3_000]


@pytest.mark.parametrize("row", LONG_ROWS, ids=range(len(LONG_ROWS)))
def test_no_row_takes_long(row, tmp_path):
    """A limit of the test run would end it; nothing here may grow with the square of the page."""
    for before in (
        "Thesis",
        "0:34\nTitle",
        "Misconceptions",
        "Put it into practice",
        "Source shelf",
        "Concept diagram",
    ):
        rows = "\n".join([row] * 40)
        assert_lesson_or_message(f"A title\nDeep lesson\n{before}\n{rows}".encode(), tmp_path)
