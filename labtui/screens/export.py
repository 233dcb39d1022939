from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Input, Static

from labtui.screens.lesson import short_title
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice
from labtui.widgets.commands import Command, bindings
from labtui.widgets.field import Field
from labtui.widgets.tick_list import TickList
from lessons.model import Lesson

if TYPE_CHECKING:
    from store.opening import Store

EXPORT_COMMANDS = (
    Command("x", "export", "write files", "Write the files in the formats that are ticked"),
    Command("f", "folder", "folder", "Choose the folder; esc leaves the field"),
    Command("c", "copy", "copy paths", "Copy the paths of the files that were written"),
    BACK,
)

WHAT_TO_DO = "x writes the files. space changes a tick, f the folder."


class ExportScreen(Page):
    HELP = """
The artifact of the lesson: your harness map, the runs and sweeps with every number and its definition, the ratio to the
baseline or what was published of it, the verdict, your recall answers and the evidence for the gates. It is yours to
paste, print or keep.

space ticks a format, f chooses the folder, x writes. Files of an earlier export with the same names are replaced.
Numbers of the practice checkpoint are labelled in the files as well.
"""
    PAGE_COMMANDS = EXPORT_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*EXPORT_COMMANDS)]

    class FolderKept(Message):
        def __init__(self, folder: str | None) -> None:
            super().__init__()
            self.folder = folder

    class Wrote(Message):
        def __init__(self, paths: tuple[Path, ...]) -> None:
            super().__init__()
            self.paths = paths

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self._written: tuple[Path, ...] = ()
        self._busy = False

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def crumbs(self) -> tuple[str, ...]:
        return short_title(self.lesson), "Export"

    @property
    def _folder_key(self) -> str:
        return f"export-folder/{self.lesson_id}"

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="export", can_focus=False):
            yield Static("FORMATS", classes="heading-small", markup=False)
            yield TickList(
                *(Choice(name, text, ticked=name in TICKED_AT_FIRST) for name, text in FORMAT_TITLES.items()),
                id="formats",
            )
            yield Static("FOLDER", classes="heading-small", markup=False)
            yield Field(str(Path.home() / "labtui" / self.lesson_id), id="folder")
            yield Static(id="written", markup=False)

    def on_mount(self) -> None:
        self.query_one(TickList).focus()
        self.say_next(WHAT_TO_DO)
        self.read_store(
            lambda store: store.progress.draft(self._folder_key), lambda kept: self.post_message(self.FolderKept(kept))
        )

    @on(FolderKept)
    def _folder_kept(self, event: FolderKept) -> None:
        if event.folder:
            self.query_one(Field).value = event.folder

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "copy" or bool(self._written)

    def action_folder(self) -> None:
        self.query_one(Field).focus()
        self.say_next("enter writes the files there; esc leaves the field.")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.query_one(TickList).focus()
        self.action_export()

    def action_export(self) -> None:
        formats, folder = self.query_one(TickList).ticked, self.query_one(Field).value.strip()
        if self._busy:
            return
        if not formats or not folder:
            self.say("Tick a format first." if not formats else "Name a folder first: f.", fault=True)
            return
        self._busy = True
        self.say_next("Writing…")

        def write(store: Store) -> list[Path]:
            from labtui.artifacts.writing import export_lesson

            paths = export_lesson(self.lesson, store, formats, Path(folder).expanduser())
            store.progress.save_draft(self._folder_key, folder)
            return paths

        self.change_store(write, lambda paths: self.post_message(self.Wrote(tuple(paths))))

    def show_fault(self, error: BaseException) -> None:
        self._busy = False
        self.say_next(WHAT_TO_DO)
        super().show_fault(error)

    @on(Wrote)
    def _wrote(self, event: Wrote) -> None:
        self._written, self._busy = event.paths, False
        lines = "\n".join(f"✓ {visible_line(str(path))}" for path in event.paths)
        self.query_one("#written", Static).update(lines)
        self.refresh_bindings()
        self.say(f"{len(event.paths)} file{'' if len(event.paths) == 1 else 's'} written. c copies the paths.")

    def action_copy(self) -> None:
        self.say(self.lab.copied("\n".join(map(str, self._written)), "The list of files"))


FORMAT_TITLES = {
    "md": "Markdown   to read and to paste",
    "html": "HTML       one page for a browser and for paper, nothing outside it",
    "json": "JSON       every number and every chunk, for programs",
    "toml": "TOML       the same as the JSON",
    "anki": "Anki       recall questions and misconceptions, as a package and as text",
}
TICKED_AT_FIRST = frozenset({"md", "html", "json"})
