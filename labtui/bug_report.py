"""A fault of labtui itself: the traceback goes to a file, the person sees one message that names it."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path

from labtui.errors import FAILED, LabError
from labtui.version import version


def reported(error: BaseException, doing: str) -> LabError:
    """Saves the traceback of an unexpected error and returns what to show instead of it.

    doing: what was asked for, without secrets, such as "labtui run".
    """
    path = _save(error, doing)
    kept = f"What happened is in {path}" if path else "The report could not be saved"
    return LabError(
        "This is a fault in labtui",
        f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        f"{kept}. Please file it as an issue; nothing that was saved before is lost.",
        FAILED,
    )


def _save(error: BaseException, doing: str) -> Path | None:
    now = datetime.now(UTC)
    text = "\n".join(
        (
            f"labtui {version()}, Python {platform.python_version()}, {platform.platform()}",
            f"{now.isoformat(timespec='seconds')} while: {doing}",
            "",
            "".join(traceback.format_exception(error)),
        )
    )
    for folder in (_faults_folder, lambda: Path(tempfile.gettempdir())):
        try:
            path = folder() / f"labtui-{now:%Y%m%d-%H%M%S}-{os.getpid()}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
            return path
        except OSError:
            continue
    return None


def _faults_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_state_path("labtui")) / "faults"


def command_words(arguments: list[str] | None = None) -> str:
    """The command without its values: "labtui serve attach", never an address or a key."""
    words = []
    for word in sys.argv[1:] if arguments is None else arguments:
        if not word.replace("-", "").isalpha():
            break
        words.append(word)
    return " ".join(["labtui", *words[:2]])
