"""A text written to a name that was not taken, and names that are safe."""

from __future__ import annotations

import os
import re
from pathlib import Path

from labtui.errors import USAGE, LabError


def write_new(path: Path, text: str, what: str) -> Path:
    """what: "The plot". Raises LabError (exit 2) where the file is there already or cannot be written; then nothing is
    left of it."""
    target = path.expanduser()
    try:
        with target.open("x", encoding="utf-8", newline="\n") as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                target.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise LabError(
            f"{what} was not written", f"{target} is there already", "Choose a name that is not taken.", USAGE
        ) from None
    except OSError as error:
        raise LabError(
            f"{what} was not written",
            f"{target}: {error.strerror or error}",
            "Check that the folder is there, that you may write in it, and that the disk has room.",
            USAGE,
        ) from None
    return target


def file_name(words: str) -> str:
    """Safe as the name of a file in a folder: what came with an imported run may be any text."""
    return re.sub(r"[^\w-]+", "_", words)[:120]
