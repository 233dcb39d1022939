"""From a file or pasted text to numbered lines, with what editors and browsers leave in a copied page taken out."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

from lessons.errors import LessonError
from lessons.messages import printable
from lessons.values import BIDI_OVERRIDES

SIZE_LIMIT_BYTES = 1_048_576
INVISIBLE = frozenset("\ufeff\u200b\u2060\u00ad")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """number: as an editor counts it, from 1. text: without blanks at its ends, never empty."""

    number: int
    text: str


def read_bytes(path: Path) -> bytes:
    """Raises LessonError (exit 2) for what is no readable file of a sensible size."""
    try:
        if not path.is_file():
            reason = "this is a folder" if path.is_dir() else "there is no such file"
            raise LessonError("Nothing was read", f"{printable(str(path))}: {reason}", "Give the path of a text file.")
        with path.open("rb") as stream:
            content = stream.read(SIZE_LIMIT_BYTES + 1)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise LessonError(
            "Nothing was read", f"{printable(str(path))}: {reason}", "Give a file that you may read."
        ) from None
    except ValueError:
        raise LessonError(
            "Nothing was read", f"{printable(str(path))} is not a possible file name", "Give the path of a text file."
        ) from None
    return content


def decode(content: bytes, name: str) -> str:
    """Text with line ends "\\n". UTF-8 with or without byte order mark; UTF-16 where its mark says so."""
    if len(content) > SIZE_LIMIT_BYTES:
        raise LessonError(
            "This is too long",
            f"{printable(name)} is larger than {SIZE_LIMIT_BYTES // 1024} KiB, which no learning page needs",
            "Give the text of one page.",
        )
    encoding = "utf-16" if content.startswith(UTF_16) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise LessonError(
            "This is not text in UTF-8",
            f"{printable(name)}:{number}: byte 0x{content[error.start]:02x} cannot be read",
            "Save the text as UTF-8 and import it again.",
        ) from None
    return re.sub(r"\r\n?", "\n", text)


def page_lines(text: str) -> list[Line]:
    """The lines that say something. Control characters, direction overrides and invisible marks are gone, every kind of
    blank is a space."""
    return [Line(number, clean) for number, row in enumerate(text.split("\n"), 1) if (clean := _clean(row))]


def _clean(row: str) -> str:
    kept = []
    for character in row:
        if character.isspace():
            kept.append(" ")
        elif not (
            character in INVISIBLE or character in BIDI_OVERRIDES or unicodedata.category(character) in ("Cc", "Cs")
        ):
            kept.append(character)
    return " ".join("".join(kept).split())
