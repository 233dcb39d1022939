"""Commands whose code is imported only when they run, so that `labtui --help` starts at once."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import Any

import click

from labtui.program import as_typed


def _session_setting(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value and parameter.name is not None:
        setattr(ctx.find_root().obj, parameter.name, value)


class LabCommand(click.Command):
    """A command that also takes --store and --quiet, so that they can stand before or after its name."""

    def get_help(self, ctx: click.Context) -> str:
        return as_typed(super().get_help(ctx))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *shared_options()]


def shared_options() -> list[click.Option]:
    from pathlib import Path

    from labtui.cli.given_files import GivenPath

    return [
        click.Option(
            ["--store", "store_path"],
            type=GivenPath(path_type=Path),
            metavar="PATH",
            expose_value=False,
            callback=_session_setting,
            help="The database to use (also LABTUI_STORE).",
        ),
        click.Option(
            ["-q", "--quiet", "quiet"],
            is_flag=True,
            expose_value=False,
            callback=_session_setting,
            help="Only the data: say nothing on stderr unless something fails.",
        ),
    ]


class LabGroup(click.Group):
    """A group of commands that names the nearest one when a name is unknown."""

    command_class = LabCommand

    def get_help(self, ctx: click.Context) -> str:
        return as_typed(super().get_help(ctx))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"{ctx.command_path} --help lists the commands."
            ctx.fail(f"There is no command {name!r}. {hint}")
        return super().resolve_command(ctx, args)


class LazyGroup(LabGroup):
    """lazy: command name → ("module:attribute", one line of help), in the order of the help."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        module, attribute = self.lazy[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.lazy.items()])
