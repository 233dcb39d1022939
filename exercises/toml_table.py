"""One table of a TOML file, read key by key: a fault names its place, and the nearest key that there is."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, overload

from exercises.errors import ExerciseError

_Default = TypeVar("_Default")
_MISSING: Any = object()


class TomlTable:
    """place: where the table is, for a person: "tasks.toml: task 2 (vision): checker"."""

    def __init__(self, table: Mapping[str, Any], place: str) -> None:
        self._table = table
        self._place = place
        self._asked: set[str] = set()

    @property
    def place(self) -> str:
        return self._place

    def fault(self, cause: str, example: str) -> ExerciseError:
        return ExerciseError(
            "The task file cannot be used", f"{self._place}: {cause}", f"Write {example}.", exit_code=2
        )

    def nothing_else(self) -> None:
        """Raises ExerciseError if the table has a key that nobody asked for."""
        for key in self._table:
            if key not in self._asked:
                near = difflib.get_close_matches(str(key), self._asked, n=1, cutoff=0.5)
                known = ", ".join(sorted(self._asked))
                raise self.fault(
                    f"unknown key {key!r}" + (f", did you mean {near[0]!r}?" if near else ""),
                    f"one of: {known}" if known else "no key here",
                )

    def has(self, key: str) -> bool:
        return key in self._table

    @overload
    def text(self, key: str) -> str: ...
    @overload
    def text(self, key: str, default: _Default) -> str | _Default: ...
    def text(self, key: str, default: Any = _MISSING) -> Any:
        value = self.value(key, default)
        if value is not default and not (isinstance(value, str) and value.strip()):
            raise self.fault(f"{key} must be a text that is not empty, not {value!r}", f'{key} = "..."')
        return value

    @overload
    def whole(self, key: str, *, least: int) -> int: ...
    @overload
    def whole(self, key: str, default: _Default, *, least: int) -> int | _Default: ...
    def whole(self, key: str, default: Any = _MISSING, *, least: int) -> Any:
        value = self.value(key, default)
        if value is not default and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise self.fault(f"{key} must be a whole number of at least {least}, not {value!r}", f"{key} = {least}")
        return value

    @overload
    def flag(self, key: str) -> bool: ...
    @overload
    def flag(self, key: str, default: _Default) -> bool | _Default: ...
    def flag(self, key: str, default: Any = _MISSING) -> Any:
        value = self.value(key, default)
        if value is not default and not isinstance(value, bool):
            raise self.fault(f"{key} must be true or false, not {value!r}", f"{key} = true")
        return value

    def texts(self, key: str, default: Sequence[str] = _MISSING) -> tuple[str, ...]:
        value = self.value(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
            raise self.fault(f"{key} must be a list of texts, not {value!r}", f'{key} = ["...", "..."]')
        return tuple(value)

    def values(self, key: str) -> tuple[Any, ...]:
        value = self.value(key)
        if not isinstance(value, list):
            raise self.fault(f"{key} must be a list, not {value!r}", f"{key} = [1, 2]")
        return tuple(value)

    def table(self, key: str, default: Mapping[str, Any] = _MISSING) -> Mapping[str, Any]:
        value = self.value(key, default)
        if not isinstance(value, Mapping):
            raise self.fault(f"{key} must be a table, not {value!r}", f"{key} = {{ ... }}")
        return value

    def tables(self, key: str, default: Sequence[Mapping[str, Any]] = _MISSING) -> list[TomlTable]:
        value = self.value(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
            raise self.fault(f"{key} must be a list of tables, not {value!r}", f"[[{key}]] and its keys below")
        return [TomlTable(item, f"{self._place}: {key} {number}") for number, item in enumerate(value, 1)]

    def value(self, key: str, default: Any = _MISSING) -> Any:
        self._asked.add(key)
        if key in self._table:
            return self._table[key]
        if default is not _MISSING:
            return default
        near = difflib.get_close_matches(key, [str(other) for other in self._table], n=1, cutoff=0.7)
        raise self.fault(
            f"the key {key!r} is missing" + (f"; is {near[0]!r} meant to be it?" if near else ""), f"{key} = ..."
        )
