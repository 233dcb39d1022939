"""The plan of the next start: what the person chose, and what comes of it on this machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from labtui.errors import USAGE, Explained, LabError, is_explained

if TYPE_CHECKING:
    from labtui.bookkeeper import Bookkeeper
    from labtui.serving.asked import Asked
    from labtui.serving.known_flags import KnownFlags
    from labtui.serving.measured import MeasuredLaunch
    from labtui.serving.plan import Plan
    from labtui.serving.preflight import Finding
    from store.opening import Store

CHECKPOINT_KEY = "serve-checkpoint"
FLAGS_KEY = "serve-flags"
TYPED_FLAGS_KEY = "serve-flags-typed"
MEASURED_LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """checkpoint: None for the one that suits this machine. flags: as a person types them after --.

    asked: what else a command asked for when it made the plan that this one changes; None: the configuration says it.
    """

    checkpoint: str | None = None
    flags: str = ""
    asked: Asked | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """plan is None where the choice makes none: fault says why. known: the flags of the installed vLLM, once asked."""

    choice: PlanChoice
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()
    fault: Explained | None = None
    known: KnownFlags | None = None


def choice_of(asked: Asked) -> PlanChoice:
    """The choice that stands for what was asked: its flags can then be seen and changed."""
    words = list(asked.extra_flags)
    if asked.max_model_len is not None:
        words += ["--max-model-len", str(asked.max_model_len)]
    return PlanChoice(asked.checkpoint, shlex.join(words), replace(asked, extra_flags=(), max_model_len=None))


def kept_choice(store: Store) -> PlanChoice:
    return PlanChoice(store.progress.draft(CHECKPOINT_KEY) or None, store.progress.draft(FLAGS_KEY) or "")


def measured_here(books: Bookkeeper) -> tuple[MeasuredLaunch, ...]:
    """What earlier launches told; nothing where the store cannot be read, which is told elsewhere. For workers."""
    from labtui.serving.measured import measured_launches
    from store.errors import StoreError

    try:
        return measured_launches(books.submit(lambda store: store.launches.list(MEASURED_LOOKED_AT)).result())
    except StoreError:
        return ()


def plan_for(choice: PlanChoice, measured: Iterable[MeasuredLaunch] = ()) -> Plan:
    """Raises LabError. Looks at the machine: call it in a worker."""
    from labtui.configuration import read_configuration
    from labtui.serving.checkpoint_tables import configured_tables
    from labtui.serving.plan import make_plan

    try:
        flags = shlex.split(choice.flags)
    except ValueError as fault:
        raise LabError("Your flags cannot be read", f"{fault}.", "Close every quotation mark.", USAGE) from None
    if choice.asked is not None:
        checkpoint = choice.checkpoint or choice.asked.checkpoint
        asked = replace(choice.asked, checkpoint=checkpoint, extra_flags=tuple(flags))
        return make_plan(**asked.choices(), measured=measured)
    configuration = read_configuration()
    return make_plan(
        choice.checkpoint or configuration.checkpoint,
        port=configuration.port,
        gpus=configuration.gpus or 1,
        extra_flags=flags,
        tables=configured_tables(configuration),
        measured=measured,
    )


def planned(choice: PlanChoice, measured: Iterable[MeasuredLaunch] = ()) -> Planned:
    """The plan with what preflight finds. Raises only what is a fault of labtui itself."""
    from labtui.serving.machine import read_machine
    from labtui.serving.preflight import preflight

    try:
        plan = plan_for(choice, measured)
        return Planned(choice, plan, tuple(preflight(plan)), known=read_machine().known_flags)
    except Exception as fault:
        if not is_explained(fault):
            raise
        return Planned(choice, fault=fault)
