"""A result: your number beside the claims that mean the same, its conditions, its doubts, and how to repeat it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from exercises.records import Run
from labtui.cli.run_text import label_of
from labtui.glossary import result_glossary
from labtui.result_text import Measured, Section, number_line, number_text, sections, warnings
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible, visible_line
from labtui.widgets.commands import Command, bindings
from labtui.widgets.result_list import ResultList, section_choices

if TYPE_CHECKING:
    from store.opening import Store

RESULT_COMMANDS = (
    Command("k", "recompute", "compute again", "Compute every number again from the kept arrival times"),
    Command("e", "bundle", "bundle", "Write the evidence bundle to a folder; labtui measure reads it back"),
    Command("c", "copy", "copy", "Copy the number with all that it needs to stand alone"),
    Command("t", "turn", "run/trial", "The whole trial, or this run of it alone"),
    Command("v", "answer", "answer", "The whole answer of this run, and its picture"),
    Command("n", "part(1)", "next part", "To the next part: claims, conditions, doubts, how to repeat", shown=False),
    Command("b", "part(-1)", "part before", "To the part before", shown=False),
    BACK,
)
FOLDER_DRAFT = "bundle-folder"


class ResultScreen(Page):
    HELP = f"""
A speed that you can defend: your number with its runs, the public claims that mean the same thing, those that do not
and why, the conditions, whether the card can be so fast at all, what the checker found, and how to repeat it.

↑ ↓ walk the lines; the chosen one shows what its label means. n goes to the next part. A number of the practice
checkpoint stands beside no claim.

The commands: labtui show RUN prints a run with its claims, --recompute computes it again, --bundle writes its evidence,
--number prints what c copies; labtui compare TRIAL sums up a trial.

