from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from exercises.records import Run
from labtui.cli.run_text import PRACTICE_LABEL
from labtui.judging import blind_counts
from labtui.screens.home_picture import run_label, run_outcome
from labtui.screens.lesson import short_title
from labtui.screens.lesson_cards import Prose
from labtui.screens.page import BACK, Page
from labtui.screens.reading import ReadingBox
from labtui.standing import standing_of
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice
from labtui.widgets.commands import Command, bindings
from labtui.widgets.dates import day_words
from labtui.widgets.tick_list import TickList
from labtui.widgets.writing import Writing
from lessons.model import Lesson
from store.verdicts import Verdict

if TYPE_CHECKING:
    from store.opening import Store

VERDICT_COMMANDS = (
    Command("w", "write", "write", "Write the verdict; esc leaves the text"),
    Command("c", "cite", "cite runs", "To the list of runs; space ticks the one that is chosen"),
    Command("s", "save", "save", "Save the verdict with the runs that are ticked; earlier ones are kept"),
    Command("b", "blind", "blind counts", "Put what you judged blind into the text, in a sentence", shown=False),
    Command("y", "history", "earlier ones", "Every verdict that you saved here"),
    BACK,
)
RUNS_OFFERED = 30
NO_RUN = Choice(None, "No run yet. A verdict may stand without one.", remark=True)


@dataclass(frozen=True, slots=True)
class VerdictPicture:
    """history: newest first. cited: the ids that are ticked. draft: a half-typed verdict.

    blind: what was judged blind, a sentence for each task and two sides.
    """

    history: tuple[Verdict, ...]
    runs: tuple[Run, ...]
    cited: tuple[str, ...]
    draft: str | None
    blind: tuple[str, ...] = ()


