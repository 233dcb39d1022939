"""One answer in full: its text, and the picture that it is or is about."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static

from exercises.checkers.svg import extract_svg, svg_labels
from exercises.records import Run
from exercises.tasks import find_task
from labtui.cli.run_text import PRACTICE_LABEL, label_of
from labtui.errors import LabError, is_explained
from labtui.new_file import file_name
from labtui.screens.page import BACK, Page
from labtui.svg_picture import picture_of_svg
from labtui.task_shelf import tasks_for
from labtui.terminal_text import visible, visible_line
from labtui.widgets.commands import Command, bindings
from labtui.widgets.picture import Picture, side_by_side

ANSWER_COMMANDS = (
    Command("t", "turn", "text/picture", "The picture, or the text"),
    Command("o", "keep", "save files", "Save the answer and its picture as files, and say where"),
    Command("c", "copy", "copy", "Copy the answer"),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up,k", "scroll(-1)", "up", "A line up", shown=False),
    Command("space,pagedown", "scroll(10)", "further", "A page down", shown=False),
    Command("b,pageup", "scroll(-10)", "up", "A page up", shown=False),
    BACK,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """png: the picture of the answer, or the one that it is about. words: what a person should know of it."""

    png: bytes | None
    words: str


def look_at_answer(run: Run) -> Seen:
    """Slow: draws. For an SVG its picture, for a vision task the picture that was sent, with its truth."""
    if run.evidence.get("images"):
        return _sent_picture(run)
    if extract_svg(run.output) is None:
        return Seen(None, "")
    try:
        return Seen(
            picture_of_svg(run.output), f"The SVG as it stands before anything moves. {labels_line(run.output)}"
        )
    except LabError as fault:
        return Seen(None, f"{fault.title}: {fault.cause}")


def labels_line(answer: str) -> str:
    """The labels of an SVG in words: half blocks are too coarse to read them in the picture."""
    labels = svg_labels(answer)
    return f"Labels in it: {visible_line(', '.join(labels))}" if labels else "No labels in it."


def _sent_picture(run: Run) -> Seen:
    """Drawn again from the seed, and shown only where it is byte for byte the one that was sent."""
    evidence = run.evidence
    truth = _truth(evidence.get("prepared", {}).get("picture", {}))
    try:
        prepared = find_task(run.task, tasks_for(run.checkpoint, run.practice)).prepare(int(evidence["seed"]))
        sent = [hashlib.sha256(png).hexdigest() for png in prepared.images]
        if sent == [image["sha256"] for image in evidence["images"]]:
            return Seen(side_by_side(prepared.images), truth)
    except Exception as fault:
        if not is_explained(fault) and not isinstance(fault, KeyError | TypeError | ValueError):
            raise
    return Seen(None, f"{truth}\nThe picture is not shown: this version of labtui draws another one.")


def _truth(picture: Any) -> str:
    if not isinstance(picture, dict):
        return ""
    if "passes" in picture:
        passes = "passes" if picture["passes"] else "does not pass"
        return f"Truth: the vehicle {passes}. {picture.get('shows', '')}".strip()
    told = picture.get("text") or picture.get("shows")
    return f"Truth: {told}" if told else ""


class AnswerScreen(Page):
    HELP = """
The answer as the model gave it. Control characters in it are shown as symbols. Where it is an SVG, its picture stands
beside it: drawn without scripts, without anything from outside the file, and without movement. For a vision task the
picture is the one that the model was shown, with the truth about it.

