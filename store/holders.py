from __future__ import annotations

import os
from pathlib import Path

import psutil


def holders(path: Path) -> list[str]:
    """The other processes that can be seen to have the file open, each as "name (process id)"."""
    found = []
    for process in psutil.process_iter(["pid", "name"]):
        if process.pid == os.getpid():
            continue
        try:
            names = {Path(opened.path) for opened in process.open_files()}
        except (psutil.Error, OSError):
            continue
        if path in names:
            found.append(f"{process.info['name']} (process {process.pid})")
    return found
