from __future__ import annotations

import pytest

from labtui.errors import USAGE, LabError
from labtui.serving.attaching import is_practice, normalized
from labtui.serving.readiness import Served


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        (" http://box:8000/v1/ ", "http://box:8000"),
        ("https://box.example/models/v1", "https://box.example/models"),
        ("localhost:8000/", "http://localhost:8000"),
    ],
)
def test_addresses(typed: str, address: str) -> None:
    assert normalized(typed) == address


@pytest.mark.parametrize(
    "typed", ["", "http://", "ftp://box", "http://user:word@box:8000", "http://[::1", "http://a b"]
)
def test_what_is_no_address(typed: str) -> None:
    with pytest.raises(LabError) as raised:
        normalized(typed)
    assert raised.value.exit_code == USAGE


@pytest.mark.parametrize(
    ("model", "root", "practice"),
    [
        ("practice", "/srv/labtui/exercises/practice/checkpoint", True),
        ("diffusiongemma", "/srv/labtui/exercises/practice/checkpoint/", True),
        ("diffusiongemma", "C:\\labtui\\exercises\\practice\\checkpoint", True),
        ("diffusiongemma", "/srv/models/practice", True),
        ("practice", "/srv/models/x", True),
        ("google/diffusiongemma-26B-A4B-it", "google/diffusiongemma-26B-A4B-it", False),
        ("best-practice", "/srv/models/best-practice", False),
        ("x", None, False),
    ],
)
def test_a_name_does_not_take_the_practice_label_off(model: str, root: str | None, practice: bool) -> None:
    assert is_practice(Served(model, root, 1024, "0.32.0")) is practice
