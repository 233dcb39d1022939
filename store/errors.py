from __future__ import annotations


class StoreError(Exception):
    """A store that cannot be used, in the words that the person reads.

    exit_code: 4 the store is unusable, 2 wrong input.
    """

    def __init__(self, title: str, cause: str, fix: str, exit_code: int = 4) -> None:
        super().__init__(f"{title}: {cause}")
        self.title = title
        self.cause = cause
        self.fix = fix
        self.exit_code = exit_code
