"""Package metadata that the vLLM command line asks for and vllm-cpu does not bring.

`vllm serve` looks up the version of a distribution named `vllm`; the registry's CPU build is named `vllm-cpu`. The
finder stands last on sys.meta_path and answers only where the former is missing and the latter is there. The same
distribution carries the entry point through which vLLM loads `plugin.register` in each of its processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import Distribution

PLUGIN_NAME = "labtui_vllm_cpu"
PLUGIN = f"[vllm.general_plugins]\n{PLUGIN_NAME} = labtui_vllm_cpu.plugin:register\n"


class Finder:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None

    def find_distributions(self, context: Any) -> Iterator[Distribution]:
        """Called by importlib.metadata; `context.name` is None when it lists everything that is installed."""
        if context.name is None or context.name == "labtui-vllm-cpu-plugin":
            yield _made_up("labtui-vllm-cpu-plugin", "0", {"entry_points.txt": PLUGIN})
        if context.name == "vllm":
            version = _vllm_cpu_version()
            if version is not None:
                yield _made_up("vllm", f"{version}+cpu", {})


def _vllm_cpu_version() -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vllm-cpu")
    except PackageNotFoundError:
        return None


def _made_up(name: str, version: str, files: dict[str, str]) -> Distribution:
    from importlib.metadata import Distribution

    class MadeUp(Distribution):
        def read_text(self, filename: str) -> str | None:
            if filename == "METADATA":
                return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            return files.get(filename)

        def locate_file(self, path: Any) -> Any:
            raise FileNotFoundError(f"{name} has metadata only, no file {path}")

    return MadeUp()
