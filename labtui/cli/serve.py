"""serve: the life of the model server."""

from __future__ import annotations

import click

from labtui.cli.lazy_group import LazyGroup

COMMANDS = {
    "plan": ("labtui.cli.serve_plan:plan", "What would be started, and whether it fits."),
    "flags": ("labtui.cli.serve_flags:flags", "What the installed vLLM's command line takes."),
    "start": ("labtui.cli.serve_start:start", "Start the server; with --wait until it has answered."),
    "tune": ("labtui.cli.serve_tune:tune", "Try the settings that matter on this card, and propose the best."),
    "attach": ("labtui.cli.serve_watch:attach", "Use a server that runs already."),
    "status": ("labtui.cli.serve_watch:status", "Where it stands."),
    "live": ("labtui.cli.serve_live:live", "What it does: requests, tokens per second, canvases, the card."),
    "logs": ("labtui.cli.serve_watch:logs", "Its last lines; with -f as they come."),
    "stop": ("labtui.cli.serve_watch:stop", "End it, and look that nothing of it is left."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def serve() -> None:
    """Plan, start, watch and stop the model server.

    The server outlives this command and the terminal. It listens on 127.0.0.1 with a random API key.
    """
