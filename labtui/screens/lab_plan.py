"""The plan of the next start: which checkpoint, which flags, the whole command, and whether it fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import OptionList, Static

from labtui.errors import Explained, LabError
from labtui.program import as_typed
from labtui.screens.lab_planning import (
    CHECKPOINT_KEY,
    FLAGS_KEY,
    TYPED_FLAGS_KEY,
    PlanChoice,
    Planned,
    kept_choice,
    measured_here,
    planned,
)
from labtui.screens.lab_server import explained
from labtui.screens.page import BACK, Page
from labtui.terminal_text import visible, visible_line
from labtui.widgets.choices import Choice, Choices
from labtui.widgets.commands import Command, bindings
from labtui.widgets.server_lines import FIT_WORDS
from labtui.widgets.writing import Writing

if TYPE_CHECKING:
    from labtui.serving.flags import OwnFlag
    from labtui.serving.plan import Plan
    from store.opening import Store

NOT_CHECKED = "flags are not held against the installed vLLM yet: it was not asked, or has not answered"
PLAN_COMMANDS = (
    Command("enter", "take", "take", "Take the chosen checkpoint with these flags for the next start"),
    Command("f", "flags", "your flags", "Add flags for vLLM, or replace those above; esc leaves the text"),
    Command("c", "copy", "copy", "Copy the whole command, without the API key"),
    Command("space,pagedown", "scroll(8)", "further", "Further down"),
    Command("b,pageup", "scroll(-8)", "up", "Further up", shown=False),
    BACK,
)


@dataclass(frozen=True, slots=True)
class Offer:
    """A checkpoint with whether it fits here."""

    id: str
    title: str
    fit: str


class CheckpointList(Choices):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "take", tooltip="Take it for the next start")]


class PlanScreen(Page):
    HELP = """
The plan is what the next start does. ↑ ↓ choose a checkpoint; below it stand why it fits or not, the whole command,
what each flag is for, and what was checked before the start.

f writes flags of your own, as vLLM takes them: --max-num-seqs 2. A flag that stands above is replaced by yours. The
API key is in no flag: it goes to the server in its environment. Flags are held against those of the installed vLLM,
which is asked once for each version; one that it does not have is named, with the nearest that it has.

Checkpoints come from labtui's own table, from the lessons, and from the tables that your configuration names.

