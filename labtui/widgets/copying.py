from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def copied_file(text: str) -> Path | None:
    """Write what was copied to a file that only its owner reads; None where that is not possible."""
    path = platformdirs.user_state_path("labtui") / "copied.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return None
    return path
