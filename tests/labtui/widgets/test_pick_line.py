from __future__ import annotations

from textual.app import App, ComposeResult

from labtui.widgets.pick_line import PickLine

FEW = [("low", "low"), ("medium", "medium"), ("high", "high")]
MANY = [(str(number), f"a long name for the value {number}") for number in range(7)]


class Page(App[None]):
    def __init__(self, options, picked: str = "") -> None:
        super().__init__()
        self.options, self.given = options, picked
        self.picks: list[str] = []

    def compose(self) -> ComposeResult:
        yield PickLine(self.options, self.given)

    def on_pick_line_picked(self, event: PickLine.Picked) -> None:
        self.picks.append(event.value)


def shown(app: App[None]) -> str:
    return str(app.query_one(PickLine).render())


async def test_few_values_all_stand_there_and_the_picked_one_is_marked() -> None:
    async with Page(FEW).run_test() as pilot:
        assert shown(pilot.app) == " low   medium   high "
        pilot.app.query_one(PickLine).focus()
        await pilot.press("right", "right")
        assert shown(pilot.app) == " low  [medium]  high "
        await pilot.press("left", "left")
        assert pilot.app.picks == ["low", "medium", "low", "high"]


async def test_of_many_values_one_stands_there_with_its_place() -> None:
    async with Page(MANY).run_test(size=(40, 10)) as pilot:
        assert "pick with" in shown(pilot.app)
        pilot.app.query_one(PickLine).focus()
        await pilot.press("left")
        assert "7 of 7" in shown(pilot.app)
        assert len(shown(pilot.app)) <= 40


async def test_a_value_that_is_none_of_them_is_kept_until_another_is_picked() -> None:
    async with Page(FEW, "quite sure").run_test() as pilot:
        line = pilot.app.query_one(PickLine)
        assert line.picked == "quite sure"
        assert "[quite sure ?]" in shown(pilot.app)
        line.focus()
        await pilot.press("right")
        assert line.picked == "low"


async def test_esc_leaves() -> None:
    async with Page(FEW).run_test() as pilot:
        pilot.app.query_one(PickLine).focus()
        await pilot.press("escape")
        assert pilot.app.focused is None
