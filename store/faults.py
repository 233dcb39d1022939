"""SQLite's and the system's errors in the words that a person can act on."""

from __future__ import annotations

import errno
import glob
import shlex
import sqlite3
from pathlib import Path

from store.errors import StoreError
from store.holders import holders

FAMILY = 0xFF
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
UNREADABLE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}


def error_family(error: sqlite3.Error) -> int:
    """The primary result code of SQLite (https://sqlite.org/rescode.html), 0 where the error has none."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return 0 if code is None else code & FAMILY


def explain(error: sqlite3.Error, path: Path, waited_s: float, *, writing: bool = False) -> StoreError:
    """writing: whether an entry was to be saved, which then was not."""
    unsaved = "; the last entry was not saved" if writing else ""
    family = error_family(error)
    if family in LOCKED:
        return locked(path, waited_s, writing=writing)
    if family in UNREADABLE:
        return unreadable(path, str(error))
    if family in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return read_only(path)
    if family == sqlite3.SQLITE_FULL:
        return StoreError(
            "The disk is full",
            f"there is no room left for {path}{unsaved and unsaved + ', everything before it was'}",
            f"Free some space on the disk that holds {path.parent}, then {'save' if writing else 'try'} again.",
        )
    if family == sqlite3.SQLITE_IOERR:
        return StoreError(
            "The store could not be read or written",
            f"the system reported a fault with {path}: {error}{unsaved}",
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
        "labtui store check looks for damage. Nothing was deleted.",
    )


def locked(path: Path, waited_s: float, *, writing: bool = False) -> StoreError:
    others = holders(path)
    who = ", ".join(others) if others else "another process"
    return StoreError(
        "The store is in use",
        f"{who} has kept {path} locked for more than {waited_s:g} seconds"
        + ("; the last entry was not saved" if writing else ""),
        f"Close the other program, or wait until it is done, then {'save' if writing else 'try'} again.",
    )


def unreadable(path: Path, detail: str) -> StoreError:
    copies = copies_beside(path)
    aside = f"move the file away and start a new one: {shlex.join(['mv', str(path), f'{path}.damaged'])}"
    fix = (
        f"Put back the newest copy ({shlex.join(['cp', str(copies[0]), str(path)])}), or {aside}"
        if copies
        else f"Put back a copy of your own, if there is one, or {aside}"
    )
    return StoreError(
        "The store is damaged, or is not a store",
        f"{path} cannot be read as a labtui database ({detail}). It was left as it is",
        fix,
    )


def copies_beside(path: Path) -> list[Path]:
    """What was copied before the schema was changed, newest first."""
    try:
        found = [(copy.stat().st_mtime, copy) for copy in path.parent.glob(f"{glob.escape(path.stem)}-v*{path.suffix}")]
    except OSError:
        return []
    return [copy for _, copy in sorted(found, reverse=True)]


def not_copied(error: sqlite3.Error | OSError, target: Path) -> StoreError:
    """The target could not be written; of the store nothing was changed."""
    full = error_family(error) == sqlite3.SQLITE_FULL if isinstance(error, sqlite3.Error) else error.errno in NO_ROOM
    detail = "there is no room left" if full else getattr(error, "strerror", None) or str(error)
    return StoreError(
        "The copy was not made",
        f"{target} cannot be written: {detail}. The store is as it was, and nothing in it is lost",
        "Choose a folder that is there, that you may write in, and that has room.",
        exit_code=1,
    )


def read_only(path: Path) -> StoreError:
    allowing = shlex.join(["chmod", "u+w", str(path), str(path.parent)])
    return StoreError(
        "The store is read-only",
        f"you may not write {path} or its folder",
        f"Allow it ({allowing}), or choose another file with --store PATH.",
    )