o saves answer and picture as files, so that you can open them with other programs.
"""
    PAGE_COMMANDS = ANSWER_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*ANSWER_COMMANDS)]
    CSS_PATH = "lab.tcss"

    class Looked(Message):
        def __init__(self, seen: Seen) -> None:
            super().__init__()
            self.seen = seen

    class NotLooked(Message):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run_shown = run
        self._seen: Seen | None = None
        self._view = 0

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("Lab", f"Answer · {label_of(self.run_shown)} · {self.run_shown.task}")

    def compose_body(self) -> ComposeResult:
        run = self.run_shown
        with Container(id="answer"):
            with VerticalScroll(id="answer-text", can_focus=False):
                if run.practice:
                    yield Static(f"! {PRACTICE_LABEL}", classes="answer-label", markup=False)
                yield Static(
                    f"asked: {visible(str(run.evidence.get('prompt', '')).strip())}", classes="muted", markup=False
                )
                if run.reasoning:
                    yield Static(f"reasoning: {visible(run.reasoning)}", classes="muted", markup=False)
                yield Static(visible(run.output) or "(the answer is empty)", id="answer-output", markup=False)
                for fact in run.check.facts:
                    detail = f": {visible_line(fact.detail)}" if fact.detail else ""
                    yield Static(f"{'✓' if fact.passed else '✗'} {visible_line(fact.name)}{detail}", markup=False)
            with Container(id="answer-side"):
                yield Picture(id="answer-picture")
                yield Static("drawing…", id="answer-words", markup=False)

    def on_mount(self) -> None:
        self.say_next("space reads on; o saves answer and picture as files.")
        self.run_worker(self._look, group="answer", thread=True, exit_on_error=False)

    def _look(self) -> None:
        try:
            self.post_message(self.Looked(look_at_answer(self.run_shown)))
        except Exception as error:
            self.post_message(self.NotLooked(error))

    @on(NotLooked)
    def _not_looked(self, event: NotLooked) -> None:
        self.query_one("#answer-words", Static).update("")
        self.show_fault(event.error)

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        self._seen = event.seen
        self._show()

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        seen = self._seen
        if seen is None:
            return
        self.query_one("#answer-words", Static).update(visible(seen.words))
        view = self._views[self._view % len(self._views)]
        body = self.query_one("#answer")
        body.set_class(view == "both", "-both")
        self.query_one("#answer-side").display = bool(seen.png or seen.words) and view != "text"
        self.query_one("#answer-text").display = view != "picture"
        room = (body.size.width // 2 if view == "both" else body.size.width, max(2, body.size.height - 3))
        self.query_one(Picture).show(seen.png, "[picture: o saves it as a file]", room)
        self.refresh_bindings()
        turn = "t turns to the picture or the text; " if seen.png is not None else ""
        self.say_next(f"{turn}space reads on; o saves it as files.")

    @property
    def _views(self) -> tuple[str, ...]:
        """Text and picture stand side by side where there is room for both; alone, each has all of it."""
        if self._seen is None or self._seen.png is None:
            return ("text and words",)
        return ("picture", "text") if self.has_class("-narrow") else ("both", "picture", "text")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "turn" or (self._seen is not None and self._seen.png is not None)

    def action_turn(self) -> None:
        self._view += 1
        self._show()

    def action_scroll(self, by: int) -> None:
        self.query_one("#answer-text").scroll_relative(y=by, animate=False)

    def action_copy(self) -> None:
        self.say(self.lab.copied(self.run_shown.output))

    def action_keep(self) -> None:
        try:
            paths = save_answer(self.run_shown, self._seen.png if self._seen is not None else None)
        except OSError as error:
            self.say(f"Not saved: {error.strerror or error}", fault=True)
        else:
            self.say("Saved: " + ", ".join(paths))


def save_answer(run: Run, png: bytes | None) -> list[str]:
    """Writes the answer, the SVG in it and the picture, readable for their owner; returns the paths. Raises OSError."""
    import platformdirs

    folder = platformdirs.user_data_path("labtui") / "answers"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = file_name(f"{run.task}-{run.id}")
    files: dict[str, bytes] = {f"{name}.txt": run.output.encode("utf-8", errors="backslashreplace")}
    if (svg := extract_svg(run.output)) is not None:
        files[f"{name}.svg"] = svg.encode("utf-8", errors="backslashreplace")
    if png is not None:
        files[f"{name}.png"] = png
    for own_name, data in files.items():
        (folder / own_name).write_bytes(data)
    return [str(folder / own_name) for own_name in files]