{result_glossary()}
"""
    PAGE_COMMANDS = RESULT_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*RESULT_COMMANDS)]
    DEFAULT_CSS = """
    ResultScreen {
        & #number { height: auto; max-height: 4; text-style: bold; }
        & #number-warnings { height: auto; max-height: 5; color: $warning; }
        & ResultList { height: 1fr; margin-top: 1; }
        &.-short ResultList { margin-top: 0; }
    }
    """
    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]]] = [(0, "-short"), (23, "-tall")]  # type: ignore[misc]

    class Collected(Message):
        """What the store and the ledgers know of it. faults: of ledgers that were left out."""

        def __init__(self, measured: Measured, parts: tuple[Section, ...], faults: tuple[str, ...]) -> None:
            super().__init__()
            self.measured, self.parts, self.faults = measured, parts, faults

    class Wrote(Message):
        def __init__(self, folder: Path, count: int) -> None:
            super().__init__()
            self.folder, self.count = folder, count

    class Failed(Message):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    class FolderKept(Message):
        def __init__(self, folder: str | None) -> None:
            super().__init__()
            self.folder = folder

    def __init__(self, run: Run) -> None:
        """run: kept in the store. Its trial is shown where that has several measured runs, unless it is a warm-up."""
        super().__init__()
        self.measured = Measured(run, alone=run.warmup)
        self.parts: tuple[Section, ...] = ()

    @property
    def crumbs(self) -> tuple[str, ...]:
        run = self.measured.run
        return ("Lab", f"Result · {label_of(run)} · {run.task}")

    def compose_body(self) -> ComposeResult:
        yield Static(id="number", markup=False)
        yield Static(id="number-warnings", markup=False)
        yield ResultList(id="parts")

    def on_mount(self) -> None:
        self.refresh_title()
        self.query_one(ResultList).focus()
        self._show_head()
        trial = self.measured.run.trial
        if trial is None:
            self._collect()
        else:
            self.read_store(lambda store: tuple(store.runs.list(trial=trial)[::-1]), self._trial_read)

    def _trial_read(self, runs: tuple[Run, ...]) -> None:
        self.measured = replace(self.measured, trial=runs)
        self._collect()

    def _collect(self) -> None:
        measured, lessons = self.measured, self.lab.lessons or ()

        def collect() -> None:
            from labtui.claims import claims_and_faults
            from labtui.result_claims import claim_sections

            try:
                claims, faults = claims_and_faults(lessons)
                parts = sections(measured, claim_sections(measured, claims))
                said = tuple(f"{fault.title}: {fault.cause}" for fault in faults)
                self.post_message(self.Collected(measured, parts, said))
            except Exception as error:
                self.post_message(self.Failed(error))

        self.run_worker(collect, group="result", exclusive=True, thread=True, exit_on_error=False)

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.show_fault(event.error)

    @on(Collected)
    def _collected(self, event: Collected) -> None:
        if event.measured != self.measured:
            return
        self.parts = event.parts
        self._show_head()
        self.query_one(ResultList).show(section_choices(event.parts))
        self.refresh_bindings()
        self.say_next("↑ ↓ walk the lines, n the parts; the chosen line says what it means.")
        if event.faults:
            self.say("; ".join(event.faults), fault=True)

    def _show_head(self) -> None:
        self.query_one("#number", Static).update(visible_line(number_line(self.measured)))
        said = warnings(self.measured)
        line = self.query_one("#number-warnings", Static)
        line.display = bool(said)
        line.update(visible("\n".join(said)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "turn":
                return self.measured.has_trial
            case "answer":
                return not self.measured.over_trial
            case "bundle" | "part":
                return bool(self.parts)
        return True

    def action_part(self, by: int) -> None:
        """To the first line of the next part, or of this one or the one before."""
        rows = self.query_one(ResultList)
        at = rows.highlighted
        if at is None:
            return
        starts = [index + 1 for index, choice in enumerate(rows.choices) if choice.id is None]
        there = [start for start in starts if (start > at if by > 0 else start < at)]
        if there:
            rows.highlighted = there[0] if by > 0 else there[-1]
            rows.scroll_to_highlight(top=True)
            rows.scroll_relative(y=-1, animate=False, immediate=True)

    def action_turn(self) -> None:
        self._turn_to(replace(self.measured, alone=not self.measured.alone))

    @on(OptionList.OptionSelected, "#parts")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        kind, _, name = (event.option_id or "").partition("/")
        if kind == "run":
            run = next(run for run in self.measured.trial if run.id == name)
            self._turn_to(replace(self.measured, run=run, alone=True))
        elif kind in ("answer", "fact") and not self.measured.over_trial:
            self.action_answer()

    def _turn_to(self, measured: Measured) -> None:
        self.measured = measured
        self.refresh_title()
        self.query_one(ResultList).highlighted = 1
        self._collect()

    def action_answer(self) -> None:
        from labtui.screens.lab_answer import AnswerScreen

        self.app.push_screen(AnswerScreen(self.measured.run))

    def action_copy(self) -> None:
        self.say(self.lab.copied(number_text(self.measured), "The number"))

    def action_recompute(self) -> None:
        from labtui.cli.runs import recompute_differences, recompute_lines

        runs = self.measured.runs
        found = {run.id: recompute_differences(run) for run in runs}
        wrong = [run for run in runs if found[run.id]]
        if wrong:
            said = [line for run in wrong for line in recompute_lines(run, found[run.id])]
            self.say("; ".join(said), fault=True)
        elif len(runs) == 1:
            self.say(next(iter(recompute_lines(runs[0], []))))
        else:
            chunks = sum(len(run.timeline.chunks) for run in runs)
            self.say(f"all {len(runs)} runs: every number is the same when computed again from {chunks} stored chunks")

    # --- the bundle

    def action_bundle(self) -> None:
        self.read_store(
            lambda store: store.progress.draft(FOLDER_DRAFT), lambda kept: self.post_message(self.FolderKept(kept))
        )

    @on(FolderKept)
    def _ask_folder(self, event: FolderKept) -> None:
        count = len(self.measured.runs)
        self.app.push_screen(FolderBox(event.folder or str(Path.home() / "labtui" / "bundles"), count), self._write)

    def _write(self, folder: str | None) -> None:
        if not folder:
            return
        runs, place = self.measured.runs, Path(folder).expanduser()

        def write(store: Store) -> int:
            from labtui.artifacts.bundle import write_bundles

            store.progress.save_draft(FOLDER_DRAFT, folder)
            return len(write_bundles(runs, place))

        self.change_store(write, lambda count: self.post_message(self.Wrote(place, count)))

    @on(Wrote)
    def _wrote(self, event: Wrote) -> None:
        what = "The bundle is" if event.count == 1 else f"{event.count} bundles are"
        self.say(f"{what} in {event.folder}")


class FolderBox(ModalScreen[str | None]):
    """Where the bundle goes."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Command("escape", "dismiss", "leave", "Write nothing"))]
    AUTO_FOCUS = "#bundle-folder"
    DEFAULT_CSS = "FolderBox { align: center middle; background: $background 60%; }"

    def __init__(self, folder: str, count: int) -> None:
        super().__init__()
        self._folder, self._count = folder, count

    def compose(self) -> ComposeResult:
        files = "a file" if self._count == 1 else f"{self._count} files"
        with Vertical(classes="box"):
            yield Static("Write the evidence to a folder", classes="heading", markup=False)
            yield Input(visible_line(self._folder), id="bundle-folder", compact=True)
            yield Static(
                f"It becomes {files} with all that is kept of a run, the raw stream among it. No file that is there is "
                "replaced.",
                classes="consequence",
                markup=False,
            )
            yield Static("enter  write   esc  leave", classes="box-keys", markup=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)
