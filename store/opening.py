from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlite_utils import Database

from store import moments
from store.checking import faults_in
from store.connection import Connection
from store.copying import copy_database
from store.errors import StoreError
from store.faults import LOCKED, error_family, explain, not_copied, read_only
from store.journal import choose_journal, file_system_of
from store.judgements import Judgements
from store.launches import Launches
from store.location import ENVIRONMENT_VARIABLE, default_path, own_folder
from store.merging import Merged, merge
from store.progress import Progress
from store.progress_file import counts, progress_document, read_progress, write_progress
from store.recall import Recall
from store.runs import Runs
from store.schema import SchemaState, migrate, program_version, refuse_foreign_and_newer, schema_state
from store.sweeps import Sweeps
from store.verdicts import Verdicts

BUSY_TIMEOUT_S = 10.0

OF_THE_TARGET = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
"""What a copy that fails so says of the file that is written: the one that is read is open and answers."""


class Store:
    """Everything that a person has done, in one SQLite file.

    Every method that writes returns after its transaction is on the disk, or raises StoreError and has written
    nothing. Any thread may call any method.

    notices: what the person should be told once, such as a copy made before a migration.
    """

    def __init__(self, connection: Connection, notices: list[str]) -> None:
        self._connection = connection
        self.path = connection.path
        self.notices = notices
        self.runs = Runs(connection)
        self.verdicts = Verdicts(connection, self.runs)
        self.recall = Recall(connection)
        self.progress = Progress(connection)
        self.launches = Launches(connection)
        self.sweeps = Sweeps(connection)
        self.judgements = Judgements(connection, self.runs)

    @classmethod
    def open(
        cls,
        path: Path | None = None,
        *,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
        file_system_of: Callable[[Path], str] = file_system_of,
        reading_will_do: bool = False,
    ) -> Self:
        """Opens the store, making it where there is none, and brings its schema up to date.

        reading_will_do: a store that may not be written is opened for reading, with a notice; writing then raises.

        Raises StoreError (exit code 4) with what to do. A file that is damaged, of another program or of a newer
        labtui is left as it is.
        """
        chosen = (path or default_path()).expanduser().resolve()
        _prepare_folder(chosen, may_make=path is None and not os.environ.get(ENVIRONMENT_VARIABLE, "").strip())
        try:
            _prepare_file(chosen)
        except StoreError:
            if reading_will_do and _may_only_read(chosen):
                return cls._for_reading(chosen, busy_timeout_s)
            raise
        refuse_foreign_and_newer(_look(chosen, busy_timeout_s), chosen)
        _close_to_others(chosen)
        connection = Connection(chosen, busy_timeout_s)
        notices: list[str] = []
        try:
            with connection.reading() as db:
                notice = _when_unlocked(lambda: choose_journal(db, file_system_of(chosen)), busy_timeout_s)
                db.execute("PRAGMA foreign_keys = ON")
                # Only macOS heeds it: there a plain fsync leaves the data in the drive's cache.
                db.execute("PRAGMA fullfsync = ON")
            if notice:
                notices.append(notice)
            with connection.writing() as db:
                copy = _migrated(db, chosen)
            if copy:
                notices.append(f"The store was brought up to date. A copy of it as it was: {copy}")
        except BaseException:
            connection.close()
            raise
        return cls(connection, notices)

    @classmethod
    def _for_reading(cls, path: Path, busy_timeout_s: float) -> Self:
        try:
            uri = _reading_uri(path, busy_timeout_s)
            state = _state_through(uri, busy_timeout_s)
        except sqlite3.Error as error:
            raise explain(error, path, busy_timeout_s) from error
        refuse_foreign_and_newer(state, path)
        if state.version != program_version():
            raise read_only(path)
        notice = f"{path} can only be read here: what is new is not kept."
        return cls(Connection(path, busy_timeout_s, uri), [notice])

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def mark_of_others(self) -> int:
        """Another number once somebody else, such as a command, has written to the file since it was last asked for."""
        with self._connection.reading() as db:
            return int(db.execute("PRAGMA data_version").fetchone()[0])

    def check(self) -> list[str]:
        """What is wrong with the database, one sentence each; empty if it is sound."""
        with self._connection.reading() as db:
            return faults_in(db)

    def export_progress(self, path: Path, made_by: str) -> dict[str, int]:
        """Writes everything that belongs on another machine too, and returns how many entries of each kind.

        made_by: the program and its version. Raises StoreError with exit code 2 where the file cannot be written.
        """
        with self._connection.writing() as db:
            document = progress_document(db, made_by=made_by, made_at=moments.to_text(moments.now()))
        write_progress(document, path)
        return counts(document)

    def import_progress(self, path: Path) -> Merged:
        """Merges a progress file in one transaction; the rules are in docs/progress-files.md.

        Raises StoreError with exit code 2 for a file that is not sound; then nothing was changed.
        """
        entries = read_progress(path)
        with self._connection.writing() as db:
            return merge(db, entries)

    def backup(self, path: Path) -> Path:
        """Copies the store, consistent even while it is written, and returns the copy's full path.

        Raises StoreError with exit code 2 where the target is there already, 1 where it cannot be written.
        """
        target = path.expanduser().resolve()
        if target.is_dir():
            target = target / self.path.name
        if target.exists():
            raise _taken(target)
        try:
            copy_database(self.path, target)
        except FileExistsError as error:
            raise _taken(target) from error
        except sqlite3.Error as error:
            if error_family(error) in OF_THE_TARGET:
                raise not_copied(error, target) from error
            raise explain(error, self.path, self._connection.busy_timeout_s) from error
        except OSError as error:
            raise not_copied(error, target) from error
        return target


