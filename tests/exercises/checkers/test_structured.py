from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.structured import StructuredWanted, check_structured

PLANETS = '[{"name": "Mercury", "moons": 0}, {"Name": "Venus", "moons": 0}]'
TABLE = "| Country | Capital |\n|:---|---:|\n| Chile | Santiago |\n| Peru | **Lima** |\n"


@pytest.mark.parametrize(
    ("answer", "rows", "passed"),
    [
        (PLANETS, 2, True),
        (f"Here it is:\n```json\n{PLANETS}\n```\nThat is all.", 2, True),
        (f"Sure! {PLANETS} Anything else?", 2, True),
        (PLANETS, 3, False),
        (PLANETS[:-5], 2, False),
        ('[{"name": "Mercury"}]', 1, False),
        ("no JSON at all", 1, False),
        ("[1, 2]", 2, False),
        ("[" * 100_000, 1, False),
    ],
)
def test_json(answer, rows, passed):
    assert check_structured(answer, StructuredWanted("json", ("name", "moons"), rows)).passed is passed


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        (TABLE, True),
        (f"Of course.\n\n{TABLE}\nDone.", True),
        (TABLE.replace("| Peru |", "| Peru | x |"), False),
        (TABLE.replace("Capital", "Town"), False),
        (TABLE.replace("| Peru | **Lima** |\n", ""), False),
        (TABLE.replace("|:---|---:|\n", ""), False),
        ("|---|---|", False),
        ("", False),
    ],
)
def test_a_table(answer, passed):
    assert check_structured(answer, StructuredWanted("table", ("country", "Capital"), 2)).passed is passed


def test_what_is_wrong_is_said():
    (fact,) = check_structured('{"a": }', StructuredWanted("json")).facts
    assert fact.name == "is JSON" and "Expecting value" in fact.detail


@given(st.text(alphabet='{}[]|-:"a,1\n `'))
def test_no_answer_makes_it_raise(answer):
    for form in ("json", "table"):
        check_structured(answer, StructuredWanted(form, ("a",), 1))
