from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture
def in_zone() -> Iterator[Callable[[str], None]]:
    """Puts this process into a time zone by its name, for one test."""
    with pytest.MonkeyPatch.context() as patch:

        def put(name: str) -> None:
            patch.setenv("TZ", name)
            time.tzset()

        yield put
    # The C library reads TZ only when told, so that the zone would stay for every later test.
    time.tzset()
