from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEADER = "import triton\nimport triton.language as tl\n"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """vLLM's own Triton kernel of a dotted name, run by Triton's interpreter, which needs no GPU.

    The source is read from the installed vLLM without importing it.
    """
    pytest.importorskip("triton", reason="Triton's interpreter runs the original kernels")
    found = importlib.util.find_spec("vllm")
    if found is None or found.origin is None:
        pytest.skip("the original kernels are in vLLM's source, and vLLM is not installed")
    vllm = Path(found.origin).parent
    patch = pytest.MonkeyPatch()
    patch.setenv("TRITON_INTERPRET", "1")

    def load(name: str) -> Any:
        module, kernel = name.removeprefix("vllm.").rsplit(".", 1)
        functions: list[ast.stmt] = []
        for source in ("v1/worker/gpu/buffer_utils", module.replace(".", "/")):
            tree = ast.parse((vllm / f"{source}.py").read_text())
            functions += [
                node
                for node in tree.body
                if isinstance(node, ast.FunctionDef) and node.name in (kernel, "_load_ptr") and node not in functions
            ]
        # Triton reads a kernel's source from its file, so it has to be in one.
        file = tmp_path_factory.mktemp("kernel") / f"{kernel}.py"
        file.write_text(HEADER + "\n\n".join(ast.unparse(function) for function in functions))
        spec = importlib.util.spec_from_file_location(kernel, file)
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return getattr(loaded, kernel)

    yield load  # type: ignore[misc]
    patch.undo()
