"""The store, used from one thread of its own: the screens never wait for a disk or a lock."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from store.opening import Store

T = TypeVar("T")


class Bookkeeper:
    """Opens the store on its thread with the first question, and answers questions in the order they came."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._store: Store | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._drafts: dict[str, str] = {}
        self._kept_drafts: dict[str, str] = {}
        self._drafts_lock = threading.Lock()

    def ask(self, question: Callable[[Store], T]) -> asyncio.Future[T]:
        """The answer of question(store), to be awaited. Raises what the question raises, StoreError among it.

        The question is on its way when this returns: it is answered even if nobody waits any more.
        """
        return asyncio.shield(asyncio.wrap_future(self.submit(question)))

    def submit(self, question: Callable[[Store], T]) -> Future[T]:
        """As `ask`, from any thread: wait with .result(), but never on the thread of the screens."""
        return self._thread.submit(self._answer, question)

    def keep_draft(self, key: str, text: str) -> asyncio.Future[bool]:
        """Commit a half-typed text. When keys come faster than commits only the newest text is written.

        To be awaited, as `ask`: whether the store now holds this text, and not a newer one.
        """
        with self._drafts_lock:
            self._drafts[key] = text
        return self.ask(lambda store: self._write_draft(store, key, text))

    def close(self, wait: bool = True) -> None:
        """Finish what was asked, then close the store."""
        self._thread.submit(self._close_store)
        self._thread.shutdown(wait=wait)

    def _answer(self, question: Callable[[Store], T]) -> T:
        if self._store is None:
            from store.opening import Store

            self._store = Store.open(self._path)
        return question(self._store)

    def _write_draft(self, store: Store, key: str, text: str) -> bool:
        with self._drafts_lock:
            newest = self._drafts.pop(key, None)
        if newest is not None:
            if newest:
                store.progress.save_draft(key, newest)
            else:
                store.progress.clear_draft(key)
            self._kept_drafts[key] = newest
        return self._kept_drafts.get(key) == text

    def _close_store(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
