"""Everything that Textual 8.2.8 leaves to us at the edge of the terminal, in one place.

- Its input decoder is strict UTF-8: one X10 mouse report past column 95 ends the input thread (Textual #6668).
- It has no handler for a hang-up, and spins on the end of its input.
- Its clipboard sequence does not pass tmux.
- Without colour it still draws in shades of grey.
- What stands in for standard output while an app runs has no encoding, which other code may ask for.
"""

from __future__ import annotations

import asyncio
import base64
import codecs
import os
import re
import signal
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from textual.app import App, _PrintCapture
from textual.driver import Driver
from textual.drivers import linux_driver, web_driver
from textual.filter import Monochrome, NoColor
from textual.keys import _character_to_key
from textual.widget import Widget

_PrintCapture.encoding = "utf-8"  # type: ignore[attr-defined]

_X10_REPORT = re.compile(rb"\x1b\[M...", re.DOTALL)
_X10_BEGUN = re.compile(rb"\x1b\[(M.{0,2})?\Z", re.DOTALL)

HANGUP_GRACE_S = 3.0
HANGUP_EXIT_CODE = 128 + signal.SIGHUP


class TerminalGone(Exception):
    """The other end of the terminal was closed."""


class TolerantDecoder:
    """UTF-8 from a terminal: X10 mouse reports are taken out, bytes that are no text become U+FFFD.

    An empty read raises TerminalGone: that is how a terminal says that it was closed.
    """

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        if not data and not final:
            raise TerminalGone
        data = _X10_REPORT.sub(b"", self._held + data)
        self._held = b""
        begun = _X10_BEGUN.search(data)
        if begun and not final:
            self._held = begun.group()
            data = data[: begun.start()]
        return self._utf8.decode(data, final=final)


def _tolerant_decoder_factory(_encoding: str) -> type[TolerantDecoder]:
    return TolerantDecoder


class ForgivingFile:
    """Standard error that swallows what a closed terminal can no longer take, so that no thread dies of it."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except (OSError, ValueError):
            return

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()


class SturdyDriver(linux_driver.LinuxDriver):
    """LinuxDriver that survives any byte and notices that its terminal is gone."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        assert self._file is not None
        self._file = ForgivingFile(self._file)  # type: ignore[assignment]

    def run_input_thread(self) -> None:
        linux_driver.getincrementaldecoder = _tolerant_decoder_factory  # type: ignore[attr-defined,assignment]
        try:
            super().run_input_thread()
        except (TerminalGone, OSError):
            leave_soon()
            self._app.call_later(self._app.exit, return_code=HANGUP_EXIT_CODE)


class SturdyWebDriver(web_driver.WebDriver):
    """WebDriver that notices that the web server is gone, however that ended."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            leave_soon()
            self._app.call_later(self._app.exit, return_code=HANGUP_EXIT_CODE)


STURDY: Mapping[type[Driver], type[Driver]] = {
    linux_driver.LinuxDriver: SturdyDriver,
    web_driver.WebDriver: SturdyWebDriver,
}


def leave_soon(grace_s: float = HANGUP_GRACE_S) -> None:
    """End the process after the grace, whatever then still hangs on a terminal that is gone."""
    watchdog = threading.Timer(grace_s, os._exit, (HANGUP_EXIT_CODE,))
    watchdog.daemon = True
    watchdog.start()


def exit_on_hangup(leave: Callable[[int], None]) -> None:
    """Have SIGHUP and SIGTERM call leave(exit code) in the running event loop; the process ends even if that hangs."""

    def handler(number: int) -> None:
        leave_soon()
        leave(128 + number)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGHUP, signal.SIGTERM):
        loop.add_signal_handler(number, handler, number)


def clipboard_sequence(text: str, environ: Mapping[str, str]) -> str:
    """OSC 52. Inside tmux it goes out wrapped, for the terminal, and bare, for tmux's own buffer."""
    bare = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\a"
    if "TMUX" not in environ:
        return bare
    return f"\x1bPtmux;{bare.replace(chr(27), chr(27) * 2)}\x1b\\{bare}"


def few_colours(app: App[Any]) -> bool:
    """Whether the terminal has 16 colours or fewer, or the person asked for none."""
    return app.no_color or app.console.color_system in (None, "standard")


def without_shades(app: App[Any]) -> None:
    """Under NO_COLOR send no colour at all, instead of greys."""
    app._filters[:] = [NoColor() if isinstance(item, Monochrome) else item for item in app._filters]


def takes_key(focused: Widget | None, key: str) -> bool:
    """Whether the focused widget would type this key instead of letting it act."""
    if focused is None:
        return False
    names = {_character_to_key(character): character for character in map(chr, range(0x20, 0x7F))}
    return focused.check_consume_key(key, names.get(key))
