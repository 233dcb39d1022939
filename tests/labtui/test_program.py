from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.cli.main import COMMANDS
from labtui.program import COMMANDS as WORDS
from labtui.program import as_typed, program


@pytest.fixture
def by_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABTUI_PROGRAM", "./lab")


def test_every_command_is_known_by_its_word() -> None:
    assert set(COMMANDS) <= set(WORDS)


def test_without_the_script_hints_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABTUI_PROGRAM", raising=False)
    assert program() == "labtui"
    hint = "Start it: labtui serve start, or: pip install 'labtui[cpu]'"
    assert as_typed(hint) == hint


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("Start it: labtui serve start --wait.", "Start it: ./lab serve start --wait."),
        ("See `labtui doctor`, which checks.", "See `./lab doctor`, which checks."),
        ("(labtui lesson check x names them)", "(./lab lesson check x names them)"),
        ("KEY=... labtui serve attach URL", "KEY=... ./lab serve attach URL"),
        ("labtui --help lists them all.", "./lab --help lists them all."),
        ("./lab --reinstall, or: pip install 'labtui[cpu]'", "LABTUI_EXTRA=cpu ./lab --reinstall"),
        (
            "Another labtui is busy; labtui measures; labtui shows",
            "Another labtui is busy; labtui measures; labtui shows",
        ),
        ("/opt/labtui serve", "/opt/labtui serve"),
    ],
)
def test_hints_say_what_was_typed(by_script: None, hint: str, shown: str) -> None:
    assert as_typed(hint) == shown


def test_a_path_with_blanks_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABTUI_PROGRAM", "/my lab/lab")
    assert as_typed("labtui runs") == "'/my lab/lab' runs"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_path_is_one_word_for_the_shell(typed: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABTUI_PROGRAM", typed)
        assert len(shlex.split(program())) == 1
