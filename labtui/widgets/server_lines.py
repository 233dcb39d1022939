"""The server panel in words. Pure: from one moment of the server to the lines that a person reads."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from labtui.program import as_typed
from labtui.terminal_text import visible, visible_line
from labtui.widgets.dates import span
from labtui.widgets.server_words import SYMBOLS

if TYPE_CHECKING:
    from labtui.errors import Explained
    from labtui.serving.gpu import Gpu
    from labtui.serving.live_figures import Figures
    from labtui.serving.plan import Plan
    from labtui.serving.preflight import Finding
    from labtui.serving.remedies import Remedy
    from labtui.serving.status import Status

FIT_WORDS = {"PASS": "fits", "TIGHT": "fits, but only just", "NO": "does not fit"}
WIDEST_OFFER = 76
GOING = ("starting", "warming", "dying")

LOG_PREFIX = re.compile(r"^(?:\([\w-]+ pid=\d+\) )*(?:(?P<level>[A-Z]+) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]+\] )?")
OWN_LOOKS = re.compile(r'"GET /(?:health|metrics|version|v1/models) HTTP')
"""What labtui's own looks leave in the server's log: shown in the log, not in its last lines."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """Another plan that avoids what ended the launch. flags: those in which it differs, as they are typed."""

    launch_id: str
    remedy: Remedy
    flags: str = ""


@dataclass(frozen=True, slots=True)
class ServerMoment:
    """All that the panel shows, at one moment.

    plan, findings: what the next start would do, and what was found before it. fault: why the last start or stop, or
    the plan, came to nothing. estimate_s: how long the last such launch took. doing: what labtui is just doing to the
    server. found: the server ran before this labtui came. log: its last lines. ways_out: what would avoid the death of
    which the status tells, best first. rates, kv: delivered tokens per second and the share of the KV cache, look after
    look.
    """

    status: Status | None = None
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()
    fault: Explained | None = None
    figures: Figures | None = None
    gpus: tuple[Gpu, ...] = ()
    estimate_s: float | None = None
    doing: str = ""
    found: bool = False
    now: datetime | None = None
    log: tuple[str, ...] = field(default=())
    ways_out: tuple[WayOut, ...] = ()
    rates: tuple[float | None, ...] = ()
    kv: tuple[float | None, ...] = ()

    @property
    def offers(self) -> tuple[WayOut, ...]:
        """The ways out that are about the death that is shown."""
        status = self.status
        if status is None or not status.died or self.fault is not None or self.doing:
            return ()
        return tuple(one for one in self.ways_out if one.launch_id == status.launch_id)


def state_line(moment: ServerMoment) -> str:
    status = moment.status
    if status is None:
        return "◌ looking for a server…"
    if moment.doing:
        return f"◐ {visible_line(moment.doing)}"
    parts = [_state_words(moment, status)]
    if status.practice:
        parts.append("practice checkpoint")
    elif status.checkpoint:
        parts.append(visible_line(status.checkpoint))
    if status.state in GOING and status.since_s is not None:
        parts.append(span(status.since_s))
    if status.state in ("ready", "foreign") and status.url:
        parts.append(visible_line(status.url).removeprefix("http://"))
    return f"{SYMBOLS.get(status.state, '◐')} {' · '.join(parts)}"


def _state_words(moment: ServerMoment, status: Status) -> str:
    match status.state:
        case "ready":
            return f"ready, still running since {_since(moment, status)}" if moment.found else "ready"
        case "stopped":
            return "ended by itself" if status.died else "stopped"
        case "foreign" if status.attached:
            return "attached, not started by labtui"
        case "foreign":
            return "another server answers there"
        case "dying":
            return "going down"
        case "warming":
            return visible_line(status.stage or "warming")
    return visible_line(status.stage or "starting")


def _since(moment: ServerMoment, status: Status) -> str:
    if moment.now is None or status.since_s is None:
        return "before"
    began = moment.now.astimezone().timestamp() - status.since_s
    start, now = datetime.fromtimestamp(began).astimezone(), moment.now.astimezone()
    return f"{start:%H:%M}" if start.date() == now.date() else f"{start:%Y-%m-%d %H:%M}"


def progress_line(moment: ServerMoment, width: int) -> str:
    """A bar with what is left, while it starts; empty otherwise."""
    status = moment.status
    if status is None or status.state not in ("starting", "warming") or moment.doing:
        return ""
    since, estimate = status.since_s or 0.0, moment.estimate_s
    if estimate:
        left = estimate - since
        words = f"about {span(left)} left" if left >= 1 else "longer than last time"
        words += f" (last launch {span(estimate)})"
        share = min(since / estimate, 0.99)
    else:
        step, steps = _step(status)
        share = (step - 1 + (status.share or 0.0)) / steps
        words = f"step {step} of {steps} (first launch of this plan)"
    room = max(8, min(28, width - len(words) - 2))
    full = int(share * room)
    return f"{'■' * full}{'□' * (room - full)}  {words}"


def _step(status: Status) -> tuple[int, int]:
    from labtui.serving.stages import STAGES

    stage = STAGES.get(status.stage_id or "")
    return (stage.order + 1 if stage is not None else 1), len(STAGES)


def figures_line(moment: ServerMoment) -> str:
    """Live figures of a server that answers; a dash where its page does not have one."""
    status = moment.status
    if status is None or not status.usable:
        return ""
    seen = moment.figures
    running, waiting = (None, None) if seen is None else (seen.running, seen.waiting)
    kv = None if seen is None or seen.kv_share is None else f"{seen.kv_share:.0%}"
    rate = None if seen is None or seen.delivered_tps is None else f"{seen.delivered_tps:,.0f} tok/s"
    steps = None if seen is None or seen.steps_per_canvas is None else f"{seen.steps_per_canvas:.3g}"
    return "   ".join(
        (
            f"requests {_or_dash(running)} running, {_or_dash(waiting)} waiting",
            f"KV {_or_dash(kv)}",
            f"delivering {_or_dash(rate)}",
            f"steps {_or_dash(steps)}",
        )
    )


def gpu_lines(moment: ServerMoment) -> tuple[str, ...]:
    """One line a GPU: memory, how busy, power, temperature; a dash where the driver does not tell."""
    if moment.status is None or moment.status.state == "stopped":
        return ()
    return tuple(
        f"GPU {card.index}   {card.total_gib - card.free_gib:.1f} of {card.total_gib:.1f} GiB   "
        f"{_or_dash(card.utilization_percent)} % busy   "
        f"{_or_dash(None if card.power_w is None else round(card.power_w))} W   {_or_dash(card.temperature_c)} °C"
        for card in moment.gpus
    )


def _or_dash(value: object) -> str:
    return "–" if value is None else str(value)


def message_lines(moment: ServerMoment) -> tuple[str, ...]:
    """What must be known beyond the state: why it is still warming, what is left of it, that nothing comes."""
    status, lines = moment.status, []
    if status is None or status.died or moment.doing:
        return ()
    if status.message:
        lines.append(visible_line(status.message))
    if moment.figures is not None and moment.figures.stalled_s is not None:
        lines.append(
            f"stalled: for {span(moment.figures.stalled_s)} no request got anything; canvases came faster before"
        )
    return tuple(lines)


def plan_lines(moment: ServerMoment, *, long: bool = False) -> tuple[str, ...]:
    """What the next start would do; long: with every reason."""
    status, plan = moment.status, moment.plan
    if status is None or status.state != "stopped" or moment.doing:
        return ()
    if plan is None:
        return () if moment.fault is not None else ("PLAN  one moment…",)
    where = "on the CPU" if plan.on_cpu else f"on {plan.gpus} GPU{'s' if plan.gpus > 1 else ''}"
    # The reason of a fit begins with the same words.
    first, *others = [visible_line(reason) for reason in plan.why] or [""]
    first = first.removeprefix("fits: ")
    cache = next((f" · {flag.value} KV cache" for flag in plan.flags if flag.name == "--kv-cache-dtype"), "")
    head = f"PLAN  {plan.checkpoint.id} {where}{cache} · {FIT_WORDS[plan.fit]}{f': {first}' if first else ''}"
    return (head, *(f"· {reason}" for reason in others)) if long else (head,)


def stop_lines(moment: ServerMoment) -> tuple[str, ...]:
    """What was found that would stop a start, with cause and fix."""
    return tuple(line for one in _findings(moment) if one.blocking and not one.ok for line in _finding(one, "✗"))


def finding_lines(moment: ServerMoment) -> tuple[str, ...]:
    """What else was found before a start: what is worth knowing, and how many checks are in order."""
    found = _findings(moment)
    lines = [line for one in found if not one.blocking and not one.ok for line in _finding(one, "!")]
    good = sum(one.ok for one in found)
    if good and trouble(moment) is None:
        lines.append(f"✓ {good} check{'' if good == 1 else 's'} before a start {'is' if good == 1 else 'are'} in order")
    return tuple(lines)


def _findings(moment: ServerMoment) -> tuple[Finding, ...]:
    status = moment.status
    shown = status is not None and status.state == "stopped" and not moment.doing and moment.plan is not None
    return moment.findings if shown else ()


def _finding(finding: Finding, sign: str) -> tuple[str, str, str]:
    return (
        f"{sign} {visible_line(finding.title)}",
        f"  {visible_line(finding.cause)}",
        as_typed(f"  → {visible_line(finding.fix)}"),
    )


@dataclass(frozen=True, slots=True)
class Trouble:
    title: str
    cause: str
    fix: str


def trouble(moment: ServerMoment) -> Trouble | None:
    """What went wrong: a start or stop that came to nothing, or why the server ended by itself."""
    if moment.fault is not None:
        return Trouble(visible(moment.fault.title), visible(moment.fault.cause), visible(moment.fault.fix))
    status = moment.status
    if status is None or moment.doing:
        return None
    if status.died:
        log = "" if status.log_path is None else f" Log: {visible_line(str(status.log_path))}"
        if status.causes:
            first = status.causes[0]
            shown = f"\nline {first.line}: {visible_line(first.text)}" if first.text else f" (line {first.line})"
            return Trouble(visible(first.title), f"{visible(first.cause)}{shown}", f"{visible(first.fix)}{log}")
        last = f"\nIts last line: {visible_line(status.last_line)}" if status.last_line else ""
        return Trouble(
            "The server ended by itself",
            f"{visible(status.message)}{last}",
            f"g shows its log; s starts it again.{log}",
        )
    if status.state == "foreign" and status.message:
        return Trouble("That server cannot be used", visible(status.message), "s lets it go; then s starts your own.")
    return None


def changed_flags(plan: Plan, before: Sequence[str]) -> str:
    """The flags of a plan that a command of before did not have. A port only where it was named: it is free choice."""
    old = [tuple(before[at : at + size]) for size in (1, 2, 3) for at in range(len(before))]
    new = [flag.argv for flag in plan.flags if flag.name != "--port" or plan.port_asked]
    new += [own.typed for own in plan.own_flags]
    return shlex.join(word for words in new if tuple(words) not in old for word in words)


def offer_lines(moment: ServerMoment, width: int) -> tuple[str, ...]:
    """What a key does about a death: other plans, and the line of the log that tells of it."""
    status, lines = moment.status, []
    if status is None or not status.died or moment.fault is not None or moment.doing:
        return ()
    for number, offer in enumerate(moment.offers, 1):
        words = visible_line(offer.remedy.words)
        if number > 1:
            lines.append(_with_key(f"  Or with {words.removeprefix('with ')}", f"[{number}]", width))
            continue
        start = f"Restart with {visible_line(offer.flags)}" if offer.flags else f"Restart with {words}"
        lines.append(_with_key(f"> {start}", "[enter]", width))
        if offer.flags:
            lines.append(f"    {words}")
    if status.causes:
        lines.append(_with_key("  Show the log there", "[g]", width))
    return tuple(lines)


def _with_key(text: str, key: str, width: int) -> str:
    room = min(width, WIDEST_OFFER) - len(key) - 1
    return f"{text:<{room}} {key}" if len(text) <= room else f"{text} {key}"


def curve_line(moment: ServerMoment, width: int) -> str:
    """The last looks as bars, once something was delivered; a look that gave no value is a gap."""
    from labtui.serving.live_history import curve

    status = moment.status
    if status is None or not status.usable or not any(moment.rates):
        return ""
    room = max(8, min(40, (width - 16) // 2))
    return f"tok/s {curve(moment.rates, room)}   KV {curve(moment.kv, room, top=1.0)}"


def more_figures_line(moment: ServerMoment) -> str:
    """Further figures, for a screen that has room."""
    status, seen = moment.status, moment.figures
    if status is None or not status.usable or seen is None:
        return ""
    first = None if seen.first_canvas_s is None else f"{seen.first_canvas_s:.2f} s"
    fill = None if seen.canvas_fill is None else f"{seen.canvas_fill:.0%}"
    cached = None if seen.prefix_cache_share is None else f"{seen.prefix_cache_share:.0%}"
    return "   ".join(
        (
            f"first canvas {_or_dash(first)}",
            f"canvas fill {_or_dash(fill)}",
            f"prefix cache {_or_dash(cached)}",
            f"preempted {_or_dash(seen.preemptions)}",
        )
    )


def log_lines(moment: ServerMoment, count: int) -> tuple[str, ...]:
    """The last lines of our server's log; at least the very last one that the status knows."""
    status = moment.status
    if status is None or (status.state == "stopped" and not status.died) or status.attached:
        return ()
    lines = [line for line in moment.log if line.strip() and not OWN_LOOKS.search(line)]
    if not lines and status.last_line:
        lines = [status.last_line]
    return tuple(without_prefix(visible_line(line)) for line in lines[-count:]) if count > 0 else ()


def without_prefix(line: str) -> str:
    """A line of vLLM's log without process, time and place, which take more room than it has; warnings say so."""
    found = LOG_PREFIX.match(line)
    rest = line[found.end() :] if found is not None else line
    level = found.group("level") if found is not None else None
    return f"{level} {rest}" if level not in (None, "INFO", "DEBUG") else rest
