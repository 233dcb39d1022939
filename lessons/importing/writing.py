"""A lesson's data as a TOML file in the style of the built-in ones, put into its folder whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from lessons.checking import check_lesson
from lessons.errors import LessonError
from lessons.messages import printable
from lessons.reading import LESSON_FILE
from lessons.schema import TABLES, TOP_KEYS


def lesson_toml(data: Mapping[str, Any], remarks: Iterable[str] = ()) -> str:
    """data: in the shape of a lesson file. remarks: comments for its head, one line each."""
    head = [f"# {printable(remark)}".rstrip() for remark in remarks]
    top = {key.name: data[key.name] for key in TOP_KEYS if key.name in data}
    parts = ["\n".join(head), _values(top)] if head else [_values(top)]
    for table in TABLES:
        if table.name not in data:
            continue
        order = [key.name for key in table.keys]
        for entry in data[table.name] if table.many else [data[table.name]]:
            parts.append(f"{table.heading}\n{_values({name: entry[name] for name in order if name in entry})}".rstrip())
    return "\n\n".join(parts) + "\n"


def _values(values: Mapping[str, Any]) -> str:
    return "\n".join(tomli_w.dumps({name: value}, multiline_strings=True).rstrip() for name, value in values.items())


def put_lesson(text: str, folder: Path) -> Path:
    """Makes folder/lesson.toml. The file is written and checked elsewhere and then moved, so it is whole or not there.

    A folder with another lesson is left alone (LessonError, exit 2); with just this one it is left as it is.
    """
    file = folder / LESSON_FILE
    try:
        if os.path.lexists(file):
            return _same_lesson(text, file)
        if os.path.lexists(folder) and not folder.is_dir():
            raise LessonError("Nothing was written", f"{printable(str(folder))} is a file", "Name another folder.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = folder.parent / f".{folder.name[:40] or 'lesson'}.{secrets.token_hex(4)}.part"
        making.mkdir()
        try:
            _write(text, making / LESSON_FILE)
            _check(making / LESSON_FILE)
            _move(making, folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except FileExistsError:
        raise LessonError(
            "Nothing was written", f"{printable(str(file))} is there already", "Choose another folder."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or printable(str(error))
        raise LessonError(
            "Nothing was written", f"{printable(str(folder))}: {reason}", "Choose a folder that you can write to."
        ) from None
    return file


def _same_lesson(text: str, file: Path) -> Path:
    if file.is_file() and file.stat().st_size < 2 * len(text.encode()) and file.read_bytes() == text.encode():
        return file
    raise LessonError(
        "Nothing was written",
        f"{printable(str(file.parent))} holds another lesson",
        "Choose another folder with --to, or move that one away.",
    )


def _write(text: str, file: Path) -> None:
    with file.open("x", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _check(file: Path) -> None:
    faults = check_lesson(file)
    if faults:
        raise LessonError(
            "This page cannot be made into a lesson",
            f"{faults[0].message} (line {faults[0].line} of what would have been written)",
            "Shorten or mend that part of the page.",
            exit_code=1,
        )


def _move(making: Path, folder: Path) -> None:
    """The whole folder in one step where there is none or an empty one; else the file beside what is there."""
    if not folder.exists() or not any(folder.iterdir()):
        making.rename(folder)
        return
    os.link(making / LESSON_FILE, folder / LESSON_FILE)
