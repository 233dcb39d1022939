from __future__ import annotations

import gc

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.widgets._footer import FooterKey

from labtui.widgets.key_line import KeyLine


class Keys(App[None]):
    BINDINGS = [Binding("a", "first", "first"), Binding("b", "second", "second")]  # noqa: RUF012
    second_acts = True

    def compose(self) -> ComposeResult:
        yield KeyLine()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.second_acts if action == "second" else True

    def shown(self) -> list[str]:
        return [key.description for key in self.query(FooterKey)]


def living_keys() -> int:
    gc.collect()
    return sum(isinstance(found, FooterKey) for found in gc.get_objects())


async def test_looking_again_at_the_same_keys_builds_nothing_new():
    app = Keys()
    async with app.run_test(size=(80, 5)) as pilot:
        await pilot.pause()
        before = list(app.query(FooterKey))
        for _ in range(5):
            app.refresh_bindings()
            await pilot.pause()
        assert list(app.query(FooterKey)) == before


async def test_keys_that_were_replaced_are_let_go():
    app = Keys()
    async with app.run_test(size=(80, 5)) as pilot:
        await pilot.pause()
        assert app.shown() == ["first", "second"]
        before = living_keys()
        for _ in range(10):
            app.second_acts = not app.second_acts
            app.refresh_bindings()
            await pilot.pause()
            await pilot.pause()
        assert app.shown() == ["first", "second"]
        assert living_keys() <= before + 2