def _taken(target: Path) -> StoreError:
    return StoreError(
        "The copy was not made", f"{target} is there already", "Choose a name that is not taken.", exit_code=2
    )


def _prepare_folder(path: Path, may_make: bool) -> None:
    folder = path.parent
    if not folder.exists() and not may_make:
        making = shlex.join(["mkdir", "-p", str(folder)])
        raise StoreError(
            "The store's folder is not there",
            f"{path} should be opened, but there is no folder {folder}",
            f"Make it ({making}), or choose another file with --store PATH or {ENVIRONMENT_VARIABLE}.",
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder == own_folder().resolve() and stat.S_IMODE(folder.stat().st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise StoreError(
            "The store's folder cannot be used",
            f"{folder}: {error.strerror}",
            "Check what is at that place and whether you may write there, or choose another file with --store PATH.",
        ) from error


def _prepare_file(path: Path) -> None:
    """Makes an empty file readable for its owner alone, so that no moment exists in which others could read it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return
    except FileExistsError:
        pass
    except PermissionError as error:
        raise read_only(path) from error
    except OSError as error:
        raise StoreError(
            "The store cannot be made",
            f"{path}: {error.strerror}",
            f"Check the disk and the rights on {path.parent}, or choose another file with --store PATH.",
        ) from error
    if not path.is_file():
        kind, named = ("a folder", path / "labtui.db") if path.is_dir() else ("not a plain file", "labtui.db")
        raise StoreError(
            "The store is not a file",
            f"{path} is {kind}",
            f"Give the name of a file: --store {shlex.quote(str(named))}, "
            f"or leave out --store and {ENVIRONMENT_VARIABLE} for the usual place.",
        )
    if not os.access(path, os.R_OK):
        raise StoreError(
            "The store cannot be read",
            f"you may not read {path}",
            f"Allow it ({shlex.join(['chmod', 'u+rw', str(path)])}), or choose another file with --store PATH.",
        )
    # SQLite makes its journal in the folder, so both must be writable.
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)):
        raise read_only(path)


def _look(path: Path, busy_timeout_s: float) -> SchemaState:
    """Reads the schema's state through a connection that cannot write, so that a refused file stays as it is.

    Only where SQLite must first undo what a crash left behind is the file opened for writing.
    """
    try:
        try:
            return _state_through(f"{path.as_uri()}?mode=ro", busy_timeout_s)
        except sqlite3.OperationalError as error:
            if error_family(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
            return _state_through(f"{path.as_uri()}?mode=rw", busy_timeout_s)
    except sqlite3.Error as error:
        raise explain(error, path, busy_timeout_s) from error


def _may_only_read(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def _reading_uri(path: Path, busy_timeout_s: float) -> str:
    """How SQLite can read the file; without its journal's shared memory only a file that nobody is writing.

    Raises StoreError where entries wait in a journal that cannot be read without writing.
    """
    uri = f"{path.as_uri()}?mode=ro"
    try:
        _state_through(uri, busy_timeout_s)
    except sqlite3.OperationalError as error:
        if error_family(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise
        journal = path.with_name(f"{path.name}-wal")
        if journal.exists() and journal.stat().st_size:
            raise read_only(path) from error
        return f"{uri}&immutable=1"
    return uri


def _state_through(uri: str, busy_timeout_s: float) -> SchemaState:
    with closing(sqlite3.connect(uri, uri=True, timeout=busy_timeout_s)) as connection:
        return schema_state(Database(connection))


def _close_to_others(path: Path) -> None:
    status = path.stat()
    if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) & 0o077:
        path.chmod(0o600)


def _when_unlocked(action: Callable[[], str | None], timeout_s: float) -> str | None:
    """SQLite does not wait by itself for the lock that a change of the journal mode needs."""
    give_up_at = time.monotonic() + timeout_s
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if error_family(error) not in LOCKED or time.monotonic() >= give_up_at:
                raise
            time.sleep(0.02)


def _migrated(db: Database, path: Path) -> Path | None:
    try:
        return migrate(db, path)
    except OSError as error:
        raise StoreError(
            "The store was not brought up to date",
            f"the copy that is made first could not be written beside {path}: {error.strerror}",
            "Free some space there, then try again. Nothing was changed.",
        ) from error
