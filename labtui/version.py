from __future__ import annotations


def version() -> str:
    from importlib import metadata

    try:
        return metadata.version("labtui")
    except metadata.PackageNotFoundError:
        return "not installed"
