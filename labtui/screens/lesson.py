from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message

from exercises.predictions import read_number
from labtui.gates import unnamed
from labtui.launch_record import record_launch
from labtui.marking import mark_step
from labtui.predicting import Predicted, check, predict, step_of
from labtui.screens.jump import JumpBox
from labtui.screens.lesson_cards import (
    SECTIONS,
    Kept,
    answer_box,
    card_widgets,
    draft_key,
    is_asked,
    is_of_studio,
    opens_at,
    studio_piece,
)
from labtui.screens.lesson_commands import LESSON_COMMANDS, is_offered, what_next
from labtui.screens.lesson_state import LessonState, kept_at, lesson_state, scroll_key
from labtui.screens.page import Page
from labtui.screens.reading import ReadingBox, sources_markdown
from labtui.standing import READ_KINDS
from labtui.terminal_text import visible_line
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.commands import bindings
from labtui.widgets.step_strip import StepStrip
from labtui.widgets.writing import Writing
from lessons.model import Lesson, Prediction
from lessons.prompt import grounded_prompt
from lessons.walk import Step, steps

if TYPE_CHECKING:
    from store.opening import Store


class CardView(VerticalScroll, can_focus=False):
    """The card that is shown; the keys of the screen scroll it."""


class LessonScreen(Page):
    HELP = """
A lesson is walked card by card. Your place, your marks and every half-typed answer are kept: closing labtui, or
losing the connection, brings you back to the same card.

enter marks a card as done and goes on. A misconception asks before it tells: say true or false first. A practice
piece opens in the studio. A prediction takes your number first; then a launch or run of yours shows what is true, or
x tells what was recorded. A gate says what counts and what is still missing; it is met when nothing is.

A quotation stands as it was said in the video, with its second. o shows the address that opens the video there.
A card that was reworded since you read it says so; its mark stays, and enter marks the new text.
An editor's note corrects or adds to the source, and names where it has that from.
"""
    PAGE_COMMANDS = LESSON_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*LESSON_COMMANDS)]

    class Loaded(Message):
        def __init__(self, state: LessonState) -> None:
            super().__init__()
            self.state = state

    class Saved(Message):
        """what: what to say once it is on the disk."""

        def __init__(self, state: LessonState, what: str) -> None:
            super().__init__()
            self.state = state
            self.what = what

    def __init__(self, lesson_id: str, step_id: str | None = None) -> None:
        super().__init__()
        self.lesson_id = lesson_id
        self._wanted = step_id
        self._state: LessonState | None = None
        self._index = 0
        self._shown: str | None = None
        self._looked_at: str | None = None

    @property
    def lesson(self) -> Lesson:
        return self.lab.lesson(self.lesson_id)

    @property
    def walk(self) -> tuple[Step, ...]:
        return steps(self.lesson)

    @property
    def step(self) -> Step:
        return self.walk[self._index]

    @property
    def crumbs(self) -> tuple[str, ...]:
        step = self.step
        of_kind = [one for one in self.walk if one.kind == step.kind]
        section = SECTIONS.get(step.kind, step.kind)
        if len(of_kind) > 1:
            section += f" {of_kind.index(step) + 1} of {len(of_kind)}"
        done = self._state is not None and step.id in self._state.done
        changed = self._state is not None and step.id in self._state.changed
        return short_title(self.lesson), f"{section}{'  ✓' if done else ''}{' changed' if changed else ''}"

    def compose_body(self) -> ComposeResult:
        yield StepStrip(id="strip")
        with Horizontal(id="lesson"):
            yield CardView(id="card")
            yield Choices(id="outline")

    def on_mount(self) -> None:
        self.query_one("#outline").can_focus = False
        self.say_next("One moment.")
        self.read_store(self._read, lambda state: self.post_message(self.Loaded(state)))

    def on_screen_resume(self) -> None:
        if self._state is not None:
            self.read_store(self._read, lambda state: self.post_message(self.Saved(state, "")))

    def server_seen(self) -> None:
        """A launch that has become ready may show what was predicted here, whoever started it."""
        super().server_seen()
        status = self.lab.server_status
        if self._state is None or status is None or status.ready_after_s is None or status.launch_id == self._looked_at:
            return
        kept = self._kept(self.step)
        if kept.predicted is None or kept.checked:
            return
        self._looked_at = status.launch_id
        supervisor = self.lab.supervisor

        def record_and_read(store: Store) -> LessonState:
            record_launch(store, supervisor.launch, status)
            return self._read(store)

        self.read_store(record_and_read, lambda state: self.post_message(self.Saved(state, "")))

    def _read(self, store: Store) -> LessonState:
        return lesson_state(self.lesson, store)

    @on(Loaded)
    async def _loaded(self, event: Loaded) -> None:
        self._state = event.state
        ids = [step.id for step in self.walk]
        at = self._wanted or event.state.position
        self._index = ids.index(at) if at in ids else 0
        await self._show_card()
        step_id, _, line = (event.state.scroll or "").rpartition(" ")
        if step_id == self.step.id and line.isdigit():
            self.call_after_refresh(self._card.scroll_to, y=int(line), animate=False)
        self._keep_position()

    @on(Saved)
    async def _saved(self, event: Saved) -> None:
        self._state = event.state
        await self._show_card()
        if event.what:
            self.say(event.what)

    @property
    def _card(self) -> CardView:
        return self.query_one("#card", CardView)

    async def _show_card(self) -> None:
        """Show the present step; a text that is being written on it is left alone."""
        state, step = self._state, self.step
        if state is None:
            return
        card = self._card
        looks = f"{step.id} {self._kept(step)}"
        if looks != self._shown:
            same_step = self._shown is not None and self._shown.startswith(f"{step.id} ")
            self._shown = looks
            with self.app.batch_update():
                await card.remove_children()
                await card.mount(*card_widgets(self.lesson, step, self._kept(step)))
            if not same_step:
                card.scroll_home(animate=False)
        self.query_one(StepStrip).show([one.id in state.done for one in self.walk], self._index)
        self._show_outline()
        self.refresh_title()
        self.refresh_bindings()
        self.say_next(self._what_next())
        self.call_after_refresh(self._say_whether_more)

    def _say_whether_more(self) -> None:
        if not self._notice:
            self.say_next(self._what_next())

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_outline)

    def _show_outline(self) -> None:
        """The list at the side of a wide terminal."""
        outline = self.query_one("#outline", Choices)
        if not outline.display or not self.has_class("-wide"):
            return
        state = self._state
        rows, kind = [], ""
        for step in self.walk:
            if step.kind != kind:
                kind = step.kind
                rows.append(Choice(None, SECTIONS.get(kind, kind)))
            done = state is not None and step.id in state.done
            changed = "changed" if state is not None and step.id in state.changed else ""
            rows.append(Choice(step.id, f"{'✓' if done else '·'} {visible_line(step.title)}", changed))
        outline.show(rows, self.step.id)

    def _kept(self, step: Step) -> Kept:
        return kept_at(self.lesson, step, self._state, self.lab.now()) if self._state is not None else Kept()

    def _what_next(self) -> str:
        below = self._card.max_scroll_y > self._card.scroll_y
        return what_next(self.lesson, self.step, self._kept(self.step), last=self._is_last, more_below=below)

    @property
    def _is_last(self) -> bool:
        return self._index == len(self.walk) - 1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._state is None:
            return action == "back"
        return is_offered(action, self.lesson, self.step, self._kept(self.step), has_box=bool(self.query(Writing)))

    async def _go(self, index: int) -> None:
        index = max(0, min(index, len(self.walk) - 1))
        if index == self._index:
            self.say("This is the last card." if index else "This is the first card.")
            return
        self.set_focus(None)
        self._index = index
        self._shown = None
        await self._show_card()
        self._keep_position()

    def _keep_position(self) -> None:
        lesson_id, step_id = self.lesson_id, self.step.id
        self.change_store(lambda store: store.progress.set_position(lesson_id, step_id), lambda done: None)

    def _tell(self, change: Callable[[Store], object], what: str | Callable[[LessonState], str]) -> None:
        """Have the store change, then show what it holds. what is said only when it is on the disk."""

        def change_and_read(store: Store) -> LessonState:
            change(store)
            return self._read(store)

        self.change_store(
            change_and_read,
            lambda state: self.post_message(self.Saved(state, what if isinstance(what, str) else what(state))),
        )

    @on(Writing.Edited)
    def _remember_draft(self, event: Writing.Edited) -> None:
        if self._state is not None and event.writing.draft_key is not None:
            self._state.drafts[event.writing.draft_key] = event.text

    async def action_walk(self, by: int) -> None:
        await self._go(self._index + by)

    async def action_edge(self, end: int) -> None:
        await self._go(len(self.walk) - 1 if end > 0 else 0)

    async def action_page(self, by: int) -> None:
        card = self._card
        if by > 0 and card.scroll_y < card.max_scroll_y:
            card.scroll_page_down(animate=False)
        elif by < 0 and card.scroll_y > 0:
            card.scroll_page_up(animate=False)
        else:
            await self._go(self._index + by)
        self.call_after_refresh(self._keep_scroll)

    def action_scroll(self, by: int) -> None:
        self._card.scroll_relative(y=by, animate=False)
        self.call_after_refresh(self._keep_scroll)

    def _keep_scroll(self) -> None:
        self.keep_quietly(scroll_key(self.lesson), f"{self.step.id} {int(self._card.scroll_y)}")

    async def action_go_on(self) -> None:
        step = self.step
        match step.kind:
            case "lab":
                self.lab.open_lab(self.lesson_id)
            case "verdict":
                self.lab.open_verdict(self.lesson_id)
            case "recall":
                self.lab.open_recall(self.lesson_id, step.id.partition("/")[2])
            case "misconception" if is_asked(step, self._kept(step)):
                self.say("First say what you think: t true, f false.")
            case "predict" if self._kept(step).predicted is None:
                self.say("First write your number: w writes, s saves.")
            case "gate" | "predict":
                await self._go(self._index + 1)
            case "practice" if is_of_studio(self.lesson, step):
                self.action_studio()
            case _:
                self._mark(step, True)
                if not self._is_last:
                    await self._go(self._index + 1)

    def action_mark(self) -> None:
        step = self.step
        if step.kind not in READ_KINDS:
            self.say("This one is done by doing it, not by a mark.")
        elif self._state is not None:
            self._mark(step, step.id not in self._state.done)

    def _mark(self, step: Step, done: bool) -> None:
        self._tell(
            lambda store: mark_step(self.lesson, step.id, store, done),
            "Marked as done." if done else "The mark is taken away.",
        )

    def action_guess(self, believed: bool) -> None:
        step = self.step
        part, why = step.id.partition("/")[2], self._card.query_one(Writing).text.strip()

        def save(store: Store) -> None:
            store.progress.save_guess(self.lesson_id, part, believed, why)
            mark_step(self.lesson, step.id, store)
            store.progress.clear_draft(draft_key(self.lesson, step, asked=True))

        self._tell(save, "Your guess is saved.")

    async def action_write(self) -> None:
        if not self.query(Writing):
            await self._card.mount(*answer_box(self.lesson, self.step, self._kept(self.step), writing=True))
            self.refresh_bindings()
        writing = self.query_one(Writing)
        writing.focus()
        self.call_after_refresh(writing.scroll_visible, animate=False)
        self.say_next("esc leaves the text. It is kept as a draft while you write.")

    @on(Writing.Left)
    def _left(self) -> None:
        self.say_next(self._what_next())

    def action_save(self) -> None:
        step, text = self.step, self.query_one(Writing).text
        if not text.strip() and self._kept(step).text is None:
            self.say("There is nothing to save yet: w writes.", fault=True)
            return

        if step.kind == "predict" and read_number(text) is None:
            self.say("Write the number first, then how you got it: 321.25, since ...", fault=True)
            return

        def save(store: Store) -> None:
            if step.kind == "predict":
                predict(self.lesson, self._prediction(step), text, store)
            elif step.kind == "gate":
                store.progress.save_gate(self.lesson_id, step.id.partition("/")[2], text)
            else:
                store.progress.save_note(self.lesson_id, step.id, text)
            store.progress.clear_draft(draft_key(self.lesson, step))

        if step.kind == "gate":
            self._tell(save, lambda state: _gate_words(state.missing[step.id]))
        elif step.kind == "predict":
            self._tell(save, lambda state: _prediction_words(state.predicted[step.id]))
        else:
            self._tell(save, "Saved." if text.strip() else "The note is taken away.")

    async def action_name_run(self) -> None:
        await self.action_write()
        writing = self.query_one(Writing)
        left = unnamed(writing.text, [run.id for run in self._kept(self.step).runs])
        if not left:
            self.say("Every run of yours that is listed here stands in the text.")
            return
        before = "" if not writing.text or writing.text[-1].isspace() else " "
        writing.insert(f"{before}{left[0]} ", writing.document.end)
        writing.move_cursor(writing.document.end)
        self.say_next(f"{left[0]} stands in the text. Say what it shows; esc leaves the text, s saves it.")

    def _prediction(self, step: Step) -> Prediction:
        return next(one for one in self.lesson.predictions if step_of(one) == step.id)

    def action_recorded(self) -> None:
        prediction = self._prediction(self.step)

        def told(state: LessonState) -> str:
            seen = state.predicted[step_of(prediction)].seen
            return "Told from the record." if seen is not None else "Nothing was recorded for it."

        self._tell(lambda store: check(self.lesson, prediction, store, recorded=True), told)

    def action_studio(self) -> None:
        if piece := studio_piece(self.lesson, self.step):
            self.lab.open_studio(self.lesson_id, piece)

    def action_open_video(self) -> None:
        if place := opens_at(self.lesson, self.step):
            address, at = place
            self.say(f"{address} opens the video at {at}. {self.lab.copied(address, 'It')}")

    def action_copy_prompt(self) -> None:
        self.say(self.lab.copied(grounded_prompt(self.lesson), "The grounded prompt"))

    def action_prompt(self) -> None:
        hint = "   then c copies it, d checks an answer"
        self.app.push_screen(ReadingBox("Grounded prompt", grounded_prompt(self.lesson), plain=True, hint=hint))

    def action_answer(self) -> None:
        self.lab.open_answer_check(self.lesson_id)

    def action_sources(self) -> None:
        self.app.push_screen(ReadingBox("Source shelf", sources_markdown(self.lesson)))

    def action_jump(self) -> None:
        self._choose_step(searching=False)

    def action_search(self) -> None:
        self._choose_step(searching=True)

    def _choose_step(self, searching: bool) -> None:
        done = self._state.done if self._state else frozenset()
        changed = frozenset(self._state.changed) if self._state else frozenset()
        self.app.push_screen(JumpBox(self.lesson, self.step.id, done, searching, changed), self._jumped)

    async def _jumped(self, step_id: str | None) -> None:
        if step_id is not None and step_id != self.step.id:
            await self._go([step.id for step in self.walk].index(step_id))

    def action_lab(self) -> None:
        self.lab.open_lab(self.lesson_id)

    def action_verdict(self) -> None:
        self.lab.open_verdict(self.lesson_id)

    def action_recall(self) -> None:
        self.lab.open_recall(self.lesson_id)

    def action_export(self) -> None:
        self.lab.open_export(self.lesson_id)


def _gate_words(missing: tuple[str, ...]) -> str:
    if not missing:
        return "Saved. This gate is met."
    more = f" And {len(missing) - 1} more." if len(missing) > 1 else ""
    return f"Saved. The gate is still open: {missing[0]}{more}"


def _prediction_words(predicted: Predicted) -> str:
    if predicted.seen is not None:
        return "Your prediction is kept, and checked."
    return "Your prediction is kept. Check it by your own server, or x tells what was recorded."


def short_title(lesson: Lesson) -> str:
    return visible_line(lesson.title.partition(":")[0].strip() or lesson.title)