class VerdictScreen(Page):
    HELP = """
The verdict is your answer to the question of the lab, in a few sentences, resting on runs that you cite.

w writes, esc leaves the text, s saves. While you write, a draft is kept with every key; it becomes the verdict when
you save. Every verdict that you ever saved stays in the history.

Where answers to the lesson's tasks were judged blind, the counts stand below the runs; b puts them into the text.

A verdict that cites only runs of the practice checkpoint is labelled so: those numbers say nothing about the model
of the lesson.
"""
    PAGE_COMMANDS = VERDICT_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*VERDICT_COMMANDS)]

    class Loaded(Message):
        def __init__(self, picture: VerdictPicture, saved: bool) -> None:
            super().__init__()
            self.picture = picture
            self.saved = saved

    def __init__(self, lesson_id: str) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self._picture: VerdictPicture | None = None

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def crumbs(self) -> tuple[str, ...]:
        return short_title(self.lesson), "Verdict"

    @property
    def _draft_key(self) -> str:
        return f"verdict/{self.lesson_id}"

    @property
    def _cited_key(self) -> str:
        return f"verdict-runs/{self.lesson_id}"

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="verdict", can_focus=False):
            with Vertical(id="verdict-text"):
                yield Prose(self.lesson.frame.lab_question, classes="question")
                writing = Writing(draft_key=self._draft_key, id="verdict-writing")
                writing.border_title = "Your verdict"
                yield writing
            with Vertical(id="verdict-runs"):
                yield Static("RUNS IT CITES", classes="heading-small", markup=False)
                yield TickList(id="cited")
                yield Static(id="practice-label", classes="practice-label", markup=False)
                yield Static(id="blind-counts", classes="cited", markup=False)

    def on_mount(self) -> None:
        self.say_next("One moment.")
        self.read_store(self._read, lambda picture: self.post_message(self.Loaded(picture, saved=False)))

    def _read(self, store: Store) -> VerdictPicture:
        history = store.verdicts.history(self.lesson_id)
        tasks = {task.task for task in self.lesson.lab_tasks}
        runs = [run for run in store.runs.list(limit=RUNS_OFFERED) if run.task in tasks and not run.warmup]
        draft, marked = store.progress.draft(self._draft_key), store.progress.draft(self._cited_key)
        if marked is not None:
            cited: Sequence[str] = marked.split()
        elif history:
            cited = history[0].runs
        else:
            cited = [run.id for run in standing_of(self.lesson, store).runs.values()]
        blind = tuple(count.sentence for count in blind_counts(store, [task.task for task in self.lesson.lab_tasks]))
        return VerdictPicture(tuple(history), tuple(runs), tuple(cited), draft, blind)

    @on(Loaded)
    def _loaded(self, event: Loaded) -> None:
        first = self._picture is None
        self._picture = picture = event.picture
        now = self.lab.now()
        writing = self.query_one(Writing)
        newest = picture.history[0] if picture.history else None
        if first:
            writing.put(picture.draft if picture.draft is not None else newest.text if newest else "")
        if picture.draft is not None:
            writing.border_subtitle = "draft, not saved"
        elif newest is not None:
            writing.border_subtitle = f"saved {day_words(newest.saved_at, now)}"
        cited = set(picture.cited)
        rows = [
            Choice(
                run.id,
                visible_line(run_label(run)),
                f"{visible_line(run_outcome(run))}  {day_words(datetime.fromisoformat(run.started_at), now)}",
                ticked=run.id in cited,
            )
            for run in picture.runs
        ]
        self.query_one(TickList).show(
            rows or [Choice(None, "No run yet. A verdict may stand without one.", remark=True)]
        )
        self._label_practice()
        told = self.query_one("#blind-counts", Static)
        told.update("\n".join(f"b  {visible_line(sentence)}" for sentence in picture.blind))
        told.display = bool(picture.blind)
        self.refresh_bindings()
        if first and rows:
            self.query_one(TickList).focus()
        self.say_next(self._what_next())
        if event.saved and newest is not None:
            count = len(newest.runs)
            self.say(f"Saved, citing {count or 'no'} run{'' if count == 1 else 's'}.")

    def _label_practice(self) -> None:
        ticked = set(self.query_one(TickList).ticked)
        cited = [run for run in self._picture.runs if run.id in ticked] if self._picture else []
        only_practice = bool(cited) and all(run.practice for run in cited)
        self.query_one("#practice-label", Static).update(f"! {PRACTICE_LABEL}" if only_practice else "")

    def _what_next(self) -> str:
        if self._picture is None:
            return "One moment."
        if self._picture.draft is not None or not self._picture.history:
            return "w writes, esc leaves the text; space ticks the runs it rests on; s saves."
        return "It is saved. w changes it, s saves it again; e at home exports it."

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "history":
            return bool(self._picture and self._picture.history)
        if action == "blind":
            return bool(self._picture and self._picture.blind)
        if action == "cite":
            return bool(self._picture and self._picture.runs)
        return self._picture is not None or action == "back"

    @on(TickList.Ticked)
    def _ticked(self, event: TickList.Ticked) -> None:
        self._label_practice()
        self.keep_quietly(self._cited_key, " ".join(event.ticks.ticked) or " ")

    def action_write(self) -> None:
        self.query_one(Writing).focus()
        self.say_next("esc leaves the text. It is kept as a draft while you write.")

    @on(Writing.Left)
    def _left(self) -> None:
        self.say_next("s saves it with the runs that are ticked; w goes on writing.")

    def action_cite(self) -> None:
        self.query_one(TickList).focus()

    def action_save(self) -> None:
        text, cited = self.query_one(Writing).text, self.query_one(TickList).ticked
        if not text.strip():
            self.say("There is nothing to save yet: w writes.", fault=True)
            return

        def save(store: Store) -> VerdictPicture:
            newest = store.verdicts.latest(self.lesson_id)
            if newest is None or (newest.text, set(newest.runs)) != (text, set(cited)):
                store.verdicts.save(self.lesson_id, text, cited)
            store.progress.clear_draft(self._draft_key)
            store.progress.clear_draft(self._cited_key)
            return self._read(store)

        self.change_store(save, lambda picture: self.post_message(self.Loaded(picture, saved=True)))

    def action_blind(self) -> None:
        writing = self.query_one(Writing)
        new = [sentence for sentence in (self._picture.blind if self._picture else ()) if sentence not in writing.text]
        if not new:
            self.say("The counts stand in the text already.")
            return
        gap = "" if not writing.text or writing.text.endswith("\n") else "\n"
        writing.insert(gap + "\n".join(new), writing.document.end)
        self.say("The counts stand in the text; s saves it.")

    def action_history(self) -> None:
        if self._picture is not None:
            parts = [
                f"{verdict.saved_at.astimezone():%Y-%m-%d %H:%M}, "
                f"{'citing ' + ', '.join(verdict.runs) if verdict.runs else 'citing no run'}\n\n{verdict.text}"
                for verdict in self._picture.history
            ]
            self.app.push_screen(ReadingBox("Every verdict, newest first", "\n\n\n".join(parts), plain=True))
