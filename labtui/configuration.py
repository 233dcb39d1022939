"""What a person sets once: config.toml in the user's config folder. Every key is optional."""

from __future__ import annotations

import difflib
import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from labtui.errors import USAGE, LabError


@dataclass(frozen=True, slots=True)
class Configuration:
    """checkpoint, port, gpus: the defaults of a launch. store: the database. lessons: more lesson folders.

    checkpoints: more tables in the form of labtui/serving/checkpoints.toml; their entries replace those of the same id.
    exercises: more task sets, or folders of them.
    theme: a Textual theme of the app. path: the file that this was read from, whether or not it exists.
    """

    checkpoint: str | None = None
    port: int | None = None
    gpus: int | None = None
    store: Path | None = None
    lessons: tuple[Path, ...] = ()
    checkpoints: tuple[Path, ...] = ()
    exercises: tuple[Path, ...] = ()
    theme: str | None = None
    path: Path | None = None


T = TypeVar("T")

KEYS = tuple(field.name for field in fields(Configuration) if field.name != "path")


def configuration_path() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_path("labtui")) / "config.toml"


def read_configuration(path: Path | None = None) -> Configuration:
    """Raises LabError (exit 2) naming the file and the key; a file that does not exist is an empty one."""
    path = path or configuration_path()
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except FileNotFoundError:
        return Configuration(path=path)
    except NotADirectoryError as error:
        raise _unusable(path, f"{_no_folder(path)} is no folder", _mend_folder()) from error
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unusable(path, str(error), "Mend the file, or move it away to start with the defaults.") from error
    for key in data:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(KEYS)}."
            raise _unusable(path, f"unknown key {key!r}", hint)
    return Configuration(
        checkpoint=_value(data, "checkpoint", str, path),
        port=_value(data, "port", int, path),
        gpus=_value(data, "gpus", int, path),
        store=_folder_of(path, _value(data, "store", str, path)),
        lessons=_paths(data, "lessons", path, '["~/my-lessons"]'),
        checkpoints=_paths(data, "checkpoints", path, '["~/my-checkpoints.toml"]'),
        exercises=_paths(data, "exercises", path, '["~/my-tasks"]'),
        theme=_value(data, "theme", str, path),
        path=path,
    )


def write_configuration(configuration: Configuration) -> Path:
    """Writes the file whole, then renames it. Returns where it is."""
    import tomli_w

    path = configuration.path or configuration_path()
    values: dict[str, Any] = {}
    for key in KEYS:
        value = getattr(configuration, key)
        if value is None or value == ():
            continue
        is_list = isinstance(value, tuple)
        values[key] = [str(one) for one in value] if is_list else str(value) if key == "store" else value
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".config-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            tomli_w.dump(values, file)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def _value(data: Mapping[str, Any], key: str, kind: type[T], path: Path) -> T | None:
    value = data.get(key)
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    wanted = {"str": "a text in quotes", "int": "a whole number"}[kind.__name__]
    raise _unusable(path, f"{key} must be {wanted}, not {value!r}", f"Write {key} as {wanted}.")


def _paths(data: Mapping[str, Any], key: str, path: Path, example: str) -> tuple[Path, ...]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _unusable(path, f"{key} must be a list of paths, not {value!r}", f"Write {key} = {example}.")
    return tuple(folder for one in value if (folder := _folder_of(path, one)) is not None)


def _no_folder(path: Path) -> Path:
    """The first of the folders on the way to the file that is something else."""
    return next((one for one in reversed(path.parents) if one.exists() and not one.is_dir()), path.parent)


def _mend_folder() -> str:
    """By what it is that named the folder on this machine."""
    if os.environ.get("XDG_CONFIG_HOME", "").strip():
        return "XDG_CONFIG_HOME must name a folder; without it, the folder is under HOME."
    return "HOME must name a folder; XDG_CONFIG_HOME can name another one for configurations."


def _folder_of(path: Path, written: str | None) -> Path | None:
    """A relative path in the file means relative to the file."""
    return None if written is None else path.parent / Path(written).expanduser()


def _unusable(path: Path, cause: str, fix: str) -> LabError:
    return LabError("The configuration cannot be used", f"{path}: {cause}", fix, USAGE)
