from __future__ import annotations

from textual import events
from textual.app import App, ComposeResult

from labtui.widgets.field import Field
from labtui.widgets.writing import Writing


class Page(App[None]):
    edits: list[str]

    def compose(self) -> ComposeResult:
        yield Writing("kept", draft_key="key")
        yield Field()

    def on_mount(self) -> None:
        self.edits = []

    def on_writing_edited(self, event: Writing.Edited) -> None:
        self.edits.append(event.text)


async def test_what_is_typed_is_announced_and_what_is_put_there_is_not() -> None:
    async with Page().run_test() as pilot:
        writing = pilot.app.query_one(Writing)
        writing.put("put there")
        await pilot.pause()
        assert pilot.app.edits == []
        writing.focus()
        await pilot.press("!")
        assert pilot.app.edits == ["put there!"]


async def test_esc_leaves_and_the_text_stays() -> None:
    async with Page().run_test() as pilot:
        writing = pilot.app.query_one(Writing)
        writing.focus()
        await pilot.press("escape")
        assert pilot.app.focused is None
        assert writing.text == "kept"


async def test_pasted_control_characters_become_symbols() -> None:
    async with Page().run_test() as pilot:
        writing = pilot.app.query_one(Writing)
        writing.focus()
        await pilot.pause()
        writing.post_message(events.Paste("a\x1b[31mb\r\nc\x07 漢👩‍🔬"))
        await pilot.pause()
        assert "a␛[31mb\nc␇ 漢👩‍🔬" in writing.text
        field = pilot.app.query_one(Field)
        field.value = "x\x1by"
        assert field.value == "x␛y"
