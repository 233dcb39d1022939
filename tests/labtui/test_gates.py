from __future__ import annotations

import pytest

from labtui.gates import unnamed, with_runs


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "(r-1, r-2)"),
        ("It is slow.", "It is slow. (r-1, r-2)"),
        ("It is slow, see r-1.", "It is slow, see r-1. (r-2)"),
        ("See :runs for it.", "See r-1, r-2 for it."),
        ("r-2 and r-1", "r-2 and r-1"),
    ],
)
def test_runs_are_named_once(text, named) -> None:
    assert with_runs(text, ["r-1", "r-2"]) == named
    assert with_runs(named, ["r-1", "r-2"]) == named
    assert unnamed(named, ["r-1", "r-2"]) == ()
