from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path


def copy_database(source: Path, target: Path) -> None:
    """Copies with SQLite's backup API: consistent while others write. The target appears whole or not at all.

    Raises OSError or sqlite3.Error; FileExistsError if the target is there.
    """
    part = free_name(target.with_name(f".{target.name}.part"))
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(source, timeout=10)) as reader, closing(sqlite3.connect(part)) as writer:
            reader.backup(writer)
            writer.execute("PRAGMA journal_mode = delete")
        _write_through(part)
        if target.exists():
            raise FileExistsError(f"{target} is there already")
        part.rename(target)
        _write_through(target.parent)
    finally:
        part.unlink(missing_ok=True)


def free_name(path: Path) -> Path:
    """The path itself, or the first with a number added that is not taken."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return candidate


def _write_through(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
