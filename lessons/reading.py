"""From a path to a parsed lesson file, whatever lies there: nothing but ReadingFault comes out for bad input."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessons.faults import Fault
from lessons.lines import Lines, lines_of
from lessons.schema import SIZE_LIMIT_BYTES

LESSON_FILE = "lesson.toml"
TOML_POSITION = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
UNQUOTED_TIME = re.compile(r"=\s*\d+:\d\d")


@dataclass(frozen=True, slots=True)
class Document:
    path: Path
    data: dict[str, Any]
    lines: Lines


class ReadingFault(Exception):
    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(path, line, message)


def read_document(path: Path) -> Document:
    """path: a lesson file, or the folder that holds lesson.toml. CRLF is read as LF, a byte order mark is skipped."""
    file, content = _read_bytes(path)
    text = _decode(file, content)
    try:
        return Document(file, tomllib.loads(text), lines_of(text))
    except RecursionError:
        raise ReadingFault(file, 1, "lists or tables are nested too deeply to be read") from None
    except ValueError as error:
        raise _syntax_fault(file, text, str(error)) from None


def _read_bytes(path: Path) -> tuple[Path, bytes]:
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            path = path / LESSON_FILE
        if not stat.S_ISREG(path.stat().st_mode):
            raise ReadingFault(path, 1, "this is not a file; give a lesson.toml or the folder that holds one")
        with path.open("rb") as stream:
            content = stream.read(SIZE_LIMIT_BYTES + 1)
    except FileNotFoundError:
        raise ReadingFault(path, 1, "there is no such file") from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ReadingFault(path, 1, f"this file cannot be read: {reason}") from None
    except ValueError:
        raise ReadingFault(path, 1, "this is not a possible file name") from None
    if len(content) > SIZE_LIMIT_BYTES:
        raise ReadingFault(path, 1, f"this file is larger than {SIZE_LIMIT_BYTES // 1024} KiB, which no lesson needs")
    return path, content


def _decode(path: Path, content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ReadingFault(path, 1, "this file is in UTF-16; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ReadingFault(
            path, line, f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n")


def _syntax_fault(path: Path, text: str, message: str) -> ReadingFault:
    lines = text.split("\n")
    position = TOML_POSITION.search(message)
    if position is None:
        return ReadingFault(path, 1, f"not valid TOML: {message}")
    line = int(position["line"]) if position["line"] else len(lines)
    column = f" (column {position['column']})" if position["column"] else " (at the end of the file)"
    hint = '; write a time in quotes: at = "4:15"' if UNQUOTED_TIME.search(lines[line - 1]) else ""
    return ReadingFault(path, line, f"not valid TOML: {TOML_POSITION.sub('', message)}{column}{hint}")
