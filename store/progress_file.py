"""Everything that a person has done as one file, and from one: JSON, or the same in a ZIP archive."""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from store.errors import StoreError
from store.merging import AnswerEntry, ProgressEntries
from store.progress_sections import (
    ANSWERS,
    GRADES,
    HISTORIES,
    JUDGEMENTS,
    PAIRS,
    RUNS,
    SECTIONS,
    STATES,
    SWEEPS,
    EntryFault,
    Section,
    entry_of,
    is_of_this_machine,
    not_a_progress_file,
    row_of,
    run_document,
    sweep_document,
)

FORMAT = "labtui-progress"
FORMAT_VERSION = 1
MEMBER = "progress.json"
LARGEST_BYTES = 1 << 30

Entry = dict[str, Any]


def progress_document(db: Database, *, made_by: str, made_at: str) -> dict[str, Any]:
    """Call it inside a transaction: its sections belong together."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "made_by": made_by,
        "made_at": made_at,
        RUNS.name: _documents(db, RUNS),
        SWEEPS.name: _documents(db, SWEEPS),
    }
    for section, order in ((PAIRS, "made_at, id"), (JUDGEMENTS, "judged_at, id")):
        document[section.name] = _entries(db, section, order)
    for section in HISTORIES:
        document[section.name] = _entries(db, section, "saved_at, id")
    document[ANSWERS.name] = _answers(db)
    for section in STATES:
        found = _entries(db, section, ", ".join(section.key))
        document[section.name] = [entry for entry in found if not is_of_this_machine(str(entry.get("key", "")))]
    return document


def write_progress(document: Mapping[str, Any], path: Path) -> Path:
    """Writes it whole or not at all, for its owner alone; as a ZIP archive where the name ends in .zip.

    An earlier progress file is replaced, nothing else is. Raises StoreError (exit code 2).
    """
    target = path.expanduser()
    _refuse_what_is_not_ours(target)
    # ASCII only: half characters of a model's output come back as they were, and nothing in it steers a terminal.
    written = (json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1) + "\n").encode("ascii")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(_zipped(written) if target.suffix.casefold() == ".zip" else written)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise StoreError(
            "The progress was not exported",
            f"{target}: {error.strerror or error}",
            "Check that the folder is there, that you may write in it, and that the disk has room.",
            exit_code=2,
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return target


def read_progress(path: Path) -> ProgressEntries:
    """Everything in the file, checked. Raises StoreError (exit code 2) naming the first thing that is wrong."""
    document = _document(path.expanduser())
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise not_a_progress_file(f"{path} is not a progress file of labtui")
    version = document.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise not_a_progress_file(f"{path} does not say which format version it has")
    if version > FORMAT_VERSION:
        raise StoreError(
            "The progress file is newer than this program",
            f"{path} has format version {version}, this labtui reads versions up to {FORMAT_VERSION}",
            "Update labtui. Nothing was changed.",
            exit_code=2,
        )
    plain = (PAIRS, JUDGEMENTS, *HISTORIES, *STATES)
    rows = {section.name: tuple(_read(document, section.name, _reader(section))) for section in plain}
    rows["drafts"] = tuple(row for row in rows["drafts"] if not is_of_this_machine(row["key"]))
    return ProgressEntries(
        runs=tuple(_read(document, RUNS.name, run_document)),
        sweeps=tuple(_read(document, SWEEPS.name, sweep_document)),
        answers=tuple(_read(document, ANSWERS.name, _answer_entry)),
        rows=rows,
    )


def counts(document: Mapping[str, Any]) -> dict[str, int]:
    """How many entries each section has."""
    return {section.name: len(document[section.name]) for section in SECTIONS}


def _documents(db: Database, section: Section) -> list[Any]:
    return [json.loads(row[0]) for row in db.execute(f"SELECT document FROM {section.table} ORDER BY started_at, id")]


def _entries(db: Database, section: Section, order: str) -> list[Entry]:
    columns = list(section.columns)
    found = db.execute(f"SELECT {', '.join(columns)} FROM {section.table} ORDER BY {order}")
    return [entry_of(section, dict(zip(columns, row, strict=True))) for row in found]


def _answers(db: Database) -> list[Entry]:
    grades: dict[int, list[Entry]] = {}
    columns = list(GRADES.columns)
    for row in db.execute(f"SELECT answer_id, {', '.join(columns)} FROM recall_grades ORDER BY graded_at, id"):
        grades.setdefault(row[0], []).append(entry_of(GRADES, dict(zip(columns, row[1:], strict=True))))
    columns = list(ANSWERS.columns)
    return [
        {**entry_of(ANSWERS, dict(zip(columns, row[1:], strict=True))), "grades": grades.get(row[0], [])}
        for row in db.execute(f"SELECT id, {', '.join(columns)} FROM recall_answers ORDER BY answered_at, id")
    ]


def _answer_entry(entry: Any) -> AnswerEntry:
    answer = row_of(ANSWERS, entry)
    grades = entry.get("grades", [])
    if not isinstance(grades, list):
        raise EntryFault("grades is no list")
    return AnswerEntry(answer, tuple(row_of(GRADES, grade) for grade in grades))


def _reader(section: Section) -> Callable[[Any], Entry]:
    return lambda entry: row_of(section, entry)


def _read(document: Mapping[str, Any], name: str, reader: Callable[[Any], Any]) -> list[Any]:
    """A section that is not there is empty."""
    entries = document.get(name, [])
    if not isinstance(entries, list):
        raise not_a_progress_file(f"{name} is no list")
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            found.append(reader(entry))
        except EntryFault as fault:
            raise not_a_progress_file(f"entry {number} of {name}: {fault}") from None
    return found


def _document(path: Path) -> Any:
    try:
        if not path.is_file() and path.exists():
            raise not_a_progress_file(
                f"{path} cannot be read: it is {'a folder' if path.is_dir() else 'a device or a pipe'}"
            )
        raw = path.read_bytes() if path.stat().st_size <= LARGEST_BYTES else None
    except OSError as error:
        raise not_a_progress_file(f"{path} cannot be read: {error.strerror or error}") from None
    if raw is not None and raw.startswith(b"PK"):
        raw = _unzipped(raw, path)
    if raw is None:
        raise not_a_progress_file(f"{path} is larger than {LARGEST_BYTES >> 20:,} MiB")
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise not_a_progress_file(f"{path} is not whole JSON: {error}") from None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _zipped(written: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(MEMBER, written)
    return archive.getvalue()


def _unzipped(raw: bytes, path: Path) -> bytes | None:
    """None where it is too large, however small it is packed."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, archive.open(MEMBER) as member:
            unpacked = member.read(LARGEST_BYTES + 1)
    except KeyError:
        raise not_a_progress_file(f"{path} has no {MEMBER} in it") from None
    except Exception as error:
        # BadZipFile, zlib.error, and whatever else a damaged or strangely packed archive leads to.
        raise not_a_progress_file(f"{path} is a damaged archive: {error}") from None
    return unpacked if len(unpacked) <= LARGEST_BYTES else None


def _refuse_what_is_not_ours(target: Path) -> None:
    if not target.exists() and not target.is_symlink():
        return
    try:
        ours = target.is_file() and _is_ours(target)
    except StoreError:
        ours = False
    if not ours:
        raise StoreError(
            "The progress was not exported",
            f"{target} is there already and is no progress file",
            "Choose a name that is not taken.",
            exit_code=2,
        )


def _is_ours(target: Path) -> bool:
    document = _document(target)
    return isinstance(document, dict) and document.get("format") == FORMAT
