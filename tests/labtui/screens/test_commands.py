"""Promise 7: every action has a plain key and a palette entry, and help names them all."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import labtui.screens
from labtui.screens.help import HelpBox
from labtui.screens.page import Page

for found in pkgutil.iter_modules(labtui.screens.__path__):
    importlib.import_module(f"labtui.screens.{found.name}")


def pages(of: type[Page] = Page) -> list[type[Page]]:
    """The screens; a class between Page and a screen is not one."""
    found = [page for child in of.__subclasses__() for page in (child, *pages(child))]
    return [page for page in found if page.__name__.endswith("Screen")]


@pytest.mark.parametrize("page", pages())
def test_every_command_has_a_plain_key_an_action_and_words(page: type[Page]) -> None:
    assert page.HELP.strip()
    taken: set[str] = set()
    for command in page.PAGE_COMMANDS:
        keys = command.keys.split(",")
        assert not any(key.startswith(("ctrl+", "alt+", "f1")) for key in keys), command
        assert hasattr(page, f"action_{command.action.partition('(')[0]}"), command
        assert command.label and command.tip
        assert not set(keys[:1]) & taken or command.action in ("next",), command
        taken.update(keys)
    bound = {binding.key for bindings in page._merged_bindings.key_to_bindings.values() for binding in bindings}
    for command in page.PAGE_COMMANDS:
        for key in command.keys.split(","):
            assert key in bound or len(key) == 1, command


async def test_help_names_every_key_of_the_screen(running) -> None:
    async with running(size=(80, 90), keys=("question_mark",)) as lab:
        assert isinstance(lab.screen, HelpBox)
        for words in ("Do the one next thing", "Leave labtui", "Find any command", "esc leaves the text"):
            assert words in lab.text
        await lab.press("escape")
        assert lab.title.startswith("labtui")


async def test_the_palette_does_what_the_keys_do(running) -> None:
    async with running(keys=("colon",)) as lab:
        await lab.type("export")
        await lab.press("enter")
        assert type(lab.screen).__name__ == "ExportScreen"


async def test_the_key_line_fits_and_always_offers_help(running) -> None:
    for width in (60, 80):
        async with running(size=(width, 20)) as lab:
            assert lab.keys[-1] == "? help"
            assert all(len(row) <= width for row in lab.text.splitlines())
            assert lab.text.splitlines()[-1].rstrip().endswith("? help")
