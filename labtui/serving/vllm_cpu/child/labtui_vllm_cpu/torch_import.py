"""Acts at the moment torch has been imported, once, and then leaves no trace in the import system."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class Watch:
    """A finder for the name `torch` alone. Code that only looks torch up does not set it off; the import does."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            self._act_when_executed(spec)
        return spec

    def _act_when_executed(self, spec: ModuleSpec) -> None:
        loader = spec.loader
        assert loader is not None
        exec_module = loader.exec_module

        def exec_and_settle(module: ModuleType) -> None:
            delattr(loader, "exec_module")
            sys.meta_path.remove(self)
            exec_module(module)
            from . import companions

            companions.settle(module)

        setattr(loader, "exec_module", exec_and_settle)  # noqa: B010  (assigning to a method is no valid type)
