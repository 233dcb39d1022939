"""An evidence bundle: one run with everything that is kept of it, the raw stream included, in one JSON file.

`labtui measure` reads it back, computes every number again from the chunk timeline, and checks the timeline against the
raw stream.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exercises.records import Run
from exercises.run_json import run_to_json
from labtui.errors import USAGE, LabError
from labtui.terminal_text import json_text
from labtui.version import version

FORMAT = "labtui-bundle"
FORMAT_VERSION = 1


def bundle_document(run: Run) -> dict[str, Any]:
    """evidence.raw.lines of the run hold the stream as it arrived; evidence.raw.cut says that there was more."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "made_by": f"labtui {version()}",
        "run": run_to_json(run),
    }


def write_bundles(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Each as run-ID.json in the folder, which is made. Raises LabError (exit 2) as write_bundle does; where one of the
    files is there already, none is written."""
    place = folder.expanduser()
    paths = {run.id: place / f"run-{run.id}.json" for run in runs}
    for path in paths.values():
        if path.exists():
            raise _there_already(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            "The folder could not be made",
            f"{place}: {error.strerror or error}",
            "Choose a folder in which you may write.",
            USAGE,
        ) from None
    return [write_bundle(run, paths[run.id]) for run in runs]


def write_bundle(run: Run, path: Path) -> Path:
    """Raises LabError (exit 2) where the file is there already or cannot be written; then nothing is left of it."""
    target = path.expanduser()
    try:
        with target.open("x", encoding="utf-8", newline="\n") as file:
            try:
                file.write(json_text(bundle_document(run)) + "\n")
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                target.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise _there_already(target) from None
    except OSError as error:
        raise LabError(
            "The bundle was not written",
            f"{target}: {error.strerror or error}",
            "Check that the folder is there, that you may write in it, and that the disk has room.",
            USAGE,
        ) from None
    return target


def _there_already(path: Path) -> LabError:
    return LabError("The bundle was not written", f"{path} is there already", "Choose a name that is not taken.", USAGE)
