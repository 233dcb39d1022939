from __future__ import annotations


class LessonError(Exception):
    """A fault in a lesson, in the words that the person reads.

    exit_code: 1 the check failed, 2 wrong input.
    """

    def __init__(self, title: str, cause: str, fix: str, exit_code: int = 2) -> None:
        super().__init__(f"{title}: {cause}")
        self.title = title
        self.cause = cause
        self.fix = fix
        self.exit_code = exit_code
