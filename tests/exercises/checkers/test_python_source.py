from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.python_source import SourceWanted, check_python_source

GOOD = "def is_prime(n):\n    return n > 1 and all(n % d for d in range(2, n))\n"


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        (GOOD, True),
        (f"Here:\n```python\n{GOOD}```\nDone.", True),
        (f"class Numbers:\n    {GOOD.replace(chr(10), chr(10) + '    ')}", True),
        (GOOD.replace("is_prime", "prime"), False),
        (GOOD[:-3] + "(", False),
        ("A prime has two divisors.", False),
        ("```python\n" + "(" * 5000 + "\n```", False),
        ("```python\nx = 1\x00\n```", False),
        ("", False),
    ],
)
def test_facts_decide_and_nothing_is_run(answer, passed):
    assert check_python_source(answer, SourceWanted("is_prime")).passed is passed


def test_code_that_would_do_harm_is_only_read(tmp_path):
    harm = f"import pathlib\npathlib.Path({str(tmp_path / 'x')!r}).touch()\n{GOOD}"
    assert check_python_source(harm, SourceWanted("is_prime")).passed
    assert not (tmp_path / "x").exists()


@given(st.text())
def test_no_answer_makes_it_raise(answer):
    check_python_source(f"```python\n{answer}\n```", SourceWanted("f"))
