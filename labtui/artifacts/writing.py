from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from labtui.artifacts.document import Artifact, collect
from labtui.artifacts.json_document import FORMAT, to_json
from labtui.artifacts.markdown import MARK, to_markdown
from labtui.errors import FAILED, USAGE, LabError
from lessons.model import Lesson
from store.opening import Store


@dataclass(frozen=True, slots=True)
class WrittenForm:
    """One file of a format. ending: what follows the lesson's id in its name. is_ours: whether a file was made here."""

    ending: str
    render: Callable[[Artifact], str | bytes]
    is_ours: Callable[[bytes], bool]


def _html(artifact: Artifact) -> str:
    from labtui.artifacts.html import to_html

    return to_html(artifact)


def _toml(artifact: Artifact) -> str:
    from labtui.artifacts.toml_document import to_toml

    return to_toml(artifact)


def _apkg(artifact: Artifact) -> bytes:
    from labtui.artifacts.anki import to_apkg

    return to_apkg(artifact)


def _anki_text(artifact: Artifact) -> str:
    from labtui.artifacts.anki import to_anki_text

    return to_anki_text(artifact)


def _ends_with_mark(content: bytes) -> bool:
    return content.rstrip().endswith(f"{MARK}.".encode())


def _begins_with_mark(content: bytes) -> bool:
    """Among the first lines, before anything that a person or a model wrote."""
    return any(MARK.encode() in line for line in content.splitlines()[:12])


def _has_mark_in_head(content: bytes) -> bool:
    return MARK.encode() in content.partition(b"</head>")[0].partition(b"<title>")[0]


def _is_our_json(content: bytes) -> bool:
    document = json.loads(content)
    return isinstance(document, dict) and document.get("format") == FORMAT


def _is_our_archive(content: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.comment == MARK.encode()


FORMATS: Mapping[str, tuple[WrittenForm, ...]] = {
    "md": (WrittenForm(".md", to_markdown, _ends_with_mark),),
    "html": (WrittenForm(".html", _html, _has_mark_in_head),),
    "json": (WrittenForm(".json", to_json, _is_our_json),),
    "toml": (WrittenForm(".toml", _toml, _begins_with_mark),),
    "anki": (
        WrittenForm(".apkg", _apkg, _is_our_archive),
        WrittenForm(".anki.txt", _anki_text, _begins_with_mark),
    ),
}


def export_lesson(
    lesson: Lesson, store: Store, formats: Iterable[str], to: Path, *, now: datetime | None = None
) -> list[Path]:
    """Writes the lesson's artifact in each format and returns the paths, in the order asked for.

    They are named LESSON.FORMAT; anki gives two, LESSON.apkg and LESSON.anki.txt.

    An export made before is replaced; any other file of that name is not. Each file appears whole or not at all,
    and none is written where one cannot be. Raises StoreError, and LabError with exit code 2, or 1 where the folder
    cannot be written.
    """
    wanted = checked_formats(formats)
    folder = _folder(to)
    forms = [form for name in wanted for form in FORMATS[name]]
    targets = [folder / f"{lesson.id}{form.ending}" for form in forms]
    for target, form in zip(targets, forms, strict=True):
        _refuse_what_is_not_ours(target, form)
    artifact = collect(lesson, store, now)
    contents = [form.render(artifact) for form in forms]
    parts: list[Path] = []
    try:
        for target, content in zip(targets, contents, strict=True):
            parts.append(_written_beside(target, content))
        for part, target in zip(parts, targets, strict=True):
            part.replace(target)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return targets


def checked_formats(formats: Iterable[str]) -> tuple[str, ...]:
    """The formats without repetition. Raises LabError (exit code 2) for one that there is not."""
    wanted = tuple(dict.fromkeys(name.strip().casefold() for name in formats if name.strip()))
    there_are = ", ".join(FORMATS)
    if not wanted:
        raise LabError("No format was named", "there is nothing to write", f"Use one of {there_are}.", USAGE)
    for name in wanted:
        if name not in FORMATS:
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


def _refuse_what_is_not_ours(target: Path, form: WrittenForm) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if target.is_file() and _is_ours(target, form):
        return
    raise LabError(
        "The export was not written",
        f"{target} is there already and was not made by labtui's export",
        "Move it away, or choose another folder with --to DIR.",
        USAGE,
    )


def _is_ours(target: Path, form: WrittenForm) -> bool:
    try:
        return form.is_ours(target.read_bytes())
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _written_beside(target: Path, content: str | bytes) -> Path:
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
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
        FAILED,
    )
