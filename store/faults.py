"""SQLite's and the system's errors in the words that a person can act on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from store.errors import StoreError
from store.holders import holders

FAMILY = 0xFF
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
UNREADABLE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}


def error_family(error: sqlite3.Error) -> int:
    """The primary result code of SQLite (https://sqlite.org/rescode.html), 0 where the error has none."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return 0 if code is None else code & FAMILY


def explain(error: sqlite3.Error, path: Path, waited_s: float) -> StoreError:
    family = error_family(error)
    if family in LOCKED:
        return locked(path, waited_s)
    if family in UNREADABLE:
        return unreadable(path, str(error))
    if family in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return read_only(path)
    if family == sqlite3.SQLITE_FULL:
        return StoreError(
            "The disk is full",
            f"there is no room left for {path}; the last entry was not saved, everything before it was",
            f"Free some space on the disk that holds {path.parent}, then save again.",
        )
    if family == sqlite3.SQLITE_IOERR:
        return StoreError(
            "The store could not be read or written",
            f"the system reported a fault with {path}: {error}; the last entry was not saved",
            f"Check the disk that holds {path.parent} (full, over quota, unplugged?), then try again.",
        )
    if family == sqlite3.SQLITE_CANTOPEN:
        return StoreError(
            "The store could not be opened",
            f"{path}: {error}",
            f"Check that you may write in {path.parent}, or choose another file with --store PATH.",
        )
    return StoreError(
        "The store could not be used",
        f"{path}: {error}",
        "Run labtui store check. Nothing was deleted; the last entry was not saved.",
    )


def locked(path: Path, waited_s: float) -> StoreError:
    others = holders(path)
    who = ", ".join(others) if others else "another process"
    return StoreError(
        "The store is in use",
        f"{who} has kept {path} locked for more than {waited_s:g} seconds; the last entry was not saved",
        "Close the other program, or wait until it is done, then save again.",
    )


def unreadable(path: Path, detail: str) -> StoreError:
    return StoreError(
        "The store is damaged, or is not a store",
        f"{path} cannot be read as a labtui database ({detail}). It was left as it is",
        f"Put back a copy (labtui keeps some beside it, named {path.stem}-...{path.suffix}), or move the file away "
        f"and start a new one: mv '{path}' '{path}.damaged'",
    )


def read_only(path: Path) -> StoreError:
    return StoreError(
        "The store is read-only",
        f"you may not write {path} or its folder",
        f"Allow it (chmod u+w '{path}' '{path.parent}'), or choose another file with --store PATH.",
    )
