from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ctrl_c_sets(cancel: threading.Event) -> Iterator[None]:
    """The first Ctrl-C asks for a clean end by setting the event; a second one raises KeyboardInterrupt as usual."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
