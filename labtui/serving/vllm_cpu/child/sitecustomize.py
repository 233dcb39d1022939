"""Python runs this at the start of every process of the server, before anything of vLLM is imported."""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path


def run_the_next_sitecustomize() -> None:
    """Ours hides any other module of that name further down sys.path (a distribution's, a person's own)."""
    here = Path(__file__).resolve().parent
    spec = PathFinder.find_spec("sitecustomize", [entry for entry in sys.path if Path(entry or ".").resolve() != here])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if __name__ == "sitecustomize":
    from labtui_vllm_cpu import at_start  # type: ignore[import-not-found]

    at_start.prepare()
    run_the_next_sitecustomize()
