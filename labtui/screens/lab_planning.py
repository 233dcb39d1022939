"""The plan of the next start: what the person chose, and what comes of it on this machine."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labtui.errors import USAGE, Explained, LabError, is_explained

if TYPE_CHECKING:
    from labtui.serving.plan import Plan
    from labtui.serving.preflight import Finding
    from store.opening import Store

CHECKPOINT_KEY = "serve-checkpoint"
FLAGS_KEY = "serve-flags"
TYPED_FLAGS_KEY = "serve-flags-typed"


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """checkpoint: None for the one that suits this machine. flags: as a person types them after --."""

    checkpoint: str | None = None
    flags: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """plan is None where the choice makes none: fault says why."""

    choice: PlanChoice
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()
    fault: Explained | None = None


def kept_choice(store: Store) -> PlanChoice:
    return PlanChoice(store.progress.draft(CHECKPOINT_KEY) or None, store.progress.draft(FLAGS_KEY) or "")


def plan_for(choice: PlanChoice) -> Plan:
    """Raises LabError. Looks at the machine: call it in a worker."""
    from labtui.serving.plan import make_plan

    try:
        flags = shlex.split(choice.flags)
    except ValueError as fault:
        raise LabError("Your flags cannot be read", f"{fault}.", "Close every quotation mark.", USAGE) from None
    return make_plan(choice.checkpoint, extra_flags=flags)


def planned(choice: PlanChoice) -> Planned:
    """The plan with what preflight finds. Raises only what is a fault of labtui itself."""
    from labtui.serving.preflight import preflight

    try:
        plan = plan_for(choice)
        return Planned(choice, plan, tuple(preflight(plan)))
    except Exception as fault:
        if not is_explained(fault):
            raise
        return Planned(choice, fault=fault)
