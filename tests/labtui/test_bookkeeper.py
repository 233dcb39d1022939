from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from labtui.bookkeeper import Bookkeeper
from store.errors import StoreError
from store.opening import Store


async def test_answers_come_in_the_order_of_the_questions(tmp_path: Path) -> None:
    books = Bookkeeper(tmp_path / "labtui.db")
    threads: set[int] = set()

    def note(store: Store) -> int:
        threads.add(threading.get_ident())
        return len(threads)

    assert await asyncio.gather(*(books.ask(note) for _ in range(5))) == [1, 1, 1, 1, 1]
    assert threading.get_ident() not in threads
    books.close()


async def test_of_many_drafts_the_newest_is_kept(tmp_path: Path) -> None:
    books = Bookkeeper(tmp_path / "labtui.db")
    held = threading.Event()
    waiting = books.submit(lambda store: held.wait(20))
    writes = [asyncio.ensure_future(books.keep_draft("key", text)) for text in ("a", "ab", "abc")]
    await asyncio.sleep(0)
    held.set()
    assert await asyncio.gather(*writes) == [False, False, True]
    assert waiting.result()
    assert await books.ask(lambda store: store.progress.draft("key")) == "abc"
    assert await books.keep_draft("key", "")
    assert await books.ask(lambda store: store.progress.draft("key")) is None
    books.close()


async def test_a_store_that_cannot_be_opened_is_told_each_time(tmp_path: Path) -> None:
    path = tmp_path / "labtui.db"
    path.write_bytes(b"something else" * 50)
    books = Bookkeeper(path)
    for _ in range(2):
        with pytest.raises(StoreError):
            await books.ask(lambda store: store.path)
    books.close()
