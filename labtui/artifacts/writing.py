from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path

from labtui.artifacts.document import Artifact, collect
from labtui.artifacts.json_document import FORMAT, to_json
from labtui.artifacts.markdown import MARK, to_markdown
from labtui.errors import USAGE, LabError
from lessons.model import Lesson
from store.opening import Store

RENDERERS: Mapping[str, Callable[[Artifact], str]] = {"md": to_markdown, "json": to_json}
NOT_YET = ("html", "toml", "anki")


def export_lesson(
    lesson: Lesson, store: Store, formats: Iterable[str], to: Path, *, now: datetime | None = None
) -> list[Path]:
    """Writes the lesson's artifact as LESSON.FORMAT for each format and returns the paths, in the order asked for.

    An export made before is replaced; any other file of that name is not. Each file appears whole or not at all,
    and none is written where one cannot be. Raises LabError (exit code 2) and StoreError.
    """
    wanted = checked_formats(formats)
    folder = _folder(to)
    targets = [folder / f"{lesson.id}.{name}" for name in wanted]
    for target in targets:
        _refuse_what_is_not_ours(target)
    artifact = collect(lesson, store, now)
    texts = [RENDERERS[name](artifact) for name in wanted]
    parts: list[Path] = []
    try:
        for target, text in zip(targets, texts, strict=True):
            parts.append(_written_beside(target, text))
        for part, target in zip(parts, targets, strict=True):
            part.replace(target)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return targets


def checked_formats(formats: Iterable[str]) -> tuple[str, ...]:
    """The formats without repetition. Raises LabError (exit code 2) for one that there is not, or not yet."""
    wanted = tuple(dict.fromkeys(name.strip().casefold() for name in formats if name.strip()))
    there_are = ", ".join(RENDERERS)
    if not wanted:
        raise LabError("No format was named", "there is nothing to write", f"Use one of {there_are}.", USAGE)
    for name in wanted:
        if name in NOT_YET:
            raise LabError(
                f"There is no export to {name} yet",
                "it is planned, and this version cannot write it",
                f"Use one of {there_are}; the JSON holds everything.",
                USAGE,
            )
        if name not in RENDERERS:
            raise LabError("There is no such format", f"{name!r} is not known", f"Use one of {there_are}.", USAGE)
    return wanted


def _folder(to: Path) -> Path:
    folder = to.expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise LabError(
            "The export needs a folder", f"{folder} is a file", "Name a folder with --to DIR.", USAGE
        ) from error
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def _refuse_what_is_not_ours(target: Path) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if target.is_file() and _is_ours(target):
        return
    raise LabError(
        "The export was not written",
        f"{target} is there already and was not made by labtui's export",
        "Move it away, or choose another folder with --to DIR.",
        USAGE,
    )


def _is_ours(target: Path) -> bool:
    try:
        text = target.read_text("utf-8")
        if target.suffix == ".json":
            document = json.loads(text)
            return isinstance(document, dict) and document.get("format") == FORMAT
    except (OSError, ValueError):
        return False
    return text.rstrip().endswith(f"{MARK}.")


def _written_beside(target: Path, text: str) -> Path:
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def _unwritable(folder: Path, error: OSError) -> LabError:
    return LabError(
        "The export could not be written",
        f"{folder}: {error.strerror or error}",
        "Check that you may write there and that the disk has room, or choose another folder with --to DIR.",
        USAGE,
    )
