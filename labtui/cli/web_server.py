"""The app in a browser: textual-serve on this machine alone, behind an address that nobody can guess."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shlex
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.web_runner import GracefulExit
from textual_serve.server import Server

HOST = "127.0.0.1"
OUR_NAMES = frozenset({"127.0.0.1", "localhost"})
END_WITHIN_S = 1.0

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class BrowserServer(Server):
    """One process of the app for each browser tab that is open.

    The app can start processes as the person who runs it, so two kinds of strangers are kept out: other users of this
    machine by a random part in the address, and pages of other sites by the names in Host and Origin (a site whose
    name was pointed at 127.0.0.1 still sends its own name).
    """

    def __init__(self, listening: socket.socket, arguments: tuple[str, ...] = ()) -> None:
        """listening: bound to HOST. arguments: what the app is started with."""
        port = listening.getsockname()[1]
        command = shlex.join([sys.executable, "-m", "labtui", *arguments])
        super().__init__(f"exec {command}", host=HOST, port=port, title="labtui", public_url=f"http://{HOST}:{port}")
        self._listening = listening
        self.secret = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        return f"{self.public_url}/{self.secret}/"

    def initialize_logging(self) -> None:
        logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)

    async def on_startup(self, app: web.Application) -> None:
        """Quiet: whoever starts it has told the address already."""

    async def _make_app(self) -> web.Application:
        inner = await super()._make_app()
        outer = web.Application(middlewares=[_only_our_own_pages])
        outer.add_subapp(f"/{self.secret}", inner)
        # The page of textual-serve asks for files here; each has a random key of its own, and is there once.
        outer.add_routes([web.get("/download/{key}", self.handle_download)])
        return outer

    async def handle_index(self, request: web.Request) -> Any:
        # Through an SSH tunnel the browser may see another port than we do.
        self.public_url = f"http://{request.host}"
        return await super().handle_index(request)

    def serve(self, debug: bool = False) -> None:
        """Until Ctrl-C, SIGTERM, or the end of the terminal. Its apps end with it; the model server does not."""
        self.initialize_logging()
        loop = asyncio.new_event_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.request_exit)
        web.run_app(
            self._make_app(),
            sock=self._listening,
            handle_signals=False,
            loop=loop,
            print=None,
            access_log=None,
            shutdown_timeout=END_WITHIN_S,
        )

    def request_exit(self) -> None:
        raise GracefulExit


def comes_from_us(host: str, origin: str | None) -> bool:
    """Whether a request was meant for this server, by a page of this server. origin: None where none was sent."""
    return _name(host) in OUR_NAMES and origin in (None, f"http://{host}")


def _name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


@web.middleware
async def _only_our_own_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
    if not comes_from_us(request.host, request.headers.get("Origin")):
        raise web.HTTPForbidden(text="This address serves one person on this machine.")
    response = await handler(request)
    if not response.prepared:
        _keep_to_ourselves(request, response)
    return response


def _keep_to_ourselves(request: web.Request, response: web.StreamResponse) -> None:
    """The address goes to nobody, nothing comes from elsewhere (the page would ask Google for a font), no page of
    another site can put this one into a frame."""
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = (
        f"default-src 'self'; connect-src 'self' ws://{request.host}; img-src 'self' data:; font-src 'self' data:; "
        "style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
    )
