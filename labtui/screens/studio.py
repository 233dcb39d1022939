from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static

from labtui.made import KeptPiece, keep_piece, kept_piece, piece_draft_key, read_piece
from labtui.piece_entries import (
    Entry,
    Part,
    anchor_at,
    can_add,
    entries,
    filled,
    one_line,
    parts,
    summary,
    with_part,
    with_value,
    without_part,
)
from labtui.screens.lesson import short_title
from labtui.screens.lesson_cards import Prose
from labtui.screens.page import BACK, Page
from labtui.screens.reading import ReadingBox
from labtui.screens.studio_form import StudioForm
from labtui.screens.teach_timer import TeachTimer
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.commands import Command, bindings
from lessons.model import Lesson, PracticePiece
from lessons.studio.checks import TEACH_BACK_S, missing
from lessons.studio.keeping import to_json, to_plain_text
from lessons.studio.pieces import EvidenceMap, HarnessMap, Piece, TeachBack
from lessons.times import anchor_url, clock
from store.progress import Note

if TYPE_CHECKING:
    from store.opening import Store

STUDIO_COMMANDS = (
    Command("enter", "edit", "edit", "Write what is chosen in the list"),
    Command("a", "add", "add", "Add a row"),
    Command("x", "remove", "remove", "Take the chosen row away"),
    Command("u", "put_back", "put back", "Put back the row that was taken away last"),
    Command("t", "time", "time it", "Say it aloud against the clock: ninety seconds"),
    Command("w", "weakest", "weakest link", "Mark the chosen stage as the weakest link"),
    Command("o", "open_video", "open video", "Show and copy the address of the video at this row's second"),
    Command("c", "copy", "copy", "Copy the whole piece as text", shown=False),
    Command("y", "history", "earlier ones", "Every version that you left here, and what you wrote before", shown=False),
    BACK,
)
NAME_WIDTH = 12
TIME = "seconds"


