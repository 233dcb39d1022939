from __future__ import annotations

import os
from pathlib import Path

import platformdirs

ENVIRONMENT_VARIABLE = "LABTUI_STORE"


def default_path() -> Path:
    """LABTUI_STORE if it is set, else labtui.db in the user's data folder."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if chosen:
        return Path(chosen).expanduser()
    return own_folder() / "labtui.db"


def own_folder() -> Path:
    """The data folder that belongs to labtui alone, and that it may make and close to others."""
    return Path(platformdirs.user_data_dir("labtui", appauthor=False))
