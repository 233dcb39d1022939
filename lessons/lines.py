"""On which line of a TOML text each key and each list entry stands, which tomllib does not tell."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, field

KeyPath = tuple[str | int, ...]

BLANK = re.compile(r"(?:[ \t\n]+|#[^\n]*)*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
PLAIN_VALUE = re.compile(r"[^,\]}#\n]*")
STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'(?!''))*'{3,5}"),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


@dataclass(frozen=True)
class Lines:
    found: dict[KeyPath, int] = field(default_factory=dict)

    def of(self, *path: str | int) -> int:
        """The line of that key, of the nearest thing around it where it is absent, 1 where there is none."""
        while path:
            if path in self.found:
                return self.found[path]
            path = path[:-1]
        return 1


def lines_of(text: str) -> Lines:
    """text must be valid TOML with line ends "\\n": give it what tomllib has accepted."""
    return Lines(_Scanner(text).scan())


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line_ends = [match.start() for match in re.finditer("\n", text)]
        self.found: dict[KeyPath, int] = {}
        self.entries: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self.skip_blank()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.key_and_value(table)
            self.skip_blank()
        return self.found

    def header(self) -> KeyPath:
        line = self.line()
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        *outer, name = self.key()
        self.at += brackets
        path: KeyPath = ()
        for part in outer:
            path = self.enter((*path, part))
            self.found.setdefault(path, line)
        path = (*path, name)
        self.found.setdefault(path, line)
        if brackets == 2:
            self.entries[path] = self.entries.get(path, -1) + 1
            path = self.enter(path)
            self.found[path] = line
        return path

    def enter(self, path: KeyPath) -> KeyPath:
        return (*path, self.entries[path]) if path in self.entries else path

    def key_and_value(self, table: KeyPath) -> None:
        line = self.line()
        path = table
        for part in self.key():
            path = (*path, part)
            self.found.setdefault(path, line)
        self.at += 1  # the equals sign
        self.value(path)

    def key(self) -> list[str]:
        """A dotted key; afterwards the position is on the "=" or "]" behind it."""
        parts: list[str] = []
        while True:
            self.skip_blank()
            if self.text[self.at] in "\"'":
                quoted = self.take_string()
                parts.append(tomllib.loads(f"key = {quoted}")["key"])
            else:
                parts.append(self.take(BARE_KEY))
            self.skip_blank()
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def value(self, path: KeyPath) -> None:
        self.skip_blank()
        self.found.setdefault(path, self.line())
        match self.text[self.at]:
            case '"' | "'":
                self.take_string()
            case "[":
                self.collection("]", path)
            case "{":
                self.collection("}", path)
            case _:
                self.take(PLAIN_VALUE)

    def collection(self, end: str, path: KeyPath) -> None:
        self.at += 1
        count = 0
        while True:
            self.skip_blank()
            if self.text[self.at] == end:
                self.at += 1
                return
            if end == "]":
                self.value((*path, count))
                count += 1
            else:
                self.key_and_value(path)
            self.skip_blank()
            if self.text[self.at] == ",":
                self.at += 1

    def take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None or (not match[0] and pattern is BARE_KEY):
            raise ValueError(f"no TOML at position {self.at}")
        self.at = match.end()
        return match[0]

    def take_string(self) -> str:
        for pattern in STRINGS:
            if match := pattern.match(self.text, self.at):
                self.at = match.end()
                return match[0]
        raise ValueError(f"no string at position {self.at}")

    def skip_blank(self) -> None:
        match = BLANK.match(self.text, self.at)
        if match:
            self.at = match.end()

    def line(self) -> int:
        return bisect_right(self.line_ends, self.at - 1) + 1
