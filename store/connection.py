from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from store.errors import StoreError
from store.faults import explain, read_only


class Connection:
    """One database connection, used by one thread at a time.

    The rule for threads: any thread may call the store; a lock is held from the first statement of a transaction to
    its commit, so transactions never mix. For processes: a write takes SQLite's write lock at once (BEGIN IMMEDIATE)
    and waits for it up to busy_timeout_s.

    reading_uri: where it is given, how SQLite opens the file without writing; then nothing is ever written.
    """

    def __init__(self, path: Path, busy_timeout_s: float, reading_uri: str | None = None) -> None:
        self.path = path
        self.can_write = reading_uri is None
        self.busy_timeout_s = busy_timeout_s
        self._lock = threading.RLock()
        self._closed = False
        with self.explained():
            self._db = Database(
                sqlite3.connect(
                    reading_uri or path, uri=not self.can_write, timeout=busy_timeout_s, check_same_thread=False
                )
            )

    @contextmanager
    def explained(self, *, writing: bool = False) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explain(error, self.path, self.busy_timeout_s, writing=writing) from error

    @contextmanager
    def reading(self) -> Iterator[Database]:
        with self._lock, self.explained():
            self._refuse_closed()
            yield self._db

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """One transaction: on the disk when the block has been left, or not there at all."""
        if not self.can_write:
            raise read_only(self.path)
        with self._lock, self.explained(writing=True):
            self._refuse_closed()
            if self._db.conn.in_transaction:
                yield self._db
                return
            self._db.conn.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.commit()
            except BaseException:
                self._db.rollback()
                raise

    def close(self) -> None:
        """Waits for a transaction of another thread to end. Closing twice is allowed."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._db.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(
                "The store is closed",
                "something was to be read or saved after the program had closed its store",
                "Start labtui again; what was shown as saved is there.",
            )
