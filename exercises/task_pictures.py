"""Pictures that a task set brings along: files in its folder, sent as PNG."""

from __future__ import annotations

import io
from pathlib import Path, PurePosixPath

from exercises.toml_table import TomlTable

LARGEST_FILE = 16 << 20
LARGEST_SIDE = 4096
MOST_PICTURES = 8
FORMATS = ("PNG", "JPEG", "WEBP")


def picture_paths(table: TomlTable, folder: Path) -> tuple[Path, ...]:
    """The files that the key `pictures` names, each read once. Raises ExerciseError (exit 2) for one that cannot be
    sent: a path out of the folder, no picture, or one that is too large."""
    names = table.texts("pictures", ())
    if len(names) > MOST_PICTURES:
        raise table.fault(f"{len(names)} pictures are too many", f"at most {MOST_PICTURES}")
    paths = []
    for name in names:
        path = folder / name
        if PurePosixPath(name).is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
            raise table.fault(f"the picture {name!r} lies outside the folder of the set", "a path within the folder")
        try:
            png_of(path)
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or str(fault)
            raise table.fault(f"the picture {name!r} cannot be used: {reason}", "a PNG, JPEG or WebP file") from None
        paths.append(path)
    return tuple(paths)


def png_of(path: Path) -> bytes:
    """Raises OSError or ValueError. A PNG goes as it is; another format is written again."""
    from PIL import Image, UnidentifiedImageError

    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"it has more than {LARGEST_FILE >> 20} MiB")
    data = path.read_bytes()
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
            if max(picture.size) > LARGEST_SIDE:
                raise ValueError(
                    f"it is {picture.width}x{picture.height}, at most {LARGEST_SIDE} pixels a side are sent"
                )
            if picture.format == "PNG":
                picture.verify()
                return data
            file = io.BytesIO()
            picture.convert("RGB").save(file, format="PNG")
            return file.getvalue()
    except UnidentifiedImageError:
        raise ValueError(f"it is none of {', '.join(FORMATS)}") from None
    except SyntaxError as fault:
        raise ValueError(str(fault)) from None
