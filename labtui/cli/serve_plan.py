"""serve plan, and the options that plan and start share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session

if TYPE_CHECKING:
    from labtui.serving.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])


def plan_options(command: F) -> F:
    for option in (
        click.argument("vllm_flags", metavar="[-- VLLM FLAGS...]", nargs=-1, type=click.UNPROCESSED),
        click.option("--expose", is_flag=True, help="Allow --host to be another address than 127.0.0.1."),
        click.option("--host", help="The address to listen on."),
        click.option(
            "--max-model-len", type=click.IntRange(min=1), metavar="N", help="The longest request, in tokens."
        ),
        click.option("--gpus", type=click.IntRange(min=1), metavar="N", help="How many GPUs share the model."),
        click.option("--port", type=int, metavar="N", help="The port; without it the first free one."),
        click.option("--checkpoint", metavar="C", help="The weights to serve; without it what fits this machine."),
    ):
        command = option(command)
    return command


def make_chosen_plan(session: Session, vram: float | None = None, **choices: Any) -> Plan:
    """The choices of the command line, then those of the configuration. Raises LabError (exit 2)."""
    from labtui.serving.plan import make_plan

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
        tables=configuration.checkpoints,
    )


@click.command(cls=LabCommand)
@plan_options
@click.option("--vram", type=click.FloatRange(min=1), metavar="GIB", help="Plan for a card with this much memory.")
@json_option
@pass_session
def plan(session: Session, /, vram: float | None, as_json: bool, **choices: Any) -> None:
    """What would be started: the command, why each flag is there, and whether it fits."""
    made = make_chosen_plan(session, vram, **choices)
    if as_json:
        from labtui.serving.plan import plan_to_json

        session.emit(plan_to_json(made))
        return
    for line in plan_lines(made):
        click.echo(line)


def plan_lines(made: Plan) -> Iterator[str]:
    from labtui.cli.run_text import columns
    from labtui.terminal_text import visible_line

    label = " · practice" if made.checkpoint.practice and made.checkpoint.id != "practice" else ""
    yield f"{made.checkpoint.id}{label} · {visible_line(made.checkpoint.title)} · {made.fit}"
    for reason in made.why:
        yield f"  {visible_line(reason)}"
    yield ""
    flags = [(" ".join(flag.argv), flag.why) for flag in made.flags]
    own = [(" ".join(flag.typed), "you asked for it") for flag in made.own_flags]
    for line in columns([(visible_line(words), visible_line(why)) for words, why in [*flags, *own]]):
        yield f"  {line}"
    yield ""
    yield visible_line(made.pasteable())
