from __future__ import annotations

import socket

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import FAILED, USAGE, LabError

DEFAULT_PORT = 8400


@click.command(cls=LabCommand)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help=f"The port to listen on; without it the first free one from {DEFAULT_PORT}.",
)
@json_option
@pass_session
def web(session: Session, port: int | None, as_json: bool) -> None:
    """The same app in a browser, on 127.0.0.1 alone.

    Prints the address and serves until Ctrl-C; a model server that runs is left alone. Part of the address is random
    and new each time: whoever has it can use the app as you, so give it to nobody. From another machine, reach it
    through a tunnel: ssh -L 8400:127.0.0.1:8400 BOX.
    """
    try:
        from labtui.cli.web_server import BrowserServer
    except ImportError as error:
        raise LabError(
            "The app cannot be shown in a browser",
            f"textual-serve, which does that, is not installed whole ({error}).",
            "pip install 'textual-serve>=1.1.3'",
            FAILED,
        ) from error
    store = session.wanted_store_path
    server = BrowserServer(listening_on(port), () if store is None else ("--store", str(store.absolute())))
    if as_json:
        session.emit({"url": server.url, "port": server.port})
    else:
        click.echo(server.url)
    session.say("Open this address in a browser on this machine. It is yours alone: whoever has it is you.")
    session.say("Ctrl-C ends it. A model server that runs is left alone.")
    server.serve()


def listening_on(port: int | None) -> socket.socket:
    """A socket of this machine alone. Raises LabError (exit 2) where the port is taken."""
    from labtui.serving import ports

    wanted = port if port is not None else ports.next_free_port(DEFAULT_PORT)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", wanted))
        listening.listen()
    except OSError as error:
        listening.close()
        holder = ports.port_holder(wanted)
        raise LabError(
            f"Port {wanted} cannot be used",
            f"{holder} listens there." if holder else f"{error.strerror or error}.",
            "Name another one with --port, or leave it out to take the first free one.",
            USAGE,
        ) from error
    return listening
