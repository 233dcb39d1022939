from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.events import Resize
from textual.widgets import Static

from exercises.records import Run
from exercises.tasks import PreparedTask, Task
from labtui import result_text
from labtui.cli.run_text import label_of
from labtui.errors import Explained
from labtui.run_progress import Progress
from labtui.screens.home_picture import run_label, run_outcome
from labtui.terminal_text import visible, visible_line
from labtui.trial_progress import head_words, trial_lines
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.dates import day_words
from labtui.widgets.fault_panel import FaultPanel
from labtui.widgets.picture import Picture
from labtui.widgets.result_list import ResultList, result_rows

PRACTICE = f"! {result_text.PRACTICE}"

Mode = Literal["about", "live", "result", "fault"]


class LiveText(VerticalScroll, can_focus=False):
    """The end of an answer that is still growing."""


class RunPanel(Container):
    """One of four: what a task asks and its latest runs; the run under way; a run's result; why there is none."""

    DEFAULT_CSS = """
    RunPanel {
        height: 1fr;
        & > #run-head { text-style: bold; height: auto; }
        & > #run-label { color: $warning; height: auto; }
        & > #run-trial { height: auto; display: none; }
        & #run-main { height: 1fr; }
        & #run-words { width: 1fr; height: 1fr; }
        & #run-prompt { height: auto; max-height: 4; color: $quiet; }
        &.-trial #run-prompt { max-height: 1; }
        & Picture { margin-left: 2; }
        & ResultList, & #run-live, & #run-fault, & #latest, & #latest-head { display: none; }
        & #run-live { height: 1fr; border-left: solid $line; padding: 0 1; }
        & #latest { height: 1fr; }
        & ResultList { height: 1fr; }
        & #latest-head { color: $quiet; text-style: bold; height: auto; margin-top: 1; }
        &.-about #latest, &.-about #latest-head, &.-result ResultList, &.-live #run-live, &.-fault #run-fault {
            display: block;
        }
        &.-result #run-prompt, &.-fault #run-prompt { display: none; }
    }
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.mode: Mode = "about"
        self.run_shown: Run | None = None
        self._png: bytes | None = None
        self._png_words = ""

    def compose(self) -> ComposeResult:
        yield Static(id="run-head", markup=False)
        yield Static(id="run-label", markup=False)
        yield Static(id="run-trial", markup=False)
        with Horizontal(id="run-main"):
            with Vertical(id="run-words"):
                yield Static(id="run-prompt", markup=False)
                with LiveText(id="run-live"):
                    yield Static(id="run-text", markup=False)
                yield ResultList(id="result")
                yield VerticalScroll(id="run-fault", can_focus=False)
                yield Static("LATEST RUNS", id="latest-head", markup=False)
                yield Choices(id="latest")
            yield Picture(id="run-picture")

    def on_mount(self) -> None:
        self._turn("about")
        self._head("", "")

    def on_resize(self, event: Resize) -> None:
        self._show_picture()

    def _turn(self, mode: Mode) -> None:
        self.mode = mode
        self._trial("")
        for name in ("about", "live", "result", "fault"):
            self.set_class(name == mode, f"-{name}")

    def turn_to_about(self) -> None:
        self._turn("about")

    def _head(self, head: str, label: str) -> None:
        for part, text in (("#run-head", head), ("#run-label", label)):
            line = self.query_one(part, Static)
            line.display = bool(text)
            line.update(text)

    def _trial(self, text: str) -> None:
        line = self.query_one("#run-trial", Static)
        line.display = bool(text)
        line.update(visible(text))
        self.set_class(bool(text), "-trial")

    def show_about(self, task: Task | None, upcoming: PreparedTask | None, how_often: str) -> None:
        """What the task asks, and how often enter runs it."""
        self._turn("about")
        self.run_shown = None
        self._head("" if task is None else f"{visible_line(task.title)}", "")
        prompt = "" if upcoming is None else f"asks: {visible(upcoming.prompt_text.strip())}"
        self.query_one("#run-prompt", Static).update(f"{prompt}\nr  {how_often}" if prompt else "")
        self._picture_of(upcoming)

    def show_latest(self, runs: Sequence[Run], now: datetime) -> None:
        rows = [
            Choice(
                run.id,
                visible_line(f"{run_label(run)} · {run_outcome(run)}"),
                day_words(datetime.fromisoformat(run.started_at), now),
            )
            for run in runs
        ]
        latest = self.query_one("#latest", Choices)
        newest = runs[0].id if runs and not latest.has_focus else None
        latest.show(rows or [Choice(None, "None yet.")], newest)

    def show_live(self, progress: Progress, now: datetime) -> None:
        if self.mode != "live":
            self._turn("live")
        self.run_shown = None
        waiting = (
            f"waits for {progress.busy} request{'s' if progress.busy > 1 else ''} of others on this server"
            if progress.busy
            else ""
        )
        self._head(head_words(progress, now), waiting)
        self._trial("\n".join(trial_lines(progress, now)))
        prompt = progress.prepared
        self.query_one("#run-prompt", Static).update(
            "" if prompt is None else f"asks: {visible(prompt.prompt_text.strip())}"
        )
        self.query_one("#run-text", Static).update(visible(progress.text) or "The first canvas is being denoised…")
        self.query_one("#run-live", LiveText).scroll_end(animate=False)
        self._picture_of(prompt)

    def show_result(self, run: Run, now: datetime, about: str) -> None:
        """about: a word on the whole trial, or that the run is saved."""
        self._turn("result")
        self.run_shown = run
        when = day_words(datetime.fromisoformat(run.started_at), now)
        warmup = " warm-up" if run.warmup else ""
        label = PRACTICE if run.practice else ""
        if not run.valid:
            label = f"✗ not valid: {visible_line(run.invalid_reason or 'no reason kept')}" + (
                f"\n{label}" if label else ""
            )
        self._head(f"{run.task}{warmup} · {label_of(run)} · {about or when} · run {run.id}", label)
        self.query_one("#result", ResultList).show(result_rows(run), "end_to_end_tps")
        self._show_png(None, "")

    async def show_fault(self, fault: Explained, task_id: str, kept: int) -> None:
        self._turn("fault")
        self.run_shown = None
        saved = f"{kept} run{'s' if kept > 1 else ''} before it {'are' if kept > 1 else 'is'} saved." if kept else ""
        self._head(f"{task_id} · came to nothing", saved)
        place = self.query_one("#run-fault")
        await place.remove_children()
        await place.mount(FaultPanel(fault))
        self._show_png(None, "")

    def _picture_of(self, prepared: PreparedTask | None) -> None:
        images = () if prepared is None else prepared.images
        shows = "" if prepared is None else str(prepared.facts.get("picture", {}).get("shows", ""))
        self._show_png(images[0] if images else None, f"[picture: {shows or 'drawn for this run'}; v shows it]")

    def _show_png(self, png: bytes | None, words: str) -> None:
        self._png, self._png_words = png, words
        self._show_picture()

    def _show_picture(self) -> None:
        """Beside the words; below them where the screen is wide."""
        if self.screen.has_class("-wide"):
            cells = (min(60, self.size.width), min(20, max(2, self.size.height - 14)))
        else:
            cells = (self.size.width * 2 // 5, min(18, max(2, self.size.height - 3)))
        self.query_one(Picture).show(self._png, self._png_words, cells)
