from __future__ import annotations


class ExerciseError(Exception):
    """A fault in a task, a trace or a request, in the words that the person reads.

    exit_code: 1 the task failed, 2 wrong input, 3 the server is not there or not ready.
    """

    def __init__(self, title: str, cause: str, fix: str, exit_code: int = 1) -> None:
        super().__init__(f"{title}: {cause}")
        self.title = title
        self.cause = cause
        self.fix = fix
        self.exit_code = exit_code