class StudioScreen(Page):
    HELP = """
In the studio you make what the practice of a lesson asks for. The list holds its parts; enter opens one, and below
the list stands what is still missing. Nothing has to be saved: every key that you press is kept at once, and leaving
the studio keeps this version beside the earlier ones.

Timestamps are picked from the anchors of the lesson, and a quotation must stand in it word for word. When nothing is
missing the piece is done, and counts at the gates that ask for it.
"""
    PAGE_COMMANDS = STUDIO_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*STUDIO_COMMANDS)]

    class Loaded(Message):
        def __init__(self, kept: KeptPiece, history: tuple[Note, ...]) -> None:
            super().__init__()
            self.kept = kept
            self.history = history

    def __init__(self, lesson_id: str, practice_id: str) -> None:
        super().__init__()
        self.lesson_id, self.practice_id = lesson_id, practice_id
        self._piece: Piece | None = None
        self._history: tuple[Note, ...] = ()
        self._changed = False
        self._removed: tuple[int, Part] | None = None
        self.written: str | None = None
        """The entry that was written last: the list comes back to it."""

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def practice(self) -> PracticePiece:
        return next(piece for piece in self.lesson.practice if piece.id == self.practice_id)

    @property
    def piece(self) -> Piece:
        assert self._piece is not None
        return self._piece

    @property
    def crumbs(self) -> tuple[str, ...]:
        return short_title(self.lesson), "Studio", visible_line(self.practice.title)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return entries(self.lesson, self.piece)

    @property
    def entry(self) -> Entry | None:
        """The one that is chosen in the list."""
        chosen = self.query_one("#entries", Choices).chosen_id
        return next((entry for entry in self.entries if entry.id == chosen), None) if self._piece else None

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="studio", can_focus=False):
            with Vertical(id="piece"):
                yield Choices(id="entries")
            with Vertical(id="judged"):
                yield Static("DONE WHEN", classes="heading-small", markup=False)
                yield Prose(self.practice.done_signal, classes="done-signal")
                yield Static("STILL MISSING", id="missing-heading", classes="heading-small", markup=False)
                yield Static(id="missing", markup=False)

    def on_mount(self) -> None:
        self.say_next("One moment.")
        self.read_store(self._read, self.post_message)

    def on_screen_resume(self) -> None:
        self.refresh_title()
        if self._piece is not None:
            self._show(self.written)

    def _read(self, store: Store) -> StudioScreen.Loaded:
        step_id = f"practice/{self.practice_id}"
        history = [note for note in store.progress.note_history(self.lesson_id) if note.step == step_id]
        return self.Loaded(kept_piece(self.lesson, self.practice, store), tuple(history))

    @on(Loaded)
    def _loaded(self, event: Loaded) -> None:
        self._piece, self._history, self._changed = event.kept.piece, event.history, event.kept.draft
        self._show()
        self.query_one("#entries").focus()
        if event.kept.earlier:
            self.say("What you wrote here before there was a studio is kept: y shows it.")

    def _show(self, chosen: str | None = None) -> None:
        found = missing(self.lesson, self.piece)
        choices = self.query_one("#entries", Choices)
        choices.show(self._rows(), chosen)
        heading = f"STILL MISSING ({len(found)})" if found else "✓ NOTHING IS MISSING"
        self.query_one("#missing-heading", Static).update(heading)
        self.query_one("#missing", Static).update("\n".join(map(visible_line, found)))
        self.refresh_bindings()
        self.say_next(self._what_next(found))

    def _rows(self) -> list[Choice]:
        rows = []
        for entry in self.entries:
            name = entry.title if entry.part is None or isinstance(self.piece, HarnessMap) else str(entry.part + 1)
            width = NAME_WIDTH if isinstance(self.piece, HarnessMap) else 2 if entry.part is not None else 0
            text = f"{visible_line(name):<{width}} {visible_line(summary(self.lesson, self.piece, entry))}"
            rows.append(Choice(entry.id, text if entry.part is not None else self._whole(entry), self._right(entry)))
        if not parts(self.piece) and can_add(self.lesson, self.piece):
            rows.insert(0, Choice(None, "No row yet: a adds one.", remark=True))
        if isinstance(self.piece, TeachBack):
            taken = self.piece.seconds
            said = f"{clock(taken)} of {clock(TEACH_BACK_S)}" if taken is not None else "not timed yet"
            rows.append(Choice(TIME, f"Against the clock: {said}", "t"))
        return rows

    def _whole(self, entry: Entry) -> str:
        """A field of the whole piece."""
        return f"{entry.title}: {visible_line(summary(self.lesson, self.piece, entry)) or '–'}"

    def _right(self, entry: Entry) -> str:
        word = ""
        if isinstance(self.piece, HarnessMap) and entry.part is not None:
            is_weakest = one_line(self.piece.stages[entry.part].stage) == one_line(self.piece.weakest)
            word = "weakest  " if is_weakest and self.piece.weakest else ""
        elif isinstance(self.piece, EvidenceMap) and entry.part is not None:
            word = f"{visible_line(self.piece.rows[entry.part].confidence)}  "
        have, of = filled(self.piece, entry), len(entry.fields)
        if of == 1:
            return "✓" if have else ""
        return f"{word}{'✓' if have == of else f'{have} of {of}'}"

    def _what_next(self, found: list[str]) -> str:
        if not found:
            return "Nothing is missing: this piece is done. esc goes back to the lesson."
        if not parts(self.piece) and can_add(self.lesson, self.piece):
            return "a adds the first row; enter writes what is chosen."
        if isinstance(self.piece, TeachBack) and self.piece.explanation.strip() and self.piece.seconds is None:
            return "enter writes what is chosen; t times you while you say it."
        return "enter writes what is chosen. Everything is kept as you go."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._piece is None:
            return action == "back"
        entry = self.entry
        match action:
            case "add":
                return can_add(self.lesson, self.piece)
            case "remove":
                return can_add(self.lesson, self.piece) and entry is not None and entry.part is not None
            case "put_back":
                return self._removed is not None
            case "time":
                return isinstance(self.piece, TeachBack)
            case "weakest":
                return isinstance(self.piece, HarnessMap) and entry is not None and entry.part is not None
            case "open_video":
                return (
                    bool(self.lesson.video.url)
                    and entry is not None
                    and anchor_at(self.lesson, self.piece, entry) is not None
                )
            case "history":
                return bool(self._history)
        return True

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_edit()

    def put(self, piece: Piece, kept: Callable[[bool], object] = bool) -> None:
        """Take a changed piece and keep it as a draft; kept is called once it is on the disk, as in keep_draft."""
        self._piece, self._changed = piece, True
        key = piece_draft_key(self.lesson_id, self.practice_id)
        self._wait_for_store(self.lab.books.keep_draft(key, to_json(piece)), kept)

    def action_edit(self) -> None:
        if self.query_one("#entries", Choices).chosen_id == TIME:
            self.action_time()
        elif (entry := self.entry) is not None:
            self.app.push_screen(StudioForm(self, entry.id))

    def action_add(self) -> None:
        count = len(parts(self.piece))
        self.put(with_part(self.piece, count))
        self._show(f"part/{count}")
        self.action_edit()

    def action_remove(self) -> None:
        entry = self.entry
        if entry is not None and entry.part is not None:
            self._removed = entry.part, parts(self.piece)[entry.part]
            self.put(without_part(self.piece, entry.part))
            self._show()
            self.say(f"{entry.title} is taken away. u puts it back.")

    def action_put_back(self) -> None:
        if self._removed is not None:
            index, part = self._removed
            index, self._removed = min(index, len(parts(self.piece))), None
            self.put(with_part(self.piece, index, part))
            self._show(f"part/{index}")

    def action_weakest(self) -> None:
        entry = self.entry
        if isinstance(self.piece, HarnessMap) and entry is not None and entry.part is not None:
            whole = next(one for one in self.entries if one.id == "weakest")
            self.put(with_value(self.piece, whole, "weakest", self.piece.stages[entry.part].stage))
            self._show()

    def action_time(self) -> None:
        if isinstance(self.piece, TeachBack):
            self.app.push_screen(TeachTimer(self.crumbs, self.piece, self._timed))

    def _timed(self, seconds: float) -> None:
        if isinstance(self.piece, TeachBack):
            self.put(replace(self.piece, seconds=round(seconds, 1)))

    def action_open_video(self) -> None:
        entry = self.entry
        if entry is not None and (anchor := anchor_at(self.lesson, self.piece, entry)) is not None:
            address = anchor_url(self.lesson.video.url, anchor.start_s)
            self.say(f"{address} opens the video at {clock(anchor.start_s)}. {self.lab.copied(address)}")

    def action_copy(self) -> None:
        self.say(self.lab.copied(to_plain_text(self.piece), "The piece"))

    def action_history(self) -> None:
        texts = []
        for note in self._history:
            piece = read_piece(note.text, self.practice)
            text = note.text if piece is None else to_plain_text(piece)
            texts.append(f"{note.saved_at.astimezone():%Y-%m-%d %H:%M}\n\n{text.strip() or '(empty)'}")
        self.app.push_screen(ReadingBox("Every version, newest first", "\n\n\n".join(texts), plain=True))

    async def action_back(self) -> None:
        if self._changed:
            lesson, practice, piece = self.lesson, self.practice, self.piece
            self.change_store(lambda store: keep_piece(lesson, practice, piece, store), lambda kept: None)
        await super().action_back()
