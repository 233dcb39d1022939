"""`labtui` alone: the app, or a plain word about why it cannot open."""

from __future__ import annotations

import os
import sys

from labtui.cli.session import Session
from labtui.errors import USAGE, LabError

WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""What textual-serve sets for an app whose terminal is a browser."""


def open_app(session: Session) -> None:
    in_browser = os.environ.get("TEXTUAL_DRIVER") == WEB_DRIVER
    in_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if not (in_browser or in_terminal):
        raise LabError(
            "The app needs a terminal",
            "standard input and output are not both a terminal that can place text",
            "Without one, use: labtui study --plain, labtui next, labtui serve start --wait, labtui run coding. "
            "labtui --help lists them all.",
            USAGE,
        )
    from labtui.app import open_in_terminal

    open_in_terminal(session.wanted_store_path, session.configuration)
