from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from labtui.piece_entries import Entry, EntryField, anchor_at, missing_in, value, with_value
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible, visible_line
from labtui.widgets.commands import Command, bindings
from labtui.widgets.pick_line import PickLine
from labtui.widgets.writing import Writing
from lessons.citations import anchor_for
from lessons.studio.pieces import CONFIDENCES, HarnessMap
from lessons.times import clock

if TYPE_CHECKING:
    from labtui.screens.studio import StudioScreen

FORM_COMMANDS = (
    Command("tab", "next_field", "next field", "To the next field (shift+tab: to the one before)"),
    Command("w,enter", "write", "write", "Back into the first field that is empty"),
    Command("right,l", "walk(1)", "next entry", "To the next entry of the piece", display="→"),
    Command("left,h", "walk(-1)", "one before", "To the entry before", display="←", shown=False),
    BACK,
)


class StudioForm(Page):
    HELP = """
One entry of a piece, field by field. tab goes to the next field, esc leaves the text, and a second esc goes back to
the list. What you write is kept with every key.

← and → pick where a field has a few values only: the timestamp, the confidence, the weakest link.
"""
    PAGE_COMMANDS = FORM_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*FORM_COMMANDS)]

    def __init__(self, studio: StudioScreen, entry_id: str) -> None:
        super().__init__()
        self._studio = studio
        self._entry_id = entry_id

    @property
    def entry(self) -> Entry:
        return next(entry for entry in self._studio.entries if entry.id == self._entry_id)

    @property
    def crumbs(self) -> tuple[str, ...]:
        return (*self._studio.crumbs[1:], visible_line(self.entry.title))

    def compose_body(self) -> ComposeResult:
        yield VerticalScroll(id="form", can_focus=False)

    def on_mount(self) -> None:
        self.refresh_title()
        self.call_later(self._fill)

    async def _fill(self) -> None:
        form, entry = self.query_one("#form"), self.entry
        self._studio.written = entry.id
        with self.app.batch_update():
            await form.remove_children()
            await form.mount(*(widget for field in entry.fields for widget in self._widgets(entry, field)))
        form.set_class(len(entry.fields) == 1, "-one")
        self.refresh_title()
        self._show_quote()
        self.action_write()
        self._say_missing()

    def _widgets(self, entry: Entry, field: EntryField) -> list[Widget]:
        text = value(self._studio.piece, entry, field.name)
        field_id = f"field-{field.name}"
        if field.kind == "text":
            writing = Writing(text, id=field_id)
            writing.border_title = field.label
            return [writing]
        line = PickLine(self._options(field), self._picked(field, text), id=field_id)
        line.border_title = field.label
        return [line, Static(id="anchor-quote", markup=False)] if field.kind == "anchor" else [line]

    def _options(self, field: EntryField) -> list[tuple[str, str]]:
        lesson, piece = self._studio.lesson, self._studio.piece
        if field.kind == "anchor":
            return [(clock(anchor.start_s), f"{clock(anchor.start_s)}  {anchor.title}") for anchor in lesson.anchors]
        if field.kind == "confidence":
            return [(word, word) for word in CONFIDENCES]
        stages = [stage.stage for stage in piece.stages] if isinstance(piece, HarnessMap) else []
        return [(stage, stage) for stage in stages if stage.strip()]

    def _picked(self, field: EntryField, text: str) -> str:
        """The option that means what stands there, or else what stands there."""
        if field.kind == "anchor" and (anchor := anchor_for(self._studio.lesson, text)):
            return clock(anchor.start_s)
        options = {option.casefold(): option for option, _ in self._options(field)}
        return options.get(text.strip().casefold(), text)

    def _show_quote(self) -> None:
        for quote in self.query("#anchor-quote").results(Static):
            anchor = anchor_at(self._studio.lesson, self._studio.piece, self.entry)
            quote.update(f"“{visible(anchor.quote.strip())}”" if anchor else "")
            quote.display = anchor is not None

    def _say_missing(self) -> None:
        found = missing_in(self._studio.lesson, self._studio.piece, self.entry)
        if found:
            more = f" And {len(found) - 1} more." if len(found) > 1 else ""
            self.say_next(f"{found[0]}{more}")
        else:
            self.say_next("esc leaves the field, esc again goes back to the list.")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "walk":
            return len(self._studio.entries) > 1
        if action == "next_field":
            return len(self.entry.fields) > 1
        return True

    @on(Writing.Edited)
    def _edited(self, event: Writing.Edited) -> None:
        writing, text = event.writing, event.text
        writing.border_subtitle = "writing…"

        def kept(newest: bool) -> None:
            if newest and writing.text == text:
                writing.border_subtitle = "kept"

        self._change(writing, text, kept)

    @on(PickLine.Picked)
    def _pick(self, event: PickLine.Picked) -> None:
        self._change(event.line, event.value, lambda newest: None)
        self._show_quote()

    def _change(self, widget: Widget, text: str, kept: Callable[[bool], object]) -> None:
        name = (widget.id or "").removeprefix("field-")
        changed = with_value(self._studio.piece, self.entry, name, text)
        self._studio.put(changed, kept)
        self._say_missing()

    def action_write(self) -> None:
        widgets = {field.name: self.query_one(f"#field-{field.name}") for field in self.entry.fields}
        empty = [name for name in widgets if not value(self._studio.piece, self.entry, name).strip()]
        widgets[empty[0] if empty else self.entry.fields[0].name].focus()

    def action_next_field(self) -> None:
        self.focus_next()

    async def action_walk(self, by: int) -> None:
        ids = [entry.id for entry in self._studio.entries]
        index = ids.index(self._entry_id) + by
        if 0 <= index < len(ids):
            self._entry_id = ids[index]
            await self._fill()
        else:
            self.say("This is the last entry." if by > 0 else "This is the first entry.")
