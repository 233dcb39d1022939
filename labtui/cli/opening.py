"""`labtui` alone: the app, or a plain word about why it cannot open."""

from __future__ import annotations

import os
import sys

from labtui.cli.session import Session
from labtui.errors import USAGE, LabError


def open_app(session: Session) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise LabError(
            "The app needs a terminal",
            "standard input and output are not both a terminal that can place text",
            "Without one, use: labtui study --plain, labtui next, labtui serve start --wait, labtui run coding. "
            "labtui --help lists them all.",
            USAGE,
        )
    from labtui.app import open_in_terminal

    open_in_terminal(session.wanted_store_path, session.configuration)
