"""A growing log file, read as a person would see it: no colour codes, no control bytes, progress bars as they stand."""

from __future__ import annotations

import codecs
import os
import re
from collections import deque
from pathlib import Path

from labtui.terminal_text import visible_line

LONGEST_LINE = 2000
KEPT_LINES = 1000
READ_AT_ONCE = 1 << 20

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|$)"  # CSI: colours, cursor
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|[PX^_].*?(?:\x1b\\|$)"  # DCS, SOS, PM, APC
    r"|[@-Z\\-_a-z]?)"
)


def without_codes(text: str) -> str:
    """Without the codes that colour text, move the cursor or set titles, and with other control bytes made visible."""
    return visible_line(_ANSI.sub("", text))


def clean_line(text: str) -> str:
    """One line as a person should see it; nothing in it can steer the terminal. Very long lines are cut."""
    stripped = without_codes(text.rstrip("\r\n"))
    return stripped if len(stripped) <= LONGEST_LINE else stripped[: LONGEST_LINE - 1] + "…"


class LogFollower:
    """Follows one file. `poll` reads what is new; `lines` holds the last lines, each progress bar once.

    A file that is not there yet, shrinks or is replaced is read again from its start.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._offset = 0
        self._inode: int | None = None
        self._pending = ""
        self._bar = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def poll(self) -> list[str]:
        """The pieces that arrived since the last call: lines, and every state of a bar that ended with \\r.

        A line without its end is kept back until the rest of it comes; `last_line` shows it already.
        """
        arrived: list[str] = []
        while chunk := self._read():
            self._pending += self._decoder.decode(chunk)
            *whole, self._pending = re.split(r"(?<=[\r\n])", self._pending)
            for piece in whole:
                self._take(piece, arrived)
            if len(self._pending) > 8 * LONGEST_LINE:
                self._take(self._pending + "\n", arrived)
                self._pending = ""
        return arrived

    @property
    def last_line(self) -> str:
        """The newest line with something on it, half a line or a bar in progress included."""
        for text in (clean_line(self._pending), self._bar):
            if text.strip():
                return text
        return next((line for line in reversed(self.lines) if line.strip()), "")

    def _take(self, piece: str, arrived: list[str]) -> None:
        text = clean_line(piece)
        ended = piece.endswith("\n")
        if text:
            arrived.append(text)
            self._bar = text
        if ended:
            # A line feed after a bar that already ended with \r closes that bar.
            if self._bar:
                self.lines.append(self._bar)
            self._bar = ""

    def _read(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._offset:
                    self._start_over()
                    self._inode = status.st_ino
                file.seek(self._offset)
                chunk = file.read(READ_AT_ONCE)
        except OSError:
            return b""
        self._offset += len(chunk)
        return chunk

    def _start_over(self) -> None:
        self.lines.clear()
        self._offset = 0
        self._pending = ""
        self._bar = ""
        self._decoder.reset()


def last_lines(path: Path, count: int = 200, *, read: int = 1 << 20) -> list[str]:
    """The last lines of a file, each bar in its last state. Empty where there is no file."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - read))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    whole = text.split("\n")
    if size > read:
        whole = whole[1:]
    shown = [clean_line(_bar_state(line)) for line in whole]
    while shown and not shown[-1]:
        shown.pop()
    return shown[-count:]


def _bar_state(line: str) -> str:
    """What a terminal would show of a line that carriage returns overwrite."""
    states = [state for state in line.split("\r") if state.strip()]
    return states[-1] if states else ""
