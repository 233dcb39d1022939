"""Two answers to the same prompt, judged before anybody says whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static

from exercises.checkers.svg import extract_svg
from labtui.cli.run_text import check_lines
from labtui.errors import USAGE, LabError
from labtui.judging import CHOICE_WORDS, LETTER, PRACTICE_JUDGED, ToJudge, save_pair, tally_line, to_judge
from labtui.screens.blind_side import AnswerSide
from labtui.screens.lab_answer import labels_line, look_at_answer
from labtui.screens.lab_boxes import QuestionBox
from labtui.screens.page import BACK, Page
from labtui.screens.reading import ReadingBox
from labtui.svg_picture import picture_of_svg
from labtui.terminal_text import visible, visible_line
from labtui.widgets.commands import Command, bindings
from labtui.widgets.writing import Writing
from store.judgements import Revealed, Tally, names_of

if TYPE_CHECKING:
    from store.opening import Store

BLIND_COMMANDS = (
    Command("a", "choose('left')", "A", "A is better"),
    Command("b", "choose('right')", "B", "B is better"),
    Command("e", "choose('equal')", "tie", "Both are equally good"),
    Command("x", "choose('neither')", "both bad", "Neither is good"),
    Command("enter", "go_on", "keep", "Keep the judgement and show whose they are; then the next pair"),
    Command("s", "other_side", "other", "Show the other answer, where there is room for one"),
    Command("t", "turn", "picture", "The picture, or the text"),
    Command("n", "note", "note", "Say why, in your own words; esc leaves the text"),
    Command("p", "prompt", "prompt", "The whole prompt that both answer", shown=False),
    Command("u", "undo", "undo", "Take the last judgement back", shown=False),
    Command("c", "counts", "counts", "How often each was better, of all blind judgements", shown=False),
    Command("o", "save_files", "save files", "Save both answers as files A and B, and say where", shown=False),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up,k", "scroll(-1)", "up", "A line up", shown=False),
    Command("space,pagedown", "scroll(10)", "further", "A page down", shown=False),
    Command("pageup", "scroll(-10)", "up", "A page up", shown=False),
    BACK,
)
SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class Drawn:
    """png: of each side. words: what is written in it, or why there is none."""

    pair: str
    png: dict[str, bytes | None]
    words: dict[str, str]


class BlindScreen(Page):
    HELP = """
Two answers to the same prompt, from two models or from two settings of one. The order is drawn, and nothing here says
whose they are until you judged: no speed, no name, no result of a checker.

a: A is better. b: B is better. e: a tie. x: both are bad. Another key changes it. n adds why, in your words. enter
keeps the judgement and then shows whose the answers are, with the facts that the checkers found: facts, never a taste.

At 80 columns one answer is shown at a time: s shows the other, t turns between text and picture. Where the answer is no
drawing, such as a page with tabs, o saves both as files for a browser; their names give nothing away.

u takes the last judgement back: it stays in the history and is not counted. Its pair is not shown again, since you know
by then whose the answers are. A pair that you leave without a judgement comes back first. Two answers that are the
same word by word are no pair.

