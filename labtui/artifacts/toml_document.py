"""The artifact as TOML: the JSON document in another spelling, and back.

TOML has no null. What is null in the JSON is left out here, and its place is named in the table `null` at the end as a
JSON Pointer (RFC 6901); in a list, where nothing can be left out, an empty text holds the place.
"""

from __future__ import annotations

import tomllib
from typing import Any

import tomli_w

from labtui.artifacts.document import Artifact
from labtui.artifacts.json_document import json_document
from labtui.artifacts.markdown import MARK
from labtui.terminal_text import steering_escaped_in_toml

NULLS = "null"


def to_toml(artifact: Artifact) -> str:
    return f"# {MARK}.\n\n{toml_text(json_document(artifact))}"


def toml_text(document: dict[str, Any]) -> str:
    """Raises ValueError for a document that has a key `null` of its own at the top."""
    if NULLS in document:
        raise ValueError(f"the document has a key {NULLS!r}")
    nulls: list[str] = []
    kept = {
        key: _without_nulls(value, f"/{_escaped(key)}", nulls) for key, value in document.items() if value is not None
    }
    nulls += [f"/{_escaped(key)}" for key, value in document.items() if value is None]
    return steering_escaped_in_toml(tomli_w.dumps({**kept, NULLS: {"at": nulls}}))


def document_of_toml(text: str) -> dict[str, Any]:
    """The JSON document that toml_text wrote. Raises ValueError for what it did not write."""
    document = tomllib.loads(text)
    nulls = document.pop(NULLS, None)
    for pointer in nulls["at"] if isinstance(nulls, dict) and "at" in nulls else []:
        holder: Any = document
        *path, last = [_unescaped(part) for part in pointer.removeprefix("/").split("/")]
        try:
            for part in path:
                holder = holder[int(part)] if isinstance(holder, list) else holder[part]
            holder[int(last) if isinstance(holder, list) else last] = None
        except (KeyError, IndexError, TypeError) as fault:
            raise ValueError(f"{pointer} names no place in the document") from fault
    return document


def _without_nulls(value: Any, pointer: str, nulls: list[str]) -> Any:
    if isinstance(value, dict):
        nulls += [f"{pointer}/{_escaped(key)}" for key, inner in value.items() if inner is None]
        return {
            key: _without_nulls(inner, f"{pointer}/{_escaped(key)}", nulls)
            for key, inner in value.items()
            if inner is not None
        }
    if isinstance(value, list | tuple):
        nulls += [f"{pointer}/{at}" for at, inner in enumerate(value) if inner is None]
        return [
            "" if inner is None else _without_nulls(inner, f"{pointer}/{at}", nulls) for at, inner in enumerate(value)
        ]
    return value


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
