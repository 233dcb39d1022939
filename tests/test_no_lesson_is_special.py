"""Nothing in the code knows a lesson: what is built in goes the way that anybody's lesson goes."""

import ast
from pathlib import Path

import pytest

from lessons.finding import PACKAGE

ROOT = Path(__file__).parents[1]
LESSONS = sorted(file.parent.name for file in PACKAGE.glob("*/lesson.toml"))
NAMESAKES = {"exercises/tasks.py", "exercises/finding.py", "labtui/trial_comparison.py"}
"""Where an exercise set's folder or a family of models is called as a lesson is: the tasks that a server gets whose
checkpoint has no set of its own, and the models that published numbers are about."""


def constants(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("package", ["lessons", "exercises", "store", "labtui"])
def test_no_module_names_a_lesson(package):
    assert len(LESSONS) >= 2
    naming = {
        str(file.relative_to(ROOT)): known
        for file in sorted((ROOT / package).rglob("*.py"))
        if (known := constants(file) & set(LESSONS))
    }
    assert set(naming) <= NAMESAKES, naming