Judgements of the practice checkpoint compare its settings. They are labelled so, and are no evidence about
DiffusionGemma.
"""
    PAGE_COMMANDS = BLIND_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*BLIND_COMMANDS)]
    CSS_PATH = "blind.tcss"

    class Found(Message):
        def __init__(self, found: ToJudge | LabError, note: str) -> None:
            super().__init__()
            self.found = found
            self.note = note

    class PicturesDrawn(Message):
        def __init__(self, drawn: Drawn) -> None:
            super().__init__()
            self.drawn = drawn

    class JudgementKept(Message):
        def __init__(self, revealed: Revealed) -> None:
            super().__init__()
            self.revealed = revealed

    class Counted(Message):
        def __init__(self, tallies: list[Tally]) -> None:
            super().__init__()
            self.tallies = tallies

    class LastFound(Message):
        def __init__(self, last: Revealed | None) -> None:
            super().__init__()
            self.last = last

    class TakenBack(Message):
        def __init__(self, revealed: Revealed) -> None:
            super().__init__()
            self.revealed = revealed

    def __init__(self, task: str | None = None) -> None:
        """task: whose pairs come first."""
        super().__init__()
        self._first_task = task
        self._shown: ToJudge | None = None
        self._choice: str | None = None
        self._keeping = False
        self._revealed: Revealed | None = None
        self._drawn: Drawn | None = None
        self._side = "left"
        self._as_picture = True

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("Lab", "Blind" if self._shown is None else f"Blind · {visible_line(self._shown.pair.task)}")

    def compose_body(self) -> ComposeResult:
        with Container(id="blind"):
            yield Static(id="blind-practice", classes="practice-label", markup=False)
            yield Static("One moment.", id="blind-prompt", markup=False)
            with Container(id="blind-sides"):
                for side in SIDES:
                    yield AnswerSide(LETTER[side], id=f"side-{side}")
            yield Static(id="blind-judged", markup=False)
            note = Writing(id="blind-note")
            note.border_title = "Why"
            yield note

    def on_mount(self) -> None:
        self.refresh_title()
        self._clear()
        self._look_for_pair()

    def side(self, name: str) -> AnswerSide:
        return self.query_one(f"#side-{name}", AnswerSide)

    # --- a pair

    def _look_for_pair(self) -> None:
        def look(store: Store) -> BlindScreen.Found:
            try:
                shown = to_judge(store, None, self._first_task)
            except LabError as nothing:
                if nothing.exit_code != USAGE:
                    raise
                return self.Found(nothing, "")
            return self.Found(shown, store.progress.draft(draft_key(shown)) or "")

        self.read_store(look, self.post_message)

    def _clear(self) -> None:
        self._shown = self._choice = self._revealed = self._drawn = None
        self._keeping = False
        self._side, self._as_picture = "left", True
        note = self.query_one(Writing)
        note.put("")
        note.display = False
        self.query_one("#blind-sides").display = False
        for name in ("#blind-practice", "#blind-judged"):
            self._tell(name, "")

    @on(Found)
    def _pair_found(self, event: Found) -> None:
        self._clear()
        if isinstance(event.found, LabError):
            nothing = event.found
            self._tell("#blind-prompt", f"{nothing.title}:\n{nothing.cause}.\n\n→ {nothing.fix}")
            self.query_one("#blind-prompt").set_class(False, "-short")
            self.say_next("Do what stands after →; c shows how often each was better; esc goes back.")
        else:
            self._shown = shown = event.found
            pair = shown.pair
            self._tell("#blind-practice", f"! {PRACTICE_JUDGED}" if pair.practice else "")
            self._tell("#blind-prompt", f"asked (p: all of it): {' '.join(visible(shown.prompt).split())}")
            self.query_one("#blind-prompt").set_class(True, "-short")
            self.query_one("#blind-sides").display = True
            self.side("left").show_answer(pair.left)
            self.side("right").show_answer(pair.right)
            note = self.query_one(Writing)
            note.draft_key = draft_key(shown)
            note.put(event.note)
            note.display = bool(event.note)
            self.run_worker(partial(self._draw, shown), group="draw", thread=True, exit_on_error=False)
            self._lay_out()
        self.refresh_title()
        self.refresh_bindings()

    def _draw(self, shown: ToJudge) -> None:
        """In a worker: two drawings may take their time."""
        pair = shown.pair
        png: dict[str, bytes | None] = dict.fromkeys(SIDES)
        words = dict.fromkeys(SIDES, "")
        if shown.asked_about is not None:
            png = dict.fromkeys(SIDES, look_at_answer(shown.asked_about).png)
        else:
            for side, answer in (("left", pair.left), ("right", pair.right)):
                if extract_svg(answer) is not None:
                    try:
                        png[side] = picture_of_svg(answer)
                        words[side] = labels_line(answer)
                    except LabError as fault:
                        words[side] = f"{fault.title}: {fault.cause}"
        self.post_message(self.PicturesDrawn(Drawn(pair.id, png, words)))

    @on(PicturesDrawn)
    def _pictures_drawn(self, event: PicturesDrawn) -> None:
        if self._shown is not None and event.drawn.pair == self._shown.pair.id:
            self._drawn = event.drawn
            self._lay_out()
            self.refresh_bindings()

    # --- what is shown

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        if self._shown is None:
            return
        wide = self.has_class("-wide")
        body = self.query_one("#blind-sides")
        for name in SIDES:
            side = self.side(name)
            side.display = wide or name == self._side
            width = body.size.width // 2 - 2 if wide else body.size.width
            png = self._drawn.png[name] if self._drawn is not None else None
            words = self._drawn.words[name] if self._drawn is not None else ""
            side.show_picture(png if self._as_picture else None, words, (width, max(2, body.size.height - 2)), wide)
        self._show_judged()

    def _show_judged(self) -> None:
        revealed = self._revealed
        if revealed is not None:
            names = names_of(revealed)
            passed = {"left": revealed.left.check.passed, "right": revealed.right.check.passed}
            sides = [f"{LETTER[s]} is {names[s]} (check {'passed' if passed[s] else 'failed'})" for s in SIDES]
            taken = " Taken back, not counted." if revealed.withdrawn else ""
            self._tell("#blind-judged", f"You: {CHOICE_WORDS[revealed.judgement.choice]}.{taken} {'. '.join(sides)}.")
            self.say_next("enter: the next pair; t looks again; u takes it back; c counts; p the prompt.")
        elif self._choice is not None:
            self._tell("#blind-judged", f"Your judgement: {CHOICE_WORDS[self._choice]}.")
            self.say_next(
                "esc leaves the text; enter in it is a new line."
                if self.query_one(Writing).has_focus
                else "enter keeps it and shows whose they are; n adds why; another letter changes it."
            )
        else:
            self._tell("#blind-judged", "")
            self.say_next("a or b is better; e a tie; x both bad; t picture or text; s the other answer.")

    def _tell(self, name: str, text: str) -> None:
        told = self.query_one(name, Static)
        told.update(visible(text))
        told.display = bool(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        judging = self._shown is not None and self._revealed is None and not self._keeping
        match action:
            case "choose":
                return judging
            case "note":
                return judging and self._choice is not None
            case "go_on":
                return self._revealed is not None or (judging and self._choice is not None)
            case "turn":
                return self._drawn is not None and any(self._drawn.png.values())
            case "other_side":
                return self._shown is not None and not self.has_class("-wide")
            case "prompt" | "save_files" | "scroll":
                return self._shown is not None
        return True

    # --- what a person does

    def action_choose(self, choice: str) -> None:
        self._choice = choice
        self._show_judged()
        self.call_after_refresh(self._lay_out)
        self.refresh_bindings()

    def action_other_side(self) -> None:
        self._side = "right" if self._side == "left" else "left"
        self._lay_out()

    def action_turn(self) -> None:
        self._as_picture = not self._as_picture
        self._lay_out()

    def action_note(self) -> None:
        note = self.query_one(Writing)
        note.display = True
        # At once, so that not even the next key of a fast hand is taken for a command.
        self.set_focus(note)
        self.call_after_refresh(self._lay_out)
        self._show_judged()

    @on(Writing.Left)
    def _note_left(self) -> None:
        self._show_judged()

    def action_scroll(self, by: int) -> None:
        for name in SIDES:
            self.side(name).scroll_text(by)

    def action_prompt(self) -> None:
        if self._shown is not None:
            self.app.push_screen(ReadingBox("What both answer", self._shown.prompt, plain=True))

    def action_go_on(self) -> None:
        if self._revealed is not None:
            self._look_for_pair()
            return
        shown, choice, why = self._shown, self._choice, self.query_one(Writing).text.strip()
        if shown is None or choice is None or self._keeping:
            return
        self._keeping = True

        def keep(store: Store) -> Revealed:
            store.judgements.judge(shown.pair.id, choice, why)
            store.progress.clear_draft(draft_key(shown))
            return store.judgements.reveal(shown.pair.id)

        self.change_store(keep, lambda revealed: self.post_message(self.JudgementKept(revealed)))

    @on(JudgementKept)
    def _judgement_kept(self, event: JudgementKept) -> None:
        self._keeping = False
        self._revealed = revealed = event.revealed
        self.query_one(Writing).display = False
        names = names_of(revealed)
        for name, run in (("left", revealed.left), ("right", revealed.right)):
            facts = "\n".join(line.strip() for line in check_lines(run))
            self.side(name).reveal(f"{LETTER[name]} · {names[name]} · run {run.id}", facts)
        self._as_picture = False
        self._lay_out()
        self.call_after_refresh(self._lay_out)
        self.refresh_bindings()

    def action_undo(self) -> None:
        self.read_store(
            lambda store: store.judgements.last_judged(), lambda last: self.post_message(self.LastFound(last))
        )

    @on(LastFound)
    def _last_found(self, event: LastFound) -> None:
        last = event.last
        if last is None:
            self.say("There is no judgement to take back.", fault=True)
            return
        when = f"{last.judgement.judged_at.astimezone():%Y-%m-%d %H:%M}"
        box = QuestionBox(
            f"Take back “{CHOICE_WORDS[last.judgement.choice]}” of {when} ({visible_line(last.pair.task)})?",
            "It stays in the history and is not counted. You have seen whose the answers are, so this pair is not "
            "shown again.",
            "take it back",
        )
        self.app.push_screen(box, lambda yes: self._take_back(last) if yes else None)

    def _take_back(self, last: Revealed) -> None:
        self.change_store(
            lambda store: store.judgements.withdraw(last.pair.id),
            lambda revealed: self.post_message(self.TakenBack(revealed)),
        )

    @on(TakenBack)
    def _taken_back(self, event: TakenBack) -> None:
        if self._revealed is not None and self._revealed.pair.id == event.revealed.pair.id:
            self._revealed = event.revealed
            self._show_judged()
        self.say("Taken back: it is not counted.")

    def action_counts(self) -> None:
        self.read_store(lambda store: store.judgements.tally(), lambda all_: self.post_message(self.Counted(all_)))

    @on(Counted)
    def _counted(self, event: Counted) -> None:
        lines = [tally_line(one) for one in event.tallies] or ["No blind judgement yet."]
        if any(one.practice for one in event.tallies):
            lines += ["", PRACTICE_JUDGED]
        self.app.push_screen(ReadingBox("Blind judgements", "\n".join(lines), plain=True))

    def action_save_files(self) -> None:
        if self._shown is None:
            return
        import platformdirs

        drawn = {} if self._drawn is None else self._drawn.png
        try:
            paths = save_pair(self._shown, platformdirs.user_data_path("labtui") / "answers", drawn)
        except OSError as error:
            self.say(f"Not saved: {error.strerror or error}", fault=True)
        else:
            self.say("Saved: " + ", ".join(paths))


def draft_key(shown: ToJudge) -> str:
    return f"blind/{shown.pair.id}"