Whether it fits is an estimate. Where you know better, the start asks once and does it all the same.
"""
    PAGE_COMMANDS = PLAN_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLAN_COMMANDS)]
    CSS_PATH = "lab.tcss"

    class Offered(Message):
        def __init__(self, choice: PlanChoice, offers: tuple[Offer, ...], suggested: str) -> None:
            super().__init__()
            self.choice, self.offers, self.suggested = choice, offers, suggested

    class PlanSeen(Message):
        def __init__(self, planned: Planned) -> None:
            super().__init__()
            self.planned = planned

    class FlagsKnown(Message):
        """vLLM has said which flags it has."""

    class NotPlanned(Message):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    def __init__(self, offered: PlanChoice | None = None, start: Callable[[Planned], object] | None = None) -> None:
        """offered: a changed plan to be looked at; enter then calls start with it as it stands."""
        super().__init__()
        self._offered_choice, self._start = offered, start
        self._planned: Planned | None = None

    @property
    def crumbs(self) -> tuple[str, ...]:
        return ("Lab", "Plan of the next start" if self._start is None else "Another plan, not started yet")

    def compose_body(self) -> ComposeResult:
        with Container(id="plan"):
            yield CheckpointList(id="checkpoints")
            with Vertical(id="plan-detail"):
                # An offered plan does not replace what was being typed.
                flags = Writing(draft_key=TYPED_FLAGS_KEY if self._start is None else None, id="plan-flags")
                flags.border_title = "Your flags"
                yield flags
                with VerticalScroll(id="plan-text", can_focus=False):
                    yield Static(id="plan-fit", markup=False)
                    yield Static("THE WHOLE COMMAND", classes="heading-small", markup=False)
                    yield Static(id="plan-command", markup=False)
                    yield Static("WHAT EACH FLAG IS FOR", classes="heading-small", markup=False)
                    yield Static(id="plan-flag-list")
                    yield Static("CHECKED BEFORE THE START", classes="heading-small", markup=False)
                    yield Static(id="plan-findings", markup=False)

    def on_mount(self) -> None:
        self.query_one("#checkpoints").focus()
        self.say_next("Looking at this machine…")
        self.run_worker(self._read(), group="choice", exit_on_error=False)

    async def _read(self) -> None:
        try:
            choice = self._offered_choice
            if choice is None:
                choice = await self.lab.books.ask(_typed_choice)
        except Exception as error:
            self.show_fault(error)
            return
        self.run_worker(partial(self._offer, choice), group="offers", thread=True, exit_on_error=False)

    def _offer(self, choice: PlanChoice) -> None:
        from labtui.configuration import read_configuration
        from labtui.serving.checkpoint_tables import configured_tables
        from labtui.serving.checkpoints import checkpoints
        from labtui.serving.known_flags import ask_beside
        from labtui.serving.machine import read_machine
        from labtui.serving.plan import default_checkpoint, make_plan

        try:
            machine, configuration = read_machine(), read_configuration()
            asked_tables = () if choice.asked is None else (Path(one) for one in choice.asked.tables)
            tables = tuple(dict.fromkeys((*configured_tables(configuration), *asked_tables)))
            measured = measured_here(self.lab.books)
            offers = []
            for checkpoint in checkpoints(tables).values():
                try:
                    fit = FIT_WORDS[make_plan(checkpoint.id, machine=machine, tables=tables, measured=measured).fit]
                except LabError as fault:
                    fit = fault.title
                offers.append(Offer(checkpoint.id, checkpoint.title, fit))
            wanted = configuration.checkpoint
            suggested = wanted if wanted in {offer.id for offer in offers} else None
            self.post_message(self.Offered(choice, tuple(offers), suggested or default_checkpoint(machine)))
            if machine.vllm is not None and machine.known_flags is None:
                ask_beside(machine.vllm)
        except Exception as error:
            self.post_message(self.NotPlanned(error))

    @on(Offered)
    def _offered(self, event: Offered) -> None:
        self.query_one(Writing).put(event.choice.flags)
        rows = [
            Choice(offer.id, visible_line(f"{offer.id:<12}  {offer.title}"), visible_line(offer.fit))
            for offer in event.offers
        ]
        known = event.choice.checkpoint in {offer.id for offer in event.offers}
        self.query_one("#checkpoints", Choices).show(rows, event.choice.checkpoint if known else event.suggested)
        self._plan_again()

    @property
    def _choice(self) -> PlanChoice:
        asked = None if self._offered_choice is None else self._offered_choice.asked
        return PlanChoice(self.query_one("#checkpoints", Choices).chosen_id, self.query_one(Writing).text, asked)

    def server_seen(self) -> None:
        """Looked at again and again: vLLM's answer about its flags may have come."""
        super().server_seen()
        if self._planned is not None and self._planned.known is None:
            self.run_worker(self._look_for_flags, group="flags", exclusive=True, thread=True, exit_on_error=False)

    def _look_for_flags(self) -> None:
        from labtui.serving.machine import read_machine

        if read_machine().known_flags is not None:
            self.post_message(self.FlagsKnown())

    @on(FlagsKnown)
    def _flags_known(self) -> None:
        self._plan_again()

    @on(OptionList.OptionHighlighted, "#checkpoints")
    def _chosen(self) -> None:
        self._plan_again()

    @on(Writing.Edited)
    def _edited(self) -> None:
        self._plan_again()

    def _plan_again(self) -> None:
        choice = self._choice
        if choice.checkpoint is not None:
            self.run_worker(partial(self._plan, choice), group="plan", exclusive=True, thread=True, exit_on_error=False)

    def _plan(self, choice: PlanChoice) -> None:
        try:
            self.post_message(self.PlanSeen(planned(choice, measured_here(self.lab.books))))
        except Exception as error:
            self.post_message(self.NotPlanned(error))

    @on(NotPlanned)
    def _not_planned(self, event: NotPlanned) -> None:
        self.lab.show_fault(explained(event.error))

    @on(PlanSeen)
    def _plan_seen(self, event: PlanSeen) -> None:
        if event.planned.choice != self._choice:
            return
        self._planned = event.planned
        if event.planned.plan is not None:
            self._show(event.planned.plan, event.planned)
            if self._start is None:
                self.say_next("enter takes it for the next start; f writes your own flags; space reads on.")
            else:
                self.say_next("enter starts it like this; esc does not; f changes the flags.")
        elif event.planned.fault is not None:
            self._show_fault(event.planned.fault)
        self.refresh_bindings()

    def _show(self, plan: Plan, planned: Planned) -> None:
        practice = " Its numbers are practice numbers." if plan.checkpoint.practice else ""
        # The first reason begins with the same words.
        why = "\n".join(f"  {visible_line(reason).removeprefix('fits: ')}" for reason in plan.why)
        unchecked = "" if planned.known is not None else f"\n  {NOT_CHECKED}"
        self._put("#plan-fit", f"{FIT_WORDS[plan.fit].capitalize()}.{practice}\n{why}{unchecked}")
        self._put("#plan-command", visible_line(plan.pasteable()))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, max_width=34, overflow="ellipsis")
        table.add_column(ratio=1)
        for flag in plan.flags:
            table.add_row(Text(visible_line(" ".join(flag.argv)), style="bold"), Text(visible_line(flag.why)))
        for own in plan.own_flags:
            table.add_row(Text(visible_line(" ".join(own.typed)), style="bold"), Text(_own_words(own, planned)))
        self.query_one("#plan-flag-list", Static).update(table)
        lines = []
        for finding in planned.findings:
            sign = "✓" if finding.ok else "✗" if finding.blocking else "!"
            lines.append(f"{sign} {visible_line(finding.title)}")
            if not finding.ok:
                lines += [f"  {visible(finding.cause)}", as_typed(f"  → {visible(finding.fix)}")]
        self._put("#plan-findings", "\n".join(lines))

    def _show_fault(self, fault: Explained) -> None:
        self._put("#plan-fit", as_typed(f"✗ {visible(fault.title)}\n{visible(fault.cause)}\n→ {visible(fault.fix)}"))
        for part in ("#plan-command", "#plan-findings"):
            self._put(part, "")
        self.query_one("#plan-flag-list", Static).update("")
        self.say_next("Mend it, or choose another checkpoint: there is no plan of this yet.")

    def _put(self, part: str, text: str) -> None:
        self.query_one(part, Static).update(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("take", "copy"):
            return self._planned is not None and self._planned.plan is not None
        return True

    @on(OptionList.OptionSelected, "#checkpoints")
    def _selected(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        if self._planned is None or self._planned.plan is None:
            return
        choice = self._planned.choice
        self.run_worker(self._keep(choice), group="keep", exit_on_error=False)

    async def _keep(self, choice: PlanChoice) -> None:
        try:
            await self.lab.books.keep_draft(CHECKPOINT_KEY, choice.checkpoint or "")
            await self.lab.books.keep_draft(FLAGS_KEY, choice.flags)
            await self.lab.books.keep_draft(TYPED_FLAGS_KEY, "")
        except Exception as error:
            self.show_fault(error)
            return
        planned, start = self._planned, self._start
        self.dismiss(None)
        if start is not None and planned is not None:
            start(planned)

    def action_flags(self) -> None:
        self.query_one(Writing).focus()
        self.say_next("esc leaves the text. Flags as vLLM takes them: --max-num-seqs 2")

    @on(Writing.Left)
    def _left(self) -> None:
        self.query_one("#checkpoints").focus()

    def action_copy(self) -> None:
        if self._planned is not None and self._planned.plan is not None:
            self.say(self.lab.copied(self._planned.plan.pasteable()))

    def action_scroll(self, by: int) -> None:
        self.query_one("#plan-text").scroll_relative(y=by, animate=False)


def _own_words(own: OwnFlag, planned: Planned) -> str:
    """Whose it is, and what vLLM itself says about it."""
    if planned.known is None:
        return "yours"
    flag, near = planned.known.find(own.name), planned.known.nearest(own.name)
    if flag is None:
        return "yours; this vLLM does not have it" + (f": did you mean {near}?" if near else "")
    return f"yours: {visible_line(flag.words)}" if flag.words else "yours"


def _typed_choice(store: Store) -> PlanChoice:
    """What was taken last, with the flags that were being typed when the screen was left."""
    choice, typed = kept_choice(store), store.progress.draft(TYPED_FLAGS_KEY)
    return choice if typed is None else PlanChoice(choice.checkpoint, typed)
