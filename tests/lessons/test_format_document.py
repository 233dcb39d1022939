import re
from pathlib import Path

from lessons.schema import FORMAT_VERSION, TABLES, TOP_KEYS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "lesson-format.md").read_text(encoding="utf-8")


def _section(heading: str) -> str:
    [start] = [match.start() for match in re.finditer(r"^## .*$", DOCUMENT, re.MULTILINE) if heading in match[0]]
    return DOCUMENT[start : DOCUMENT.find("\n## ", start + 1)]


def _documented(section: str) -> dict[str, bool]:
    """Keys in backquotes, and whether "!" stands behind them."""
    found: dict[str, bool] = {}
    for name, mark in re.findall(r"`([a-z_]+)`( !)?", section):
        found[name] = found.get(name, False) or bool(mark)
    return found


def test_every_table_and_key_is_described_with_what_must_be_there():
    assert f"Format version {FORMAT_VERSION}" in DOCUMENT
    sections = [
        (_section("Top of the file"), TOP_KEYS),
        *((_section(f"`{table.heading}`"), table.keys) for table in TABLES),
    ]
    for section, keys in sections:
        documented = _documented(section)
        for key in keys:
            assert documented.get(key.name) == key.required, key.name
