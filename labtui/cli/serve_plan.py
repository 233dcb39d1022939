"""serve plan, and the options that plan and start share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.program import as_typed

if TYPE_CHECKING:
    from labtui.serving.known_flags import KnownFlags
    from labtui.serving.plan import Plan

MEASURED_LOOKED_AT = 100
F = TypeVar("F", bound=Callable[..., Any])


def plan_options(command: F) -> F:
    for option in (
        click.argument("vllm_flags", metavar="[-- VLLM FLAGS...]", nargs=-1, type=click.UNPROCESSED),
        click.option("--expose", is_flag=True, help="Allow --host to be another address than 127.0.0.1."),
        click.option("--host", help="The address to listen on."),
        click.option(
            "--max-model-len", type=click.IntRange(min=1), metavar="N", help="The longest request, in tokens."
        ),
        click.option("--ray", is_flag=True, help="Let a Ray cluster place the parts, on several machines too."),
        click.option("--copies", type=click.IntRange(min=1), metavar="N", help="Whole copies that share the requests."),
        click.option("--pipeline", type=click.IntRange(min=1), metavar="N", help="Groups that share the layers out."),
        click.option("--gpus", type=click.IntRange(min=1), metavar="N", help="How many GPUs share every layer."),
        click.option(
            "--sampler",
            multiple=True,
            metavar="KEY=VALUE",
            help="Change the diffusion sampler: t_min, t_max, entropy_bound, confidence_threshold, "
            "stability_threshold or max_denoising_steps. May be given several times.",
        ),
        click.option("--port", type=int, metavar="N", help="The port; without it the first free one."),
        click.option("--checkpoint", metavar="C", help="The weights to serve; without it what fits this machine."),
    ):
        command = option(command)
    return command


def make_chosen_plan(session: Session, vram: float | None = None, **choices: Any) -> Plan:
    """The choices of the command line, then those of the configuration. Raises LabError (exit 2)."""
    from labtui.serving.checkpoint_tables import configured_tables
    from labtui.serving.measured import measured_launches
    from labtui.serving.plan import make_plan

    store = session.store_if_usable() if vram is None else None
    configuration = session.configuration
    return make_plan(
        choices["checkpoint"] or configuration.checkpoint,
        port=choices["port"] if choices["port"] is not None else configuration.port,
        vram_gib=vram,
        gpus=choices["gpus"] or configuration.gpus or 1,
        max_model_len=choices["max_model_len"],
        extra_flags=choices["vllm_flags"],
        host=choices["host"],
        expose=choices["expose"],
        pipeline=choices["pipeline"] or 1,
        copies=choices["copies"] or 1,
        ray=choices["ray"],
        sampler=choices["sampler"],
        tables=configured_tables(configuration),
        measured=() if store is None else measured_launches(store.launches.list(MEASURED_LOOKED_AT)),
    )


ORIGINS = {
    "recipe": "vLLM's recipe for a card of this size",
    "checkpoint": "from the checkpoint",
    "labtui": "labtui's choice",
    "you": "you asked for it",
}


@click.command(cls=LabCommand)
@plan_options
@click.option("--vram", type=click.FloatRange(min=1), metavar="GIB", help="Plan for a card with this much memory.")
@click.option("--docker", is_flag=True, help="Print the same plan as a command for the image vllm/vllm-openai.")
@json_option
@pass_session
def plan(session: Session, /, vram: float | None, docker: bool, as_json: bool, **choices: Any) -> None:
    """What would be started: the command, why each flag is there, and whether it fits."""
    made = make_chosen_plan(session, vram, **choices)
    if made.sampler is not None:
        made.sampler.write()
    if docker:
        from labtui.serving.docker import docker_command, docker_text
        from labtui.terminal_text import visible

        if as_json:
            session.emit({"command": docker_command(made)})
        else:
            click.echo(as_typed(visible(docker_text(made))))
        return
    if as_json:
        from labtui.serving.plan import plan_to_json

        session.emit(plan_to_json(made))
        return
    for line in plan_lines(made):
        click.echo(line)
    if vram is None:
        for line in finding_lines(made):
            click.echo(line)


def plan_lines(made: Plan) -> Iterator[str]:
    from labtui.serving.known_flags import kept_flags
    from labtui.serving.machine import installed_vllm
    from labtui.terminal_text import visible_line

    known = kept_flags(installed_vllm())
    label = " · practice" if made.checkpoint.practice and made.checkpoint.id != "practice" else ""
    yield f"{made.checkpoint.id}{label} · {visible_line(made.checkpoint.title)} · {made.fit}"
    for reason in made.why:
        yield f"  {visible_line(reason)}"
    yield ""
    flags = [(" ".join(flag.argv), flag.why, ORIGINS.get(flag.origin, flag.origin)) for flag in made.flags]
    own = [(" ".join(flag.typed), _own_words(flag.name, known), ORIGINS["you"]) for flag in made.own_flags]
    for words, why, origin in [*flags, *own]:
        yield f"  {visible_line(words)}"
        yield f"      {visible_line(' · '.join(part for part in (why, origin) if part))}"
    yield ""
    yield visible_line(made.pasteable())


def finding_lines(made: Plan) -> Iterator[str]:
    """What would stop the start on this machine, or that nothing would."""
    from labtui.serving.preflight import preflight
    from labtui.terminal_text import visible_line

    found = preflight(made)
    faults = [one for one in found if not one.ok]
    yield ""
    for one in sorted(faults, key=lambda one: not one.blocking):
        yield f"{'✗' if one.blocking else '!'} {visible_line(one.title)}"
        yield f"    {visible_line(one.cause)}"
        yield as_typed(f"  → {visible_line(one.fix)}")
    good = len(found) - len(faults)
    yield f"✓ {good} check{'' if good == 1 else 's'} before a start {'is' if good == 1 else 'are'} in order"


def _own_words(name: str, known: KnownFlags | None) -> str:
    """What vLLM itself says about a flag that labtui did not choose, where it was asked once."""
    flag = None if known is None else known.find(name)
    return "" if flag is None else flag.words
